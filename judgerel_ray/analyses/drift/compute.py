"""Changes between the judgments of two refreshes, and in the model behind the judge's name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtrit

from judgerel_ray.core import digest
from judgerel_ray.stats.drift import PERMUTATIONS, exchangeability

Row = dict[str, Any]

SAMPLED_BY = ("temperature", "top_k", "top_p")
"""Settings of the sweep that change verdicts of the same prompt."""
CONDITION = (
    "benchmark", "item_id", "protocol", "stage", "role", "responder", "criterion", "definition",
    "scale", "template", *SAMPLED_BY, "option_order", "content",
)  # fmt: skip
"""What is held fixed while a judge is asked again; its fingerprint may change, its name not.

``content`` is the question's own, of :func:`with_content`: an edited one is another question."""
_JUDGE_KEYS = [name for name in CONDITION if name not in ("item_id", "option_order", "content")]
COLUMNS = ("judge", *CONDITION[:-1], "replication", "block", "verdict", "label", "score", "outcome")
"""What of judgments is read."""
QUESTION = ("benchmark", "item_id")
_SHOWN = ("question", "context", "turns", "options")
"""What of an item judges are shown, besides its gold."""
SCORED_OF = ("responder", "criterion", "scale")
"""Scores are of each of these apart."""
MOST_SHARES = 12
"""Verdicts whose shares are followed; menus with more are each question's own."""
FEWEST_QUESTIONS = 5


def verdict_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep what tells of a judge: replies that were asked a fixed number of times and arrived.

    ``value`` is the label as shown, else the verdict, else the number, else what became of it.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": "j", "outcome": ["scored", "refused", None, "failed"],
    ...     "block": 0, "label": ["A", None, None, None], "verdict": ["x", None, None, None],
    ...     "score": [None] * 4}, schema_overrides={"score": pl.Float64})
    >>> verdict_rows(rows)["value"].to_list()
    ['A', '(refused)']
    """
    kept = (pl.col("outcome") != "failed").fill_null(False) & (pl.col("block") == 0)
    number = pl.col("score").cast(pl.String)
    value = pl.coalesce("label", "verdict", number, pl.format("({})", "outcome"))
    return frame.filter(kept).with_columns(value=value)


def with_content(
    rows: pl.DataFrame, items: pl.DataFrame | None, *, showing_gold: Collection[str]
) -> pl.DataFrame:
    """Add to verdicts the digest of what each question says; null where the items are unknown.

    Examples
    --------
    >>> row = {"benchmark": "b", "item_id": "q", "protocol": "p"}
    >>> item = {"benchmark": "b", "item_id": "q", "question": "?", "context": None, "turns": [],
    ...         "options": [], "gold": "x"}
    >>> found = [with_content(pl.DataFrame([row]), pl.DataFrame([item | {"question": words}]),
    ...                       showing_gold=()) for words in ("?", "?", "!")]
    >>> [one["content"].item() == found[0]["content"].item() for one in found]
    [True, True, False]
    """
    if items is None:
        return rows.with_columns(content=pl.lit(None, pl.String))
    shown = [
        {
            **{name: row[name] for name in QUESTION},
            "__plain": digest({name: row.get(name) for name in _SHOWN}),
            "__whole": digest({name: row.get(name) for name in (*_SHOWN, "gold")}),
        }
        for row in items.iter_rows(named=True)
    ]
    schema = {name: rows.schema[name] for name in QUESTION}
    schema |= {"__plain": pl.String(), "__whole": pl.String()}  # an empty table has no rows to tell
    says = pl.DataFrame(shown, schema=schema)
    joined = rows.join(says, on=QUESTION, how="left", maintain_order="left")
    with_gold = pl.col("protocol").is_in(list(showing_gold))
    content = pl.when(with_gold).then("__whole").otherwise("__plain")
    return joined.with_columns(content=content).drop("__plain", "__whole")


def edited(before: pl.DataFrame, now: pl.DataFrame) -> list[str]:
    """Ids of questions that say other things than before.

    Examples
    --------
    >>> rows = pl.DataFrame({"benchmark": "b", "item_id": ["q", "r"], "content": ["x", "y"]})
    >>> edited(rows, rows.with_columns(content=pl.lit("y")))
    ['q']
    """
    sides = [
        one.select(*QUESTION, "content").drop_nulls("content").unique() for one in (before, now)
    ]
    both = sides[1].join(sides[0].select(QUESTION).unique(), on=QUESTION, how="semi")
    other = both.join(sides[0], on=[*QUESTION, "content"], how="anti")
    return other["item_id"].unique().sort().to_list()


def judge_drift(old: pl.DataFrame, new: pl.DataFrame, *, name: str) -> list[Row]:
    """Test, judge by judge, whether new judgments of the anchors are of the same judge as old ones.

    At temperature 0 repeats inside a refresh are alike for reasons of their own, so one of them
    counts. Replies sampled by settings that only one side has, such as another temperature, are
    compared with those that only the other has: a changed setting is a change like any other.

    Examples
    --------
    >>> columns = dict.fromkeys(CONDITION, "x") | {"judge": "j", "temperature": 1.0}
    >>> rows = pl.DataFrame([columns | {"item_id": f"q{n}", "value": "A", "replication": 0}
    ...                      for n in range(9) for _ in range(6)])
    >>> moved = rows.with_columns(value=pl.lit("B"))
    >>> judge_drift(rows, moved, name="s")[0]["p"] < 0.001
    True
    """
    found = []
    for (judge,), newer in new.group_by("judge", maintain_order=True):
        earlier = old.filter(pl.col("judge") == judge)
        old_UV, new_UV = _drift_verdict_counts(
            _once_greedy(earlier, all_of=True), _once_greedy(newer)
        )
        seed = int(digest({"series": name, "judge": str(judge)})[:16], 16)
        test = exchangeability(
            old_UV, new_UV, rng=np.random.default_rng(seed), permutations=PERMUTATIONS
        )
        found.append(
            {
                "judge": judge,
                "p": test.p,
                "n_informative": test.n_informative,
                "n_questions": newer.select(pl.struct(QUESTION).n_unique()).item(),
                "n_judgments": newer.height,
            }
        )
    return sorted(found, key=lambda row: str(row["judge"]))


def usual_verdicts(rows: pl.DataFrame) -> list[Row]:
    """Find each judge's most frequent verdict, and its share of all.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": "j", "value": ["A", "A", "A", "B"]})
    >>> usual_verdicts(rows)
    [{'judge': 'j', 'value': 'A', 'share': 0.75}]
    """
    counts = rows.group_by("judge", "value").len()
    share = pl.col("len") / pl.col("len").sum().over("judge")
    shares = counts.with_columns(share=share).sort(
        "judge", "share", "value", descending=[False, True, False]
    )
    return shares.group_by("judge", maintain_order=True).first().drop("len").to_dicts()


def near_constant(usual: Sequence[Row], share: float) -> list[str]:
    """Warn of judges that give one verdict nearly always, a line each.

    Examples
    --------
    >>> near_constant([{"judge": "j", "value": "A", "share": 0.99}], 0.95)
    ['judge j is near-constant: 99 % of its verdicts are A, so no case is told from another']
    """
    return [
        f"judge {one['judge']} is near-constant: {one['share']:.0%} of its verdicts are "
        f"{one['value']}, so no case is told from another".replace("%", " %", 1)
        for one in usual
        if one["share"] >= share
    ]


def score_differences(before: pl.DataFrame, now: pl.DataFrame, *, level: float) -> list[Row]:
    """Differences of mean scores, or of shares of verdicts, paired by question.

    Only replies sampled by the same settings are paired: what another temperature changes is of no
    system. Intervals are t intervals of question differences; all of one judge hold together with a
    chance of 1 - `level`.

    ``judge, group, measure, value, difference, difference_low, difference_high, n_questions``; no
    interval below five questions.

    Examples
    --------
    >>> rows = pl.DataFrame([{"judge": "j", "benchmark": "b", "item_id": str(n), "outcome":
    ...     "scored", "verdict": "v", "score": float(n),
    ...     **dict.fromkeys((*SCORED_OF, *SAMPLED_BY))} for n in range(6)])
    >>> later = rows.with_columns(pl.col("score") + 1.0)
    >>> [(one["measure"], one["difference"]) for one in score_differences(rows, later, level=0.05)]
    [('mean_score', 1.0)]
    """
    found = []
    for judge in now["judge"].unique().sort():
        sides = [one.filter(pl.col("judge") == judge) for one in (before, now)]
        made = list(_drift_question_means(sides))
        for group, measure, values in made:
            found.append(
                {"judge": judge, "group": group, "measure": measure}
                | _mean_drift_with_interval(values, level / len(made))
            )
    return found


def level_spent(level: float, look: int) -> float:
    """Error that one look may spend, of however many: all together spend `level`.

    Examples
    --------
    >>> round(sum(level_spent(0.05, look) for look in range(1, 10_000)), 3)
    0.05
    """
    return level / (look * (look + 1))


def _once_greedy(rows: pl.DataFrame, *, all_of: bool = False) -> pl.DataFrame:
    """One reply of each condition at temperature 0, of a refresh or of each of `all_of` them."""
    keys = ["judge", *CONDITION, *(["refresh"] if all_of and "refresh" in rows.columns else [])]
    greedy = rows.filter(pl.col("temperature") == 0.0).sort("replication")
    once = greedy.unique(keys, keep="first", maintain_order=True)
    return pl.concat([rows.filter(pl.col("temperature") != 0.0), once])


def _drift_verdict_counts(old: pl.DataFrame, new: pl.DataFrame) -> tuple[Any, Any]:
    """Verdicts of both times by condition and value, in one order."""
    columns = [*CONDITION, "value"]
    both = pl.concat(
        [old.select(*columns, side=pl.lit(0)), new.select(*columns, side=pl.lit(1))],
        how="vertical_relaxed",
    )
    of_both = pl.col("side").n_unique().over(_JUDGE_KEYS) == 2  # old and new
    both = both.with_columns(pl.when(of_both).then(pl.col(name)).alias(name) for name in SAMPLED_BY)
    ranked = both.select(
        "side",
        condition=pl.struct(CONDITION).rank("dense").cast(pl.Int64) - 1,
        value=pl.col("value").rank("dense").cast(pl.Int64) - 1,
    )
    shape = tuple(int(one) + 1 if one is not None else 0 for one in ranked.max().row(0)[1:])
    counts = np.zeros((2, *shape), dtype=np.int64)
    np.add.at(counts, tuple(ranked[name].to_numpy() for name in ranked.columns), 1)
    return counts[0], counts[1]


def _drift_question_means(sides: Sequence[pl.DataFrame]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Question means of what both sides have: of scores, else of each verdict's share."""
    scored = [one.filter(pl.col("outcome") == "scored") for one in sides]
    groups = pl.concat([one.select(SCORED_OF) for one in scored]).unique().sort(SCORED_OF)
    for group in groups.iter_rows(named=True):
        same = pl.all_horizontal(pl.col(key).eq_missing(value) for key, value in group.items())
        before, now = (one.filter(same) for one in scored)
        name = ", ".join(f"{key} {value}" for key, value in group.items() if value is not None)
        if not (before["score"].null_count() or now["score"].null_count()):
            yield name, "mean_score", _drift_means_by_question(before, now, pl.col("score"))
            continue
        verdicts = pl.concat([before["verdict"], now["verdict"]]).unique().sort()
        for verdict in verdicts if len(verdicts) <= MOST_SHARES else ():
            share = (pl.col("verdict") == verdict).cast(pl.Float64)
            yield name, f"share:{verdict}", _drift_means_by_question(before, now, share)


def _drift_means_by_question(
    before: pl.DataFrame, now: pl.DataFrame, value: pl.Expr
) -> pl.DataFrame:
    """Means of the questions of both sides, of replies sampled by what both sides have."""
    same = [*QUESTION, *SAMPLED_BY]
    sides = (
        before.join(now.select(same).unique(), on=same, how="semi", nulls_equal=True),
        now.join(before.select(same).unique(), on=same, how="semi", nulls_equal=True),
    )
    first, second = (
        side.group_by(QUESTION).agg(value.mean().alias(name))
        for side, name in zip(sides, ("before", "now"), strict=True)
    )
    return first.join(second, on=QUESTION).sort(QUESTION)


def _mean_drift_with_interval(values: pl.DataFrame, level: float) -> Row:
    """The mean difference and its interval."""
    difference = (values["now"] - values["before"]).to_numpy()
    n = difference.size
    found: Row = {"value": values["now"].mean(), "n_questions": n, "difference": None,
                  "difference_low": None, "difference_high": None}  # fmt: skip
    if not n:
        return found
    mean = float(difference.mean())
    found["difference"] = mean
    if n >= FEWEST_QUESTIONS:
        half = float(stdtrit(n - 1, 1 - level / 2) * difference.std(ddof=1) / np.sqrt(n))
        found |= {"difference_low": mean - half, "difference_high": mean + half}
    return found
