"""From judgments that people already hold to a file that `reduce` reads."""

from __future__ import annotations

from pathlib import Path

from judgerel_ray.core import SweepError


def write_judgments(format_name: str, path: str, out: str) -> int:
    """Write foreign judgments as Parquet; return how many.

    Effects: writes one file. Retry: safe.

    Raises
    ------
    SweepError
        If the format is unknown, the path cannot be read, or the file cannot be written.
    """
    from judgerel_ray.importers import import_judgments

    if Path(out).suffix != ".parquet":
        raise SweepError(f"--out must end in .parquet, got {out!r}", where={"file": out})
    judgments = import_judgments(format_name, path)
    try:
        judgments.write_parquet(out)
    except OSError as error:
        raise SweepError(f"cannot write judgments: {error}", where={"file": out}) from error
    return judgments.height
