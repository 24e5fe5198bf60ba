"""Best of: judges name the best of several answers."""
