"""Analyses of judgments, one folder each: what is computed, and how it is shown."""
