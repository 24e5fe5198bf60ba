"""Scores of judges corrected by few human labels, or by several judges without any."""
