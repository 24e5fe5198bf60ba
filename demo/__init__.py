"""The demo's judge and items: how they are made and what their truth is."""
