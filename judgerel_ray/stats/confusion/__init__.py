"""Confusion matrices: how sure a judge is when every option has been argued for."""
