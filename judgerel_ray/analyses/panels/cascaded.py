"""What a cascade did that was asked as one: who answered how much, how well, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from judgerel_ray.core import CHOSEN
from judgerel_ray.counting.policy import NOISE_ABOVE
from judgerel_ray.stats.intervals.interval import Share, clustered_share
from judgerel_ray.stats.selective.chance_floors import accuracy_floor

GROUP = ("benchmark", "template", "temperature")
"""Columns that tell cascades apart."""
PERSON = "a person"
WHOLE = "all of it"
_SPENT = ("cost", "prompt_tokens", "completion_tokens")
_FLOAT, _INT, _TEXT = pl.Float64(), pl.Int64(), pl.String()
SCHEMA: dict[str, pl.DataType] = {
    "benchmark": _TEXT, "template": _TEXT, "temperature": _FLOAT, "asked": _TEXT,
    "threshold": _FLOAT, "n_questions": _INT, "n_asked": _INT, "n_answered": _INT,
    "answered": _FLOAT, "answered_low": _FLOAT, "answered_high": _FLOAT, "n_right": _INT,
    "accuracy": _FLOAT, "low": _FLOAT, "high": _FLOAT, "interval": _TEXT, "noise_floor": _FLOAT,
    "noise_floor_sd": _FLOAT, "p_noise": _FLOAT, "noise": pl.Boolean(), "spent": _FLOAT,
    "unit": _TEXT,
}  # fmt: skip


def cascaded_table(
    rows: pl.DataFrame, gold: pl.DataFrame, *, order: Sequence[str], threshold: float
) -> pl.DataFrame:
    """Tell what each model of a cascade was asked, what it answered, and what that was worth.

    Parameters
    ----------
    rows : DataFrame
        Judgments of one think_twice ask with a cascade: item_id, judge, stage, replication,
        verdict, confidence, the columns of `GROUP`, tokens and cost; of every block.
    gold : DataFrame
        benchmark, item_id, and gold: the right option, null where nobody knows it.
    order : sequence of str
        Who was asked first, and next.
    threshold : float
        Confidence from which an answer counted.

    Returns
    -------
    DataFrame
        A row for each model, one for what was left to a person, and one for all of it.
        ``n_asked`` counts questions times replications; ``accuracy`` is of the answers given to
        questions with a gold answer, its interval by question, its noise floor that of the same
        answers shuffled across questions; ``spent`` is the mean of one question put to the cascade
        (in "cost" where every row has one, else in "tokens", else null), both steps together.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "benchmark": ["b"] * 3, "template": ["t"] * 3, "temperature": [0.0] * 3,
    ...     "item_id": ["q", "r", "r"], "judge": ["s", "s", "l"], "stage": ["choose"] * 3,
    ...     "replication": [0] * 3, "verdict": ["1", "2", "2"], "confidence": [0.9, 0.3, 0.8],
    ...     "prompt_tokens": [10] * 3, "completion_tokens": [5] * 3})
    >>> gold = pl.DataFrame({"benchmark": ["b"] * 2, "item_id": ["q", "r"], "gold": ["1", "3"]})
    >>> cascaded_table(rows, gold, order=["s", "l"], threshold=0.5).select(
    ...     "asked", "n_asked", "n_answered", "n_right", "spent").rows()
    [('s', 2, 1, 1, 15.0), ('l', 1, 1, 0, 7.5), ('a person', 0, 0, 0, 0.0), \
('all of it', 2, 2, 1, 22.5)]
    """
    found: list[dict[str, object]] = []
    if "completion_tokens" in rows.columns:
        # A step that could not be asked was never sent: it cost nothing, though nothing says so.
        unsent = (pl.col("completion_tokens") == 0).fill_null(False)
        costs = [name for name in _SPENT if name in rows.columns]
        rows = rows.with_columns(
            pl.when(unsent).then(pl.col(name).fill_null(0)).otherwise(name).alias(name)
            for name in costs
        )
    there = [name for name in _SPENT if name in rows.columns and not rows[name].null_count()]
    unit = "cost" if "cost" in there else "tokens" if len(there) == 2 else None
    spent = {
        "cost": pl.col("cost"),
        "tokens": pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in _SPENT[1:]),
        None: pl.lit(None, dtype=pl.Float64),
    }[unit]
    known = rows.with_columns(spent=spent).join(
        gold.select("benchmark", "item_id", pl.col("gold").cast(pl.String)),
        on=["benchmark", "item_id"],
        how="left",
        maintain_order="left",
    )
    for key, group in known.sort(GROUP, maintain_order=True).group_by(GROUP, maintain_order=True):
        named = dict(zip(GROUP, key, strict=True))
        told = {**named, "threshold": threshold, "unit": unit}
        found += [{**told, **row} for row in _rows(group, order, threshold)]
    return pl.DataFrame(found, schema=SCHEMA)


def _rows(
    group: pl.DataFrame, order: Sequence[str], threshold: float
) -> Iterator[dict[str, object]]:
    """One cascade, model by model, and all of it."""
    chosen = group.filter(pl.col("stage") == CHOSEN)
    sure = (pl.col("confidence") >= threshold) & pl.col("verdict").is_not_null()
    first = chosen.filter(pl.col("judge") == order[0])
    n_put = first.height
    answers = []
    for name in order:
        asked_rows = chosen.filter(pl.col("judge") == name).with_columns(sure=sure.fill_null(False))
        took = float(group.filter(pl.col("judge") == name)["spent"].sum())
        answers.append(asked_rows.filter("sure"))
        share = clustered_share(
            asked_rows["sure"].to_numpy(), clusters_N=asked_rows["item_id"].to_numpy()
        )
        yield {"asked": name, **_told(asked_rows, answers[-1], share), **_spent(group, took, n_put)}
    given = pl.concat(answers)
    asked = first.select("item_id", "replication").join(
        given.select("item_id", "replication"), on=["item_id", "replication"], how="anti"
    )
    left = first.join(asked, on=["item_id", "replication"], how="semi")
    nobody = clustered_share([], clusters_N=[])
    yield {"asked": PERSON, **_told(left, left.clear(), nobody), **_spent(group, 0.0, n_put)}
    is_answered = first.select(
        pl.struct("item_id", "replication").is_in(
            given.select(pl.struct("item_id", "replication").alias("one"))["one"].implode()
        )
    ).to_series()
    share = clustered_share(is_answered.to_numpy(), clusters_N=first["item_id"].to_numpy())
    took = float(group["spent"].sum())
    yield {"asked": WHOLE, **_told(first, given, share), **_spent(group, took, n_put)}


def _spent(group: pl.DataFrame, took: float, n_put: int) -> dict[str, object]:
    """The mean of a question put to the cascade; None where nothing says what replies took."""
    if not n_put or group["spent"].null_count() == group.height:
        return {"spent": None}
    return {"spent": took / n_put}


def _told(asked: pl.DataFrame, given: pl.DataFrame, answered: Share) -> dict[str, object]:
    """Counts, the share answered, and how much of it is right."""
    known = given.filter(pl.col("gold").is_not_null())
    right = (known["verdict"] == known["gold"]).to_numpy()
    worth = clustered_share(right, clusters_N=known["item_id"].to_numpy())
    names = pl.Enum(pl.concat([known["verdict"], known["gold"]]).unique().sort())
    verdicts, gold = (known[one].cast(names).to_physical() for one in ("verdict", "gold"))
    items = known["item_id"].to_numpy().astype(np.str_)
    _, first, question = np.unique(items, return_index=True, return_inverse=True)
    floor = accuracy_floor(verdicts.to_numpy(), question, gold.to_numpy()[first])
    return {
        "n_questions": asked["item_id"].n_unique(),
        "n_asked": asked.height,
        "n_answered": given.height,
        "answered": answered.value,
        "answered_low": answered.low,
        "answered_high": answered.high,
        "n_right": worth.k,
        "accuracy": worth.value,
        "low": worth.low if worth.n else None,
        "high": worth.high if worth.n else None,
        "interval": worth.method,
        "noise_floor": floor.mean,
        "noise_floor_sd": floor.sd,
        "p_noise": floor.p,
        "noise": None if floor.p is None else floor.p > NOISE_ABOVE,
    }
