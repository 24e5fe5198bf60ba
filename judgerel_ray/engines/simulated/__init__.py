"""Judges whose truth is known: they answer from a stated distribution."""
