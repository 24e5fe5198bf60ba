"""Verdict distributions at every temperature, and the limits they set."""
