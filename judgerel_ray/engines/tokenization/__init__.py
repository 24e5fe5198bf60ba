"""From messages to token ids, as a judge was told to read them."""
