"""Judges behind an API that speaks OpenAI's protocol."""
