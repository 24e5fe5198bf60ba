"""Noise floors: what a coefficient shows when no verdict depends on its question."""
