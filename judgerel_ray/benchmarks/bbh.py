"""BIG-Bench Hard: a JSON file a task, as its authors publish it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.source import (
    Record,
    as_records,
    file_format,
    file_name,
    known_format,
    read_json_file,
    read_records,
    stem,
)
from judgerel_ray.core import Item, SweepError
from judgerel_ray.core.files import is_folder, list_folder


def load_bbh(path: str) -> tuple[Item, ...]:
    """Read BIG-Bench Hard (Suzgun et al. 2022; 27 tasks, 6,511 items).

    Parameters
    ----------
    path : str
        The upstream folder ``bbh/`` of ``<task>.json`` files
        (``{"canary": ..., "examples": [{"input", "target"}]}``), or one such file; or a flat
        table (Parquet, JSON Lines, CSV, JSON list) with ``input``, ``target`` and ``task`` or
        ``category``, as the sampled file of schroeder2024 has them.

    Returns
    -------
    tuple of Item
        ``item_id`` is ``bbh:<task>:<index>``: the position in the task's file from 0, or column
        ``item`` of a table, or the running count within the task. ``category`` is the task,
        ``gold`` the target. One item per category is a draw of 27.

    Raises
    ------
    SweepError
        If a file is not of that layout; file and place are named.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = json.dumps({"canary": "", "examples": [{"input": "1 + 1 =", "target": "2"}]})
    ...     _ = pathlib.Path(folder, "sums.json").write_text(text)
    ...     load_bbh(folder)[0].item_id
    'bbh:sums:0'
    """
    counts: Counter[str] = Counter()
    found = []
    for file in _task_files(path):
        for task, record in _bbh_task_examples(file):
            index = record.whole("item") if "item" in record else counts[task]
            counts[task] += 1
            item = Item(
                item_id=f"bbh:{task}:{index}",
                benchmark="bbh",
                category=task,
                question=record.text("input"),
                gold=record.text("target"),
            )
            found.append((item, record))
    return admit(found, path=path)


def _task_files(path: str) -> tuple[str, ...]:
    """The file itself, or the task files of a folder."""
    if not is_folder(path):
        return (path,)
    inside = list_folder(path)
    files = tuple(file for file in inside if known_format(file) in ("json", "jsonl"))
    if not files:
        deeper = [file for file in inside if file_name(file) == "bbh"]
        raise SweepError(
            "expected a folder of <task>.json files, found none",
            where={"folder": path},
            hint=deeper[0] if deeper else "name the upstream folder bbh/",
        )
    return files


def _bbh_task_examples(file: str) -> Iterator[tuple[str, Record]]:
    if file_format(file) == "json":
        document = read_json_file(file)
        if isinstance(document, dict):
            top = Record(fields=document, place={"file": file})
            top.require("examples", hint="a task file is {'canary': ..., 'examples': [...]}")
            for record in top.children("examples"):
                yield stem(file), record
            return
        records = as_records(document, file)
    else:
        records = read_records(file)
    for record in records:
        record.require("input", "target")
        # The first upstream release had <task>.jsonl without a task in its lines.
        if "task" not in record and "category" not in record and file_format(file) == "jsonl":
            yield stem(file), record
        else:
            yield record.identifier("category" if "category" in record else "task"), record
