"""Rows as counts: one group for each judge and condition, one row of counts for each unit."""
