"""vLLM in this process: what it is told, asked and answers."""
