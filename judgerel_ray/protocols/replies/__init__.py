"""Replies, read: the forms in which a verdict or a rating may be stated."""
