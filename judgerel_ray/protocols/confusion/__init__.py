"""Confusion: judges argue for every option, and say how sure they are after each."""
