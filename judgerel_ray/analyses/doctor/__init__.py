"""What a machine lacks, and what a file of judgments supports."""
