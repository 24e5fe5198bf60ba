"""What people read of a run or a file as a whole: one HTML page, plans and standings."""
