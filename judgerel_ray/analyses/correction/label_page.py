"""The page on which people label: which items, and what is shown of each.

Items are drawn with known probabilities, so that no choice biases; nothing of what a judge said is
shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from judgerel_ray.analyses.correction.labels import FAILING, PASSING
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.core import SweepError, printable
from judgerel_ray.counting.gold import beside_table
from judgerel_ray.counting.groups.grouping import count_judgments
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdicts.policy import FAILED, LABEL, SCORED
from judgerel_ray.counting.verdicts.spelling import folded
from judgerel_ray.stats.counts import Floats
from judgerel_ray.store.outputs import Output

CHOICES = ("random", "unstable", "uncertain")
_NOTHING = {
    "unstable": "no judge was asked twice, or none ever changed its verdict",
    "uncertain": "there is no column confidence, or every judge is sure",
}
_HALF = 0.5
"""Share of the draw that goes to all units alike, whatever is looked for: no weight gets large."""


def drawn_units(
    units: pl.DataFrame, n: int, *, choose: str = "random", seed: int = 0
) -> pl.DataFrame:
    """Draw units to be labelled, in random order.

    Notes
    -----
    Systematic sampling from a random order, with probability proportional to size: as many units as
    asked for, each with the probability told.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": list("abcd"), "unstable": [0.0, 0.0, 0.0, 1.0],
    ...                       "uncertain": [None] * 4})
    >>> drawn_units(units, 2, choose="unstable").sort("item_id")["probability"].to_list()[-1]
    1.0
    """
    if n < 1:
        raise SweepError(f"--n must be at least 1, got {n}")
    size = np.zeros(units.height)
    if choose != "random":
        known = units[choose].fill_null(0.0).to_numpy()
        if not known.any():
            raise SweepError(
                f"nothing to choose {choose} items by: {_NOTHING[choose]}", hint="--choose random"
            )
        size = known / known.sum()
    alike = 1 / units.height
    wanted = alike if choose == "random" else _HALF * alike + (1 - _HALF) * size
    chance = _capped_label_chances(np.broadcast_to(wanted, units.height), min(n, units.height))
    rng = np.random.default_rng(seed)
    order = rng.permutation(units.height)
    ends = np.cumsum(chance[order])
    start = rng.random()
    before = np.concatenate([[0.0], ends[:-1]])
    taken = np.floor(ends - start - 1e-9) > np.floor(before - start - 1e-9)
    chosen = rng.permutation(order[taken])
    return units[chosen].with_columns(probability=pl.Series(chance[chosen]))


def _capped_label_chances(size: Floats, n: int) -> Floats:
    """Probabilities proportional to size, none above 1, that add up to `n`."""
    if n == size.size:
        return np.ones(n)
    chance = n * size / size.sum()
    for _ in range(size.size):
        certain = chance >= 1
        rest = n - int(certain.sum())
        if not (chance > 1 + 1e-12).any():
            break
        chance = np.where(certain, 1.0, rest * size / max(size[~certain].sum(), 1e-300))
    capped: Floats = np.minimum(chance, 1.0)
    return capped


SHOWN = (
    ("context", "Context"), ("passage", "Context"), ("question", "Question"), ("prompt", "Prompt"),
    ("input", "Input"), ("instruction", "Instruction"), ("answer", "Answer"),
    ("response", "Answer"), ("output", "Answer"), ("completion", "Answer"), ("reply", "Answer"),
)  # fmt: skip
"""Columns that people may see, and their headings."""
_APART = ("benchmark", "responder", "criterion")
READ = ("confidence", "responder", "criterion", *(name for name, _ in SHOWN))
"""Columns that not every verb uses, and this one does."""
_MOST_CHOICES = 9


def write_label_page(
    judged: Snapshot,
    output: Output,
    *,
    n: int = 100,
    choose: str = "random",
    items: str | None = None,
    seed: int = 0,
) -> int:
    """Write a page on which people label items of judgments; return how many.

    Effects: reads, writes one file, whole. Retry: safe, the same items are drawn again.
    """
    units, choices = units_to_label(judged)
    texts = shown_texts(judged, items)
    chosen = drawn_units(units, n, choose=choose, seed=seed)
    keys = [name for name in ("item_id", *_APART) if name in chosen.columns]
    on = [name for name in keys if name in texts.columns]
    wanted = texts.join(chosen, on=on, how="semi", nulls_equal=True)
    _refuse_several(wanted.filter(wanted.select(on).is_duplicated()))
    known = chosen.join(texts, on=on, how="left", nulls_equal=True, maintain_order="left")
    bare = known.filter(pl.col("parts").is_null())
    if bare.height:
        raise SweepError(
            f"nothing says what item {bare['item_id'][0]!r} is about: expected it in --items, or "
            "columns question and answer beside the judgments",
            hint="--items FILE: a table of item_id, question and answer",
        )
    page = render_label_page(known, keys, choices, title=f"{known.height} items to label")
    output.write(page.encode())
    return known.height


def units_to_label(judged: Snapshot) -> tuple[pl.DataFrame, list[str]]:
    """Lay out what can be labelled, and which labels there are: at most nine, else a number.

    A row a unit: what names it, ``unstable`` (chance that two replications of one judge differ,
    mean over judges), ``uncertain`` (1 less the mean confidence). Labels: ``pass`` and ``fail``
    where verdicts say so, else the verdicts; none where they are numbers.
    """
    there = judged.frame.collect_schema().names()
    apart = [name for name in _APART if name in there]
    rows = count_judgments(judged.source).frame.filter(~FAILED)
    unit = ["item_id", *(name for name in apart if name in rows.columns)]
    known = [name for name in rows.columns if name not in ("verdict", "score", "outcome", "n")]
    counts = rows.group_by(*known, LABEL.alias("verdict"), maintain_order=True).agg(
        pl.col("n").sum()
    )
    n = pl.col("n")
    differ = pl.when(n.sum() > 1).then(
        1 - (n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)).cast(pl.Float64)
    )
    units = counts.group_by(known, maintain_order=True).agg(unstable=differ)
    units = units.group_by(unit, maintain_order=True).agg(pl.col("unstable").mean())
    if "confidence" in there:
        names = [name for name in unit if name in there]
        sure = judged.frame.group_by(names).agg(uncertain=1 - pl.col("confidence").mean())
        units = units.join(sure.collect(), on=names, how="left", nulls_equal=True)
    else:
        units = units.with_columns(uncertain=pl.lit(None, pl.Float64))
    seen = rows.filter(SCORED).select(text=LABEL, word=folded(LABEL)).unique().sort("text")
    if seen["word"].is_in([*PASSING, *FAILING]).all():
        return units.sort(unit), ["pass", "fail"]
    numbers = seen["text"].cast(pl.Float64, strict=False)
    if seen.height > _MOST_CHOICES and not numbers.null_count():
        return units.sort(unit), []
    if seen.height > _MOST_CHOICES:
        raise SweepError(
            f"people can choose among at most {_MOST_CHOICES} labels, got {seen.height} verdicts"
        )
    return units.sort(unit), seen["text"].to_list()


def shown_texts(judged: Snapshot, items: str | None) -> pl.DataFrame:
    """Find what is shown of each item: from a file, a run's items, or columns of the judgments."""
    if items is not None:
        found = beside_table(items, "--items")
    elif judged.run is not None:
        found = pl.read_parquet(judged.run.read_bytes("items.parquet"))
    else:
        found = _texts_beside_correction(judged)
    if "item_id" not in found.columns:
        raise SweepError(
            f"items need a column item_id, got {', '.join(found.columns)}", where={"file": items}
        )
    found = found.with_columns(pl.col("item_id").cast(pl.String))
    names = [name for name in ("item_id", "benchmark", "responder") if name in found.columns]
    rows = [
        {**{name: row[name] for name in names}, "parts": _parts_of_correction_page(row)}
        for row in found.iter_rows(named=True)
    ]
    kinds: dict[str, pl.DataType] = {name: found.schema[name] for name in names}
    kinds["parts"] = pl.List(pl.List(pl.String()))
    once = {repr(row): row for row in rows if row["parts"]}
    return pl.DataFrame([*once.values()], schema=kinds)


def _texts_beside_correction(judged: Snapshot) -> pl.DataFrame:
    """The texts that a file of judgments has of each item."""
    there = judged.frame.collect_schema().names()
    names = [name for name in ("item_id", "benchmark", "responder") if name in there]
    shown = [name for name, _ in SHOWN if name in there and name not in names]
    texts = [pl.col(name).cast(pl.String).drop_nulls() for name in shown]
    several = pl.max_horizontal(pl.lit(1), *(one.n_unique() for one in texts)) > 1
    found = judged.frame.group_by(names).agg(*(one.first() for one in texts), several=several)
    table = found.sort("item_id").collect()
    _refuse_several(table.filter("several"))
    return table.drop("several")


def _refuse_several(rows: pl.DataFrame) -> None:
    """Refuse items of which people would see one text of several."""
    if rows.height:
        raise SweepError(
            f"item {rows['item_id'][0]!r} has several texts, expected one question and answer each",
            hint="a column responder in judgments and items where several answered; judgerel items "
            "log FILE where each repeat holds another answer",
        )


def _parts_of_correction_page(row: Mapping[str, object]) -> list[list[str]]:
    """Headings and texts of one item."""
    parts = [[head, str(row[name])] for name, head in SHOWN if row.get(name)]
    options = row.get("options")
    if isinstance(options, list):
        parts += [[f"Option {one['option_id']}", one["text"]] for one in options]
    return [[head, printable(text, lines=True)] for head, text in parts]


def render_label_page(
    chosen: pl.DataFrame, keys: Sequence[str], choices: Sequence[str], *, title: str
) -> str:
    """Fill the page.

    Examples
    --------
    >>> one = pl.DataFrame({"item_id": ["</script><b>"], "probability": [0.5],
    ...                     "parts": [[["Question", "<img src=x>"]]]})
    >>> page = render_label_page(one, ["item_id"], ["pass", "fail"], title="1 item")
    >>> "<img" in page, "</script><b>" in page
    (False, False)
    """
    rows = [
        {"keys": {name: row[name] for name in keys}, "probability": row["probability"],
         "parts": row["parts"]}
        for row in chosen.select(*keys, "probability", "parts").iter_rows(named=True)
    ]  # fmt: skip
    data = {"keys": list(keys), "choices": list(choices), "items": rows}
    name = hashlib.sha256(repr(data).encode()).hexdigest()[:16]
    return rendered_page(
        "analyses/correction/label.html", script="analyses/correction/label.js.html", title=title,
        data={**data, "name": name},
    )  # fmt: skip
