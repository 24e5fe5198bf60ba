"""Accepting some answers and handing on the rest."""
