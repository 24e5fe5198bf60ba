"""The console that a run's progress is shown on."""

from __future__ import annotations

import os

from rich.console import Console

_NARROWEST = 20  # below, COLUMNS is a mistake of a script and no screen


class Screen(Console):
    """A console as wide as there are columns, whatever COLUMNS says when it says none.

    It leaves a broken pipe to the command line, which knows the exit codes.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        width = os.environ.get("COLUMNS", "")
        few = width.isdigit() and int(width) < _NARROWEST
        super().__init__(stderr=stderr, width=80 if few else None)

    def on_broken_pipe(self) -> None:
        """Hand it on; Rich itself would exit with 1."""
        raise BrokenPipeError
