"""Scores on several scales, against a reference, and ranks of judges."""
