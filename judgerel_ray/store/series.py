"""The folder of a series: its refreshes, each with the runs it made and what came of it.

::

    SERIES/  series.toml  history.parquet  summary.json  trend.html  leases/
             refreshes/0001/  refresh.json  <sweep>/ (a run directory)  ...  result.json

``refresh.json`` says what a refresh is to ask, ``result.json`` what it found: both are created
exclusively and never change. A refresh without a result is unfinished, and the next trigger goes on
with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from judgerel_ray.config.series import Series, SweepRole
from judgerel_ray.core import StoreError, SweepError
from judgerel_ray.store import RunDirectory, read_manifest
from judgerel_ray.store.files import Bucket, Disk
from judgerel_ray.store.places import refuse_inside_run, refuse_memory
from judgerel_ray.store.records import seal, unseal

REFRESHES, BEGUN, RESULT, SERIES = "refreshes", "refresh.json", "result.json", "series.toml"
MADE = ("history.parquet", "summary.json", "trend.html")
MEASURED = ("done", "partial")
"""States of refreshes that count as observed."""
_NAMES = frozenset({"leases", REFRESHES, SERIES, *MADE})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshSweep:
    """What one refresh asks of a sweep: all of it, from a replication on.

    ``first`` is the number of the first replication, above 0 of anchors that were asked before.
    """

    name: str
    role: SweepRole
    first: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """One refresh: what it asks, since when, and what came of it.

    ``result`` is None while it is unfinished; its ``state`` is "done", "partial" (given up while
    requests were pending) or "replaced" (its sweeps changed before it was through).
    """

    number: int
    started_at: str
    sweeps: tuple[RefreshSweep, ...]
    result: Mapping[str, Any] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is unfinished."""
        return self.result is None

    @property
    def state(self) -> str:
        """What became of it: done, partial, replaced; open while it is unfinished."""
        return "open" if self.result is None else str(self.result.get("state"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesDirectory:
    """A series' folder by its address: a path, or any fsspec URL.

    Examples
    --------
    >>> SeriesDirectory(url="memory://doctest-series").refreshes()
    ()
    """

    url: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", RunDirectory(url=self.url).url)

    @property
    def files(self) -> Disk | Bucket:
        """The files by name, wherever they are."""
        return Bucket(url=self.url) if "://" in self.url else Disk(root=self.url)

    def check_owner(self, series: Series) -> None:
        """Refuse a folder that is somebody else's."""
        refuse_inside_run(self.url)
        refuse_memory(self.url)
        if os.path.exists(self.url) and not os.path.isdir(self.url):
            raise StoreError("expected a series' folder, got a file", where={"series": self.url})
        foreign = {one for one in self.files.names() if one not in _NAMES and one[0] != "."}
        if foreign:
            raise StoreError(
                f"expected an empty folder or a series', got one that holds {min(foreign)!r}",
                where={"series": self.url},
                hint="give the series an out of its own",
            )
        stored = self.files.find(SERIES)
        if stored is not None and (name := _stored_series_name(stored)) != series.name:
            raise StoreError(
                f"the folder is of another series: expected {name!r}, got {series.name!r}",
                where={"series": self.url},
                hint="give the series an out of its own, or its old name",
            )

    def keep_series(self, series: Series) -> None:
        """Keep a copy of the series file. Effects: replaces it where it changed."""
        data = series.text.encode()
        if self.files.find(SERIES) != data:
            self.files.write(SERIES, data)

    def refreshes(self) -> tuple[Refresh, ...]:
        """Read all refreshes, in order."""
        numbers = sorted(int(one) for one in self.files.names(REFRESHES) if one.isdecimal())
        places = [f"{REFRESHES}/{n:04d}/{name}" for n in numbers for name in (BEGUN, RESULT)]
        data = self.files.read_many(places)
        found = []
        for number in numbers:
            begun = self._record(data, number, BEGUN)
            if begun is None:
                folder = f"{REFRESHES}/{number:04d}"
                if any(not name.startswith(".") for name in self.files.names(folder)):
                    raise self._damaged("gone", number, BEGUN)
                continue  # its writer died before it began anything
            found.append(
                Refresh(
                    number=number,
                    started_at=str(begun["started_at"]),
                    sweeps=tuple(RefreshSweep(**one) for one in begun["sweeps"]),
                    result=self._record(data, number, RESULT),
                )
            )
        return tuple(found)

    def begin(self, number: int, started_at: str, sweeps: Sequence[RefreshSweep]) -> Refresh:
        """Write down what a refresh is to ask."""
        content = {"number": number, "started_at": started_at}
        self._create(number, BEGUN, {**content, "sweeps": [asdict(one) for one in sweeps]})
        return Refresh(number=number, started_at=started_at, sweeps=tuple(sweeps))

    def close(self, refresh: Refresh, result: Mapping[str, Any]) -> Refresh:
        """Write down what came of a refresh. Raises: as :meth:`begin`."""
        self._create(refresh.number, RESULT, result)
        return replace(refresh, result=result)

    def run_url(self, refresh: Refresh, sweep: str) -> str:
        """Where a refresh runs a sweep."""
        return f"{self.url}/{REFRESHES}/{refresh.number:04d}/{sweep}"

    def run(self, refresh: Refresh, sweep: str) -> RunDirectory | None:
        """The run of a refresh's sweep; None where nothing was begun."""
        run = RunDirectory(url=self.run_url(refresh, sweep))
        return run if run.is_run() and "sweep" in read_manifest(run) else None

    def runs(self, sweep: str, refreshes: Sequence[Refresh]) -> list[tuple[Refresh, RunDirectory]]:
        """All runs of a sweep, by refresh."""
        asked = (
            (one, self.run(one, sweep))
            for one in refreshes
            if any(asked.name == sweep for asked in one.sweeps)
        )
        return [(one, run) for one, run in asked if run is not None]

    def _create(self, number: int, name: str, content: Mapping[str, Any]) -> None:
        place = f"{REFRESHES}/{number:04d}/{name}"
        data = seal(content, place)
        if not self.files.create(place, data) and self.files.read(place) != data:
            raise StoreError(
                f"refresh {number} is another's by now",
                where={"path": self.files.address(place)},
                hint="nothing; the other one goes on with what is pending",
            )

    def _record(self, data: Mapping[str, bytes], number: int, name: str) -> Any:
        place = f"{REFRESHES}/{number:04d}/{name}"
        if place not in data:
            return None
        content = unseal(data[place], place)
        if content is None:
            raise self._damaged("torn or altered", number, name)
        return content

    def _damaged(self, how: str, number: int, name: str) -> StoreError:
        return StoreError(
            f"a record of the series is {how}",
            where={"path": self.files.address(f"{REFRESHES}/{number:04d}/{name}")},
            hint="put a copy back, or move the folder of this refresh away: what it asked is "
            "asked again",
        )


def _stored_series_name(data: bytes) -> str | None:
    """The name in a series' copy of its file; None where it cannot be read any more."""
    from judgerel_ray.config.reading import toml_content

    try:
        return str(toml_content(data.decode(errors="replace"), SERIES).get("name"))
    except SweepError:
        return None
