"""Refreshes of a series: what each found, told of all together."""
