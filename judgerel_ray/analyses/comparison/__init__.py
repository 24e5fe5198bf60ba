"""Comparison of two judges, temperatures or runs on the same questions."""
