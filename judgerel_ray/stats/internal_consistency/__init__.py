"""Internal consistency of distinct items: alpha and the omegas."""
