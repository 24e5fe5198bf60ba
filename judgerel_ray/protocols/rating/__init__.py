"""Rating: judges rate responses by criteria on scales."""
