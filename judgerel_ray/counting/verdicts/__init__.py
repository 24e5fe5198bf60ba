"""What counts as a verdict: the policy, its spelling, its scale, and the place it stood in."""
