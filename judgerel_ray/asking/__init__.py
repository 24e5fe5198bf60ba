"""Ask judges: plan a sweep, run it, and go on with it."""
