"""Reliability: how far a judge repeats itself, and how far what should not matter moves it."""
