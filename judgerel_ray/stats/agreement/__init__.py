"""Coefficients of agreement and correctness, and what they are where verdicts are missing."""
