"""What a sweep asks, of whom, and what it costs, before anything is asked."""
