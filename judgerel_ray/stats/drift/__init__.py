"""Whether what is repeated over time still comes from where it came from."""
