"""Respond: answers of a model to questions, and nothing judged."""
