"""Files that hold judgments, in every format: read as tables, or refused in one line."""
