"""Confusion matrices: how sure a judge is when every option was argued for, and its baselines."""
