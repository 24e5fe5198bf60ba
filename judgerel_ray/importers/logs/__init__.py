"""Logs of evaluation tools, read record by record into judgments."""
