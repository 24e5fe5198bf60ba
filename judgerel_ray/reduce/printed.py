"""Numbers that schroeder2024 printed about judges and answers, each with what it leaves out.

Table 1 is agreement between judges, replication by replication; Table 4 how many of the answers
judged are right; Table 5 the accuracy that a judge gives a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.codes import SHOWN, code_table, is_correctness
from judgerel_ray.reduce.estimates import Group, Row, in_words, noise_columns
from judgerel_ray.reduce.matrix import UnitCounts
from judgerel_ray.reduce.replies import share_interval
from judgerel_ray.stats import Interval, count_statistic
from judgerel_ray.stats.precision import t_quantile

_FIVE = ("min", "q1", "median", "q3", "max")
_SPREADS = {
    "schroeder2024_irr": "agrees",
    "schroeder2024_irr_never_agrees": "never_agrees",
    "schroeder2024_irr_left_out": "left_out",
}
_RULES = {
    "agrees": "as coded: no answer counts as an answer like any other",
    "never_agrees": "no answer never agrees",
    "left_out": "pairs without two answers are left out",
}
_ACCURACY = "schroeder2024_accuracy"
_MONTE_CARLO = "schroeder2024_accuracy_monte_carlo"
_RIGHT = "schroeder2024_right_answers"
PRINTED = (*_SPREADS, _RIGHT, _ACCURACY, _MONTE_CARLO)
"""Tables 1, 4 and 5 by name; the first four are five rows each, from minimum to maximum."""
_NONE = Interval(undefined="undefined")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One number, or why there is none."""

    name: str
    words: str
    value: float | None = None
    interval: Interval = _NONE
    undefined: str | None = None


def printed_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Compute printed numbers of one group.

    Parameters
    ----------
    group : Group
        The group.
    rows : pl.DataFrame
        Its rows, from :func:`judgerel_ray.reduce.codes.read_labels`.
    names : sequence of str
        Some of `PRINTED`.

    Yields
    ------
    Row
        The columns of ``COLUMNS``. ``undefined`` is "single_judge" where judges are compared and
        the group has one (leave the judge out of ``by``), "no_letter_codes" where a verdict has no
        code, "no_right_and_wrong" where verdicts are not correct and incorrect.

    Examples
    --------
    Three judgments of two questions, two of them correct:

    >>> from judgerel_ray.reduce.codes import read_labels
    >>> from judgerel_ray.reduce.matrix import unit_table
    >>> from judgerel_ray.reduce.nesting import nest_rows
    >>> counts = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["correct"] * 2,
    ...                        "score": [None] * 2, "outcome": ["scored"] * 2, "n": [1, 1]})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=2,
    ...               n_outcomes=0)
    >>> told = {"item_id": ["q", "q", "r"], "replication": [0, 1, 0],
    ...         "verdict": ["correct", "correct", "incorrect"]}
    >>> labels = read_labels(pl.LazyFrame(told), list(told), keys=["item_id"], block=0)
    >>> [(row["coefficient"], row["value"]) for row in
    ...  printed_rows(group, labels, ["schroeder2024_right_answers"])][2]
    ('schroeder2024_right_answers_median', 1.0)
    """
    found: list[_Found] = []
    for name in names:
        if name in _SPREADS:
            found += _spread(group, rows, name)
        elif name == _RIGHT:
            found += _right(rows)
        else:
            found.append(_accuracy(group, rows, name))
    for one in found:
        yield {
            "coefficient": one.name,
            "value": one.value,
            "low": one.interval.low,
            "high": one.interval.high,
            **noise_columns(None),
            "measurement": "nominal",
            "missing": None,
            "n_categories": None,
            "n_missing": 0,
            "estimator": in_words(one.words, one.interval, None),
            "undefined": one.undefined,
            **group.basis,
        }


def _spread(group: Group, rows: pl.DataFrame, name: str) -> list[_Found]:
    """Table 1: five numbers of the agreement between judges, over replications."""
    from judgerel_ray.legacy import inter_rater_spread

    rule = _SPREADS[name]
    words = f"agreement of pairs of judges in each replication; {_RULES[rule]}"
    if "judge" not in group.unit:
        return _five(name, words, undefined="single_judge")
    apart = [one for one in group.unit if one not in ("judge", "judge_fingerprint")]
    codes = code_table(rows, unit=apart, raters=["judge"])
    if codes is None:
        return _five(name, words, undefined="no_letter_codes")
    found = inter_rater_spread(codes, non_response=rule)  # type: ignore[arg-type]
    return _five(
        name, words, [*found.summary] if found.summary else None, undefined="no_pair_of_answers"
    )


def _right(rows: pl.DataFrame) -> list[_Found]:
    """Table 4: five numbers of how many verdicts on a question are "correct"."""
    from judgerel_ray.legacy import five_numbers

    words = "verdicts that say correct, by question"
    if not is_correctness(rows):
        return _five(_RIGHT, words, undefined="no_right_and_wrong")
    right = pl.col(SHOWN).str.to_lowercase() == "correct"
    found = five_numbers(rows.group_by("item_id").agg(right.sum().alias("n"))["n"].to_numpy())
    rules = rows["definition"].unique().to_list() if "definition" in rows.columns else []
    if len(rules) == 1 and rules[0]:
        words += f"; rule: {rules[0]}"
    return _five(_RIGHT, words, [*found] if found else None, undefined="no_verdicts")


def _five(
    name: str, words: str, numbers: Sequence[float] | None = None, *, undefined: str
) -> list[_Found]:
    """Five numbers as rows; without them, the reason in each."""
    return [
        _Found(
            name=f"{name}_{one}",
            words=words,
            value=None if numbers is None else float(numbers[place]),
            undefined=undefined if numbers is None else None,
        )
        for place, one in enumerate(_FIVE)
    ]


def _accuracy(group: Group, rows: pl.DataFrame, name: str) -> _Found:
    """Table 5: the accuracy that a judge gives a model, with one of its two errors."""
    from judgerel_ray.legacy import head_to_tail_accuracy

    words = "share of verdicts that say correct; a reply without a verdict says incorrect"
    codes = code_table(rows, unit=group.unit) if is_correctness(rows) else None
    if codes is None:
        return _Found(name=name, words=words, undefined="no_right_and_wrong")
    found = head_to_tail_accuracy(codes)
    if found.value is None:
        return _Found(name=name, words=words, undefined="no_verdicts")
    if name == _ACCURACY:
        interval = _by_question(group, codes)
        error, told = found.sampling_se, "sampling s.e. (other questions might have been asked)"
    else:
        error, told = found.monte_carlo_se, "Monte-Carlo s.e. (as printed)"
        interval = _by_replication(found.value, error, found.n_replications)
    words += f"; {told} {'unknown' if error is None else f'{error:.2g}'}"
    if name == _MONTE_CARLO:
        words += "; WARNING: Monte-Carlo error only, of the same questions asked again"
    return _Found(name=name, words=words, value=found.value, interval=interval)


def _by_question(group: Group, codes_RQ: NDArray[np.float64]) -> Interval:
    """The interval of the accuracy over questions."""
    right = np.nansum(codes_RQ, axis=0).astype(np.int64)
    counts = np.stack([right, (~np.isnan(codes_RQ)).sum(axis=0) - right], axis=1)
    found = UnitCounts(
        counts_UV=counts, values=("correct", "incorrect"), clusters_U=group.table.clusters_U
    )
    return share_interval(found, count_statistic("valid_rate", n_values=2))


def _by_replication(value: float, error: float | None, n: int) -> Interval:
    """The interval of the accuracy over replications of the same questions."""
    if error is None:
        return Interval(undefined="single_replication", n_questions=n)
    if error < 1e-12:
        return Interval(undefined="replications_all_alike", n_questions=n)
    half = t_quantile(n - 1, 0.95) * error
    return Interval(
        low=max(0.0, value - half),
        high=min(1.0, value + half),
        method=f"t over {n} replications",
        n_questions=n,
    )
