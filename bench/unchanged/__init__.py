"""What every verb says of kept inputs, recorded once and held against later code."""
