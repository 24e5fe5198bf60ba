"""Judges held against labels, and against each other."""
