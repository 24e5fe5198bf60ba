"""Which version of the package this is, for rooms that record it."""

__version__ = "0.1.0"
