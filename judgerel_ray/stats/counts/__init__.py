"""The kernel: counts, and coefficients as functions of sums over units."""
