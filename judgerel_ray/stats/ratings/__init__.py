"""Scores on several scales, scores and labels against a reference, and ranks of judges."""
