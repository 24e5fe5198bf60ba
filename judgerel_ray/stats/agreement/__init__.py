"""Coefficients of agreement, and what they are where verdicts are missing."""
