"""Hostile inputs: cases with independent oracles, the runner, and the page made of them.

``python -m bench.hostile`` runs all of them; :mod:`bench.hostile.case` says what a case is.
"""
