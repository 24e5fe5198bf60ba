"""Run a sweep: ask what is pending, wave by wave, and land it."""
