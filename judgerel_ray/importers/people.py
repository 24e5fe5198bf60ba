"""What people said of items, as judgments: their agreement by the coefficients of judges."""

from __future__ import annotations

from collections import Counter

import polars as pl

from judgerel_ray.benchmarks import REFERENCE, SCALES, load_generic
from judgerel_ray.benchmarks.criterion import first_part
from judgerel_ray.benchmarks.source import Record, list_names, read_records
from judgerel_ray.core import Item, Outcome, SweepError
from judgerel_ray.importers.logs.reading import PEOPLE, finite_number

_SCHEMA = {
    "judge": pl.String(), "benchmark": pl.String(), "criterion": pl.String(),
    "item_id": pl.String(), "responder": pl.String(), "replication": pl.Int64(),
    "verdict": pl.String(), "score": pl.Float64(), "outcome": pl.String(),
}  # fmt: skip


_LABEL = "label"
_OF_LABELS = ("benchmark", "criterion", "responder")


def import_people(path: str) -> pl.DataFrame:
    """Read what people said of items as judgments: ratings in a file of items, or labels.

    Parameters
    ----------
    path : str
        Items with ``ratings``, as ``judgerel items`` writes them; or a table of ``item_id``,
        ``label`` and, optionally, ``rater`` and ``probability``, as the page of ``judgerel
        label`` exports it: then ``replication`` numbers raters by name, and `rater`,
        `probability` and what says of which answer it is are kept.

    Returns
    -------
    pl.DataFrame
        One row a rating, in the order of the items: ``judge`` is the kind of rater (``expert`` of
        ``expert:0``; ``people`` where they have none) and ``replication`` which of them it is,
        numbered by name. ``verdict`` is the label, ``score`` the number, or a label's place on its
        benchmark's scale of words. ``item_id`` names what the item is about (the first item about
        it: an article, a question) and ``responder`` the item (and the option rated, where
        it has several), so that intervals draw articles.

    Raises
    ------
    SweepError
        If the file holds no items, or none is rated.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray.core import HumanRating
    >>> from judgerel_ray.tables import items_to_frame
    >>> ratings = tuple(HumanRating(rater=f"expert:{n}", score=4.0 + n) for n in range(2))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", ratings=ratings)
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     items_to_frame([item]).write_parquet(file.name)
    ...     import_people(file.name).select("judge", "replication", "verdict", "score").rows()
    [('expert', 0, '4', 4.0), ('expert', 1, '5', 5.0)]
    """
    if _holds_labels(path):
        return _imported_label_rows(path)
    items = load_generic(PEOPLE, path, gold_is=REFERENCE)
    raters = sorted(
        {(item.benchmark, rating.rater) for item in items for rating in item.ratings},
        key=lambda one: [(len(part), part) for part in one[1].split(":")],
    )
    if not raters:
        raise SweepError(
            "no item has human ratings",
            where={"file": path},
            hint="write items of a benchmark that has them: judgerel items summeval ...",
        )
    number: dict[tuple[str, str], int] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for benchmark, rater in raters:
        kind = (benchmark, _kind(rater))
        number[benchmark, rater] = seen[kind]
        seen[kind] += 1
    first: dict[tuple[str, str], str] = {}
    rows = [
        (_kind(rating.rater), item.benchmark, rating.criterion, _first_alike_item(item, first),
         _rated_option(item, rating.responder), number[item.benchmark, rating.rater],
         *_verdict_and_score(item, rating.label, rating.score), Outcome.SCORED.value)
        for item in items for rating in item.ratings
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _holds_labels(path: str) -> bool:
    """Whether a table has one label a row; refuse one that has neither labels nor items."""
    first = read_records(path)[0]
    if "ratings" in first.fields or "question" in first.fields:
        return False
    if {"item_id", _LABEL} <= set(first.fields):
        return True
    raise SweepError(
        "expected items with all ratings of each in a column ratings, as judgerel items writes "
        f"them, or columns item_id and label, got columns {list_names(first.fields)}",
        where={"file": path},
        hint=f"one rating a row: judgerel import table {path} --column judge=COLUMN --column "
        "verdict=COLUMN --out FILE.parquet",
    )


def _imported_label_rows(path: str) -> pl.DataFrame:
    """One row a label; those left empty are left out."""
    rows = []
    for record in read_records(path):
        if _LABEL not in record or not record.written(_LABEL).strip():
            continue
        label = record.written(_LABEL).strip()
        chance = record.written("probability") if "probability" in record else None
        rows.append({
            "judge": PEOPLE,
            "item_id": record.identifier("item_id"),
            **{name: record.written(name) for name in _OF_LABELS if name in record},
            "rater": record.written("rater").strip() if "rater" in record else "anonymous",
            "verdict": label,
            "score": finite_number(label),
            "outcome": Outcome.SCORED.value,
            "probability": None if chance is None else _imported_label_probability(chance, record),
        })  # fmt: skip
    if not rows:
        raise SweepError("no item has a label", where={"file": path})
    found = pl.DataFrame(
        rows, schema_overrides={"score": pl.Float64, "probability": pl.Float64},
        infer_schema_length=None,
    )  # fmt: skip
    return numbered_raters(found)


def numbered_raters(labels: pl.DataFrame) -> pl.DataFrame:
    """Number raters by name, in ``replication``."""
    rank = pl.col("rater").rank("dense").cast(pl.Int64) - 1
    return labels.with_columns(replication=rank)


def _imported_label_probability(text: str, record: Record) -> float:
    """How likely the item was to be labelled."""
    number = finite_number(text)
    if number is None or not 0 < number <= 1:
        raise record.wrong(f"probability must be above 0 and at most 1, got {text!r}")
    return number


def _kind(rater: str) -> str:
    """The kind of a rater whose name says it."""
    return rater.partition(":")[0] if ":" in rater else PEOPLE


def _rated_option(item: Item, responder: str | None) -> str:
    """The item, and which of its options was rated where it has several."""
    several = responder is not None and len(item.options) > 1
    return f"{item.item_id}/{responder}" if several else item.item_id


def _first_alike_item(item: Item, first: dict[tuple[str, str], str]) -> str:
    """The first item about the same as this one."""
    about = first_part(item.context) if item.context else item.item_id
    return first.setdefault((item.benchmark, about), item.item_id)


def _verdict_and_score(
    item: Item, label: str | None, score: float | None
) -> tuple[str, float | None]:
    scale = SCALES.get(item.benchmark, ())
    if score is None and label in scale:
        score = float(scale.index(label))
    return (f"{score:g}" if label is None else label), score
