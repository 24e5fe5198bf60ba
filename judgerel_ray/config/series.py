"""The series file: sweeps that are refreshed on a schedule, which of them are anchors, and alarms.

Paths of sweeps and the series' own folder are looked for beside the series file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from judgerel_ray.config.reading import (
    checked_table,
    file_text,
    parse_sweep,
)
from judgerel_ray.config.sweep import Sweep
from judgerel_ray.core import SweepError
from judgerel_ray.protocols.ask import Name, Number, SweepTable, Text, Whole

SweepRole = Literal["anchor", "system"]


class SeriesSweep(SweepTable):
    """One ``[[sweep]]`` of a series."""

    path: Text
    """A sweep file."""
    role: SweepRole = "system"
    """anchor: frozen items and answers that are judged anew on a schedule, so that what changes is
    the judge; system: what is judged may change, and only what is new is asked."""


class Drift(SweepTable):
    """``[drift]``: when the anchors raise an alarm."""

    level: Number = Field(default=0.05, gt=0, lt=1)
    """Chance, at most, that a judge that never changes is ever called drifted, however often the
    series is refreshed; several sets of anchors of a judge share it. One that is added later,
    so that there are m, adds level / m."""
    since: Whole = Field(default=1, ge=1)
    """Number of the first refresh that counts: raise it to accept a judge as it is now."""
    near_constant: Number = Field(default=0.95, gt=0.5, le=1)
    """Share of one verdict from which on a judge is called near-constant."""


class Series(SweepTable):
    """A whole series file."""

    name: Name
    """Name of the series."""
    out: Text
    """Where everything lands: a folder, or an fsspec URL."""
    anchor_every_h: Number = Field(default=20.0, ge=0)
    """Hours after which anchors are judged again, though nothing changed; the default lets a
    nightly trigger come early. They are judged too whenever something else is asked."""
    sweep: Annotated[tuple[SeriesSweep, ...], Field(min_length=1)]
    """The sweeps."""
    drift: Drift = Drift()
    """When the anchors raise an alarm."""
    folder: str = Field(default="", exclude=True)
    """Folder of the series file: where relative paths are looked for."""
    text: str = Field(default="", exclude=True, repr=False)
    """The file as it was written; kept in the series' folder."""

    @model_validator(mode="after")
    def _has_anchors(self) -> Self:
        """Refuse a series that could never tell whether a judge moved."""
        if not any(one.role == "anchor" for one in self.sweep):
            raise ValueError(
                'no sweep has role = "anchor": without anchors nothing tells a judge that moved '
                "from a system that did"
            )
        return self

    @property
    def url(self) -> str:
        """Where everything lands, as an absolute path or URL."""
        return self.find(self.out)

    def find(self, path: str) -> str:
        """A path of the series file as an absolute path or URL; SweepError where it is none.

        Examples
        --------
        >>> Series(name="s", out="s3://b/s", sweep=({"path": "a", "role": "anchor"},)).url
        's3://b/s'
        """
        if "://" in path:
            return path.rstrip("/")
        try:
            return str((Path(self.folder or ".") / Path(path).expanduser()).resolve())
        except (ValueError, RuntimeError) as error:  # a NUL in it; no home folder of that name
            raise SweepError(f"cannot be a path: {error}", where={"path": path}) from error

    def sweeps(self) -> tuple[tuple[Sweep, SweepRole], ...]:
        """Read the sweep files."""
        found: list[tuple[Sweep, SweepRole]] = []
        for one in self.sweep:
            path = Path(self.find(one.path))
            sweep = parse_sweep(
                file_text(path, "sweep"), source=str(path), folder=str(path.resolve().parent)
            )
            if any(other.name == sweep.name for other, _ in found):
                raise SweepError(
                    f"two sweeps of the series are named {sweep.name!r}; names must differ",
                    where={"file": str(path)},
                )
            if sweep.first_replication:
                raise SweepError(
                    "first_replication of a series' sweep is counted by the series",
                    where={"file": str(path)},
                    hint="leave it out",
                )
            if one.role == "anchor":
                starting_at(sweep, 1)
            found.append((sweep, one.role))
        return tuple(found)


def starting_at(sweep: Sweep, first: int) -> Sweep:
    """The same sweep from another replication on.

    Examples
    --------
    >>> text = '''
    ... name = "s"
    ... [[judge]]
    ... name = "uniform"
    ... engine = "simulated"
    ... model = "uniform"
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "demo"
    ... path = "items.parquet"
    ... '''
    >>> starting_at(parse_sweep(text), 5).first_replication
    5
    """
    if not first:
        return sweep
    # Ahead of everything: keys below the first table would be that table's.
    text = f"first_replication = {first}\n{sweep.text}"
    return parse_sweep(text, source=f"{sweep.name}, from replication {first}", folder=sweep.folder)


def load_series(path: str | Path) -> Series:
    r"""Read and check a series file; the sweeps that it names are not opened yet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "nightly.toml")
    ...     _ = file.write_text(
    ...         'name = "nightly"\nout = "runs"\nsweep = [{path = "a.toml", role = "anchor"}]'
    ...     )
    ...     load_series(file).anchor_every_h
    20.0
    """
    text = file_text(path, "series")
    folder = str(Path(path).resolve().parent)
    return checked_table(Series, text, source=str(path), folder=folder)
