"""Panels of systems by their votes, and cascades of systems by their cost."""
