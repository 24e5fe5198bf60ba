"""What a judge replied to the questions on which it wavers most, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import shorten
from typing import TypeAlias

import polars as pl

from judgerel_ray.analyses.reliability.from_run import Judged, unread_damage
from judgerel_ray.analyses.reliability.page import Questions, question_text
from judgerel_ray.blocks.blocks import Block, Column, Folded, Table
from judgerel_ray.blocks.words import cell, group_label
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.verdicts.policy import LABEL, SCORED
from judgerel_ray.store import scan_completions

_EACH = 3  # replies of one verdict
_LONGEST = 600
Replies: TypeAlias = Mapping[tuple[object, ...], pl.DataFrame]
"""Replies by unit: ``replication`` where recorded, ``verdict``, ``text`` where that is known."""


def replies_to(judged: Judged, unstable: pl.DataFrame) -> Replies:
    """Read what was replied to questions, at most three replies of each verdict.

    Effects: reads, of a run also the texts of these replies.

    Parameters
    ----------
    judged : Judged
        Judgments.
    unstable : pl.DataFrame
        From :func:`judgerel_ray.analyses.reliability.questions.least_stable`.
    """
    units = unstable.filter(pl.col("agreement") < 1)
    names = units.columns[: units.columns.index("agreement")]
    if units.is_empty():
        return {}
    frame = judged.keyed()
    schema = frame.collect_schema()
    lacking = {"verdict": pl.String(), "score": pl.Float64(), "outcome": pl.String()}
    rows = frame.filter(is_judge(schema.names())).with_columns(
        pl.lit(None, kind).alias(name) for name, kind in lacking.items() if name not in schema
    )
    if "outcome" not in schema:
        answered = pl.col("verdict").is_not_null() | pl.col("score").is_not_null()
        rows = rows.with_columns(
            outcome=pl.when(answered).then(pl.lit("scored")).otherwise(pl.lit("unparsed"))
        )
    kept = ["replication"] if "replication" in schema else []
    verdict = pl.when(SCORED).then(LABEL.cast(pl.String)).otherwise(pl.format("({})", "outcome"))
    rows = rows.join(units.lazy().select(names), on=names, how="semi", nulls_equal=True)
    keyed = ["key"] if judged.run is not None and "key" in schema else []
    found = rows.select(*names, *kept, *keyed, said=verdict).collect(engine="streaming")
    order = [*names, "said", *kept]
    found = found.sort(order).group_by([*names, "said"], maintain_order=True).head(_EACH)
    # A run whose numbers stand without a damaged file shows its verdicts alone.
    if judged.run is not None and keyed and unread_damage(judged.run) is None:
        texts = scan_completions(judged.run, columns=("key", "text"))
        wanted = texts.join(found.lazy().select("key"), on="key", how="semi").collect()
        found = found.join(wanted, on="key", how="left").sort(order)
    return found.drop(keyed).partition_by(names, as_dict=True, include_key=False)


def reply_blocks(
    replies: Replies, unstable: pl.DataFrame, questions: Questions | None
) -> list[Block]:
    """Lay replies out, a question folded under its name.

    Examples
    --------
    >>> reply_blocks({}, pl.DataFrame({"item_id": ["q"], "agreement": [0.0]}), None)
    []
    """
    names = unstable.columns[: unstable.columns.index("agreement")]
    found: list[Block] = []
    for row in unstable.to_dicts():
        part = replies.get(tuple(row[name] for name in names))
        if part is None:
            continue
        where = group_label(row, [name for name in names if name != "item_id"
                                  and row[name] is not None])  # fmt: skip
        name = question_text(row, questions or {}) or str(row["item_id"])
        columns = [
            Column(head="verdict", cells=[str(one) for one in part["said"]]),
            *(
                [Column(head="replication", cells=[cell(one) for one in part["replication"]])]
                if "replication" in part.columns
                else []
            ),
            *(
                [
                    Column(
                        head="reply", cells=[_shortened(one) for one in part["text"]], kind="prose"
                    )
                ]
                if "text" in part.columns
                else []
            ),
        ]
        caption = "Replies, at most three of each verdict"
        label = f"{name} ({where})" if where else name
        found.append(Folded(label, [Table(caption, columns)]))
    return found


def _shortened(text: str | None) -> str:
    """A reply as far as it is shown."""
    return shorten(text or "", _LONGEST, placeholder=" \u2026")
