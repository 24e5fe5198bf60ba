"""Verdict distributions: limits of infinitely many replications, and weighted scores."""
