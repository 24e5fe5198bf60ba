"""vLLM in this process: its arguments, its requests and their outputs."""
