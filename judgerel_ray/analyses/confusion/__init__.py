"""Uncertainty of single judgments, from matrices of options argued for and chosen."""
