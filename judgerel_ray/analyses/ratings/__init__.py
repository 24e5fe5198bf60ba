"""Ratings: consistency across scales, alignment with a reference, and ranks of judges."""
