"""Serving noise: what differs between repeats that should be the same."""
