"""Scores that a judge's errors have not moved: corrected by labels, or by several judges."""
