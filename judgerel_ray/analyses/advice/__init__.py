"""Advice: what more judgments, prompts and questions would buy."""
