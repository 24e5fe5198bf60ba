"""Selection: which answers to accept, and systems compared by their answers."""
