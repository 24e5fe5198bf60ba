"""``python -m judgerel_ray`` and the ``judgerel`` command."""

from __future__ import annotations

import sys

from judgerel_ray.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
