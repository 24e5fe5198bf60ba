"""A run directory on disk, in memory and in S3, and rows that may land in it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.core import TokenCounts, request_key
from judgerel_ray.store import RunDirectory, land
from judgerel_ray.tables import Completions, Judgments

JUDGMENTS = Judgments.create_empty().schema
COMPLETIONS = Completions.create_empty().schema
LANDED_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Rows:
    """Rows for ranges of replications; `mark` goes into the label and the text."""

    conditions: Mapping[str, Sequence[tuple[int, int]]]
    judge: str = "j"
    attempt: int = 1
    mark: str = "m"
    role: str = "judge"

    def requests(self) -> list[tuple[str, int]]:
        return [
            (key, replication)
            for key, ranges in self.conditions.items()
            for first, n in ranges
            for replication in range(first, first + n)
        ]

    def judgments(self) -> pl.DataFrame:
        rows = [self._judgment(key, replication) for key, replication in self.requests()]
        return pl.DataFrame(rows, schema=JUDGMENTS)

    def completions(self) -> pl.DataFrame:
        rows = [
            {"key": request_key(key, r), "text": f"{self.mark}:{key}:{r}", "logprobs": None}
            for key, r in reversed(self.requests())
        ]
        return pl.DataFrame(rows, schema=COMPLETIONS)

    def _judgment(self, key: str, replication: int) -> dict[str, object]:
        named = {
            "key": request_key(key, replication),
            "judge": self.judge,
            "item_id": f"item-{key}",
            "replication": replication,
            "seed": 1 + replication,
            "label": self.mark,
            "temperature": 1.0,
            "role": self.role,
            "verdict": "A" if self.role == "judge" else None,
            "outcome": "scored" if self.role == "judge" else None,
            "attempt": self.attempt,
            "landed_at": LANDED_AT,
        }
        optional = {
            "responder", "criterion", "definition", "scale", "option_order", "score",
            "confidence", "prompt_tokens", "cached_tokens", "cost",
        }  # fmt: skip
        row: dict[str, object] = {}
        for column, kind in JUDGMENTS.items():
            if column in named:
                row[column] = named[column]
            elif column in optional:
                row[column] = None
            else:
                row[column] = "x" if kind == pl.String else 1
        return row


LandRows = Callable[..., bool]


@pytest.fixture(scope="session")
def rows() -> type[Rows]:
    return Rows


@pytest.fixture(scope="session")
def land_rows() -> LandRows:
    """Land rows as attempt `attempt` of lease `lease`."""

    def do(
        run: RunDirectory,
        session: int,
        lease: int,
        conditions: Mapping[str, Sequence[tuple[int, int]]],
        *,
        attempt: int = 1,
        judge: str = "j",
        mark: str = "m",
        role: str = "judge",
        parents: Sequence[str] = (),
    ) -> bool:
        made = Rows(conditions=conditions, judge=judge, attempt=attempt, mark=mark, role=role)
        return land(
            run,
            session=session,
            lease=lease,
            attempt=attempt,
            judge=judge,
            judgments=made.judgments(),
            completions=made.completions(),
            conditions=conditions,
            tokens=TokenCounts(prompt=10, cached=4, generated=len(made.requests())),
            seconds=2.0,
            engine={"device": "none"},
            parents=parents,
        )

    return do


@pytest.fixture(scope="session")
def s3_options(s3_url: str) -> dict[str, object]:
    """Storage options of the S3 server, with a bucket named ``runs``."""
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("s3fs", reason="needs the extra s3")
    options: dict[str, object] = {"client_kwargs": {"endpoint_url": s3_url}}
    fsspec.filesystem("s3", **options).mkdir("runs")
    return options


@pytest.fixture(params=["disk", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> RunDirectory:
    """An empty run directory, in each kind of place."""
    if request.param == "disk":
        return RunDirectory.create(os.fspath(tmp_path / "run"))
    name = uuid.uuid4().hex
    if request.param == "memory":
        return RunDirectory.create(f"memory://{name}")
    options = request.getfixturevalue("s3_options")
    return RunDirectory.create(f"s3://runs/{name}/run one", storage_options=options)


@pytest.fixture
def disk_run(tmp_path: Path) -> RunDirectory:
    """An empty run directory on disk."""
    return RunDirectory.create(os.fspath(tmp_path / "run"))
