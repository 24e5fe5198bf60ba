"""Panels of judges: their votes, cascades, and the best that a budget buys."""
