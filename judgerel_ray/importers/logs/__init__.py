"""Logs of evaluation tools, read record by record into judgments, or items to be judged again."""
