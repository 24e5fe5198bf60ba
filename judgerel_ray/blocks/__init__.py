"""Pieces that pages and terminals are made of: words, markup, columns, figures."""
