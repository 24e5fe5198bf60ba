"""Votes of panels, cascades, and what they are worth."""
