"""From judgments to counts: read, group, count, and what a row counts as."""
