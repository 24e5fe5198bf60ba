"""Refresh a series: ask what is new since earlier refreshes, and anchors anew, one at a time."""
