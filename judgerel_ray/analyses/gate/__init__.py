"""May this judge decide: requirements that the whole confidence interval meets or misses."""
