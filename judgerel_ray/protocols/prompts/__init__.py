"""Prompts: templates, and how an item is written into them."""
