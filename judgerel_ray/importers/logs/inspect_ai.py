"""Inspect: one judgment for each score of each epoch, from ``.eval`` archives and JSON logs.

Read from ``log/_log.py`` and ``log/_recorders/eval.py`` of inspect_ai at 499e6152: members of an
archive are deflated, or packed by zstd (method 93 of ZIP), which Polars unpacks here.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.importers.logs.reading import (
    PEOPLE,
    UNNAMED,
    LogFormat,
    Row,
    Sight,
    conversation,
    is_zip,
    mapping,
    number,
    records,
    text,
    values,
    zipped,
)

_ZSTD = 93
_LOCAL_HEADER = 30
_COMPUTED = frozenset({"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern"})
"""Scorers of Inspect that ask no model."""
_LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}


def _known(seen: Sight) -> bool:
    if seen.kind == "zip":
        return bool(seen.names & {"header.json", "_journal/start.json"})
    return {"eval", "status", "version"} <= seen.names


def _read(path: str) -> Iterator[Row]:
    """Judgments of one log.

    ``history[0]`` of a score is what the judge said; what it holds now may be a person's edit,
    which becomes a row of people. A score of several values is several criteria. An epoch asks the
    model again as well as its grader. Scorers of Inspect that compute are no judges; the grader is
    the model of its role, else the one that its reply names (``metadata.grading``, the prompt and
    the reply). A grade that Inspect could not read is NaN, its ``reason`` then ``grader_failed``.
    """
    if is_zip(path):
        with zipped(path) as archive:
            names = archive.namelist()
            start = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
            if start is None:
                raise SweepError("the archive is no log of Inspect", where={"file": path})
            asked = mapping(mapping(_member(archive, start, path)).get("eval"))
            samples = [
                name
                for name in sorted(names)
                if name.startswith("samples/")
                and (name.count("/") == 1 or name.endswith("/sample.json"))
                and name.endswith(".json")
            ]
            for name in samples:
                yield from _judgments(mapping(_member(archive, name, path)), asked)
        return
    asked = {where[1]: one for where, one in values(path) if where[0] == "eval" and len(where) == 2}
    for _, sample in records(path, ("samples",)):
        yield from _judgments(mapping(sample), asked)


def _judgments(sample: Mapping[str, object], asked: Mapping[str, object]) -> Iterator[Row]:
    """Judgments of one sample."""
    roles = mapping(asked.get("model_roles"))
    grader = roles.get("grader")
    role = text(mapping(grader).get("model") or grader)
    output = mapping(sample.get("output"))
    for name, held in mapping(sample.get("scores")).items():
        if name.rstrip("0123456789") in _COMPUTED or name in _COMPUTED:
            continue
        score = mapping(held)
        history = score.get("history")
        stated = mapping(history[0]) if isinstance(history, list) and history else score
        asked_grader, replied = _grading(stated)
        rows = [(role or text(replied.get("model")) or UNNAMED, stated)]
        if stated is not score and score.get("value") != stated.get("value"):
            rows.append((PEOPLE, score))
        for who, one in rows:
            value = one.get("value")
            parts = value if isinstance(value, dict) else {"": value}
            for part, single in parts.items():
                yield Row(
                    judge=who,
                    item_id=str(sample.get("id")),
                    benchmark=text(asked.get("task")),
                    criterion=f"{name}.{part}" if part else name,
                    responder=text(asked.get("model")),
                    answer=text(output.get("completion")) or text(output.get("choices")),
                    question=conversation(sample.get("input")),
                    reply=text(replied.get("content")) or text(one.get("explanation")),
                    prompt=conversation([asked_grader]) if asked_grader else None,
                    reference=text(sample.get("target")),
                    **_stated(single, one),  # type: ignore[arg-type]
                )


def _grading(
    score: Mapping[str, object],
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """What a model that graded was asked, and its reply; of other scorers nothing."""
    grading = mapping(score.get("metadata")).get("grading")
    messages = grading if isinstance(grading, list) and len(grading) > 1 else [None, None]
    return mapping(messages[0]), mapping(messages[-1])


def _stated(value: object, score: Mapping[str, object]) -> dict[str, object]:
    """Verdict, score or outcome of one value."""
    is_unread = isinstance(value, float) and math.isnan(value)
    if is_unread or mapping(score.get("metadata")).get("unscored_reason"):
        return {"outcome": Outcome.UNPARSED}
    if isinstance(value, bool):
        return {"verdict": "true" if value else "false"}
    if isinstance(value, str):
        as_number = number(value)
        return {"verdict": _LETTERS.get(value, value)} if as_number is None else {
            "score": as_number
        }  # fmt: skip
    return {"score": number(value)}


def _member(archive: zipfile.ZipFile, name: str, path: str) -> object:
    """A document of the archive."""
    place = {"file": f"{path}:{name}"}
    try:
        info = archive.getinfo(name)
        content = _unpacked(archive, info) if info.compress_type == _ZSTD else archive.read(info)
        document: object = json.loads(content)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, NotImplementedError,
        PolarsError,
    ) as error:  # fmt: skip
        raise SweepError(f"a member is damaged: {error}", where=place) from error
    except (ValueError, RecursionError) as error:
        raise SweepError(f"not JSON: {error}", where=place) from error
    return document


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member packed by zstd, which Python reads from 3.14 on."""
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    n_name, n_extra = struct.unpack("<HH", header[26:30])
    file.seek(info.header_offset + _LOCAL_HEADER + n_name + n_extra)
    lines = pl.scan_lines(io.BytesIO(file.read(info.compress_size)), name="line").collect()
    return "\n".join(lines["line"].to_list()).encode()


INSPECT = LogFormat(known=_known, read=_read, asks_again="epochs")
