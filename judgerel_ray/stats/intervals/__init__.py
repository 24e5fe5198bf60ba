"""Intervals, differences and tests, by question; how many judgments they need, and when to stop."""
