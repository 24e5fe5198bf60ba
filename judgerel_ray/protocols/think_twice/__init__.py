"""Think twice: models select, then choose; judges compare what they answered."""
