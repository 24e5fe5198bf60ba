"""Where recordings lie that benches are about: they are not in this repository."""

from __future__ import annotations

import os
from pathlib import Path


def recordings() -> Path:
    """Folder of the recordings; ends the program in one line where nothing names it."""
    folder = os.environ.get("JUDGEREL_DATA", "")
    if not Path(folder).is_dir() or not folder:
        raise SystemExit(f"JUDGEREL_DATA must name the folder of recordings, got {folder!r}")
    return Path(folder)
