"""Correctness: judges say whether an answer agrees with the gold one."""
