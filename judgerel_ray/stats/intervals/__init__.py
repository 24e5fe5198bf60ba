"""Intervals, differences and tests, by question."""
