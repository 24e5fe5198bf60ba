"""Variance components, reproducibility over facets, and decision studies."""
