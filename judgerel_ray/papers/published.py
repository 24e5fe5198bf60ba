"""What was published, by name: numbers of schroeder2024, always with its warning.

Table 1 is agreement between judges, replication by replication; Table 4 how many of the answers
judged are right; Table 5 the accuracy that a judge gives a model. Each is of single rows of
judgments, which counts do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core.codes import Flag, IntervalMethod, Noted, NullMethod
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.counted import LETTER, REPLICATION, Group
from judgerel_ray.counting.groups.matrix import UnitCounts
from judgerel_ray.counting.intervals import share_interval
from judgerel_ray.counting.verdicts.policy import Row, floor_columns, method_columns
from judgerel_ray.papers.estimator import (
    codes_from_verdicts,
    schroeder2024,
    schroeder2024_noise_floor,
)
from judgerel_ray.papers.summaries import (
    FiveNumbers,
    five_numbers,
    head_to_tail_accuracy,
    inter_rater_spread,
)
from judgerel_ray.stats import Interval, NoiseFloor, count_statistic
from judgerel_ray.stats.intervals.ends import t_quantile


def code_table(
    rows: pl.DataFrame, *, unit: Sequence[str], raters: Sequence[str] = ()
) -> NDArray[np.float64] | None:
    """Lay out the codes of one group, or None where a verdict has no code.

    Shape (n_replications, n_units). With raters (n_raters, n_replications, n_units). All sorted;
    NaN where there is no row.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r"], "replication": [1, 0, 0],
    ...                      "verdict": ["B", "A", None]})
    >>> from judgerel_ray.counting.counted import read_codes
    >>> labels = read_codes(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> code_table(labels, unit=["item_id"]).tolist()
    [[1.0, 6.0], [2.0, nan]]
    """
    try:
        codes = codes_from_verdicts(
            rows[LETTER].to_list(),
            rows["outcome"].to_list(),
            coding="correctness" if is_correctness(rows) else "letters",
        )
    except ValueError:
        return None
    axes = [list(raters)] if raters else []
    place = [
        rows.select(columns).join(
            rows.select(columns).unique().sort(columns).with_row_index("__place"),
            on=columns, nulls_equal=True, maintain_order="left",
        )["__place"]
        for columns in (*axes, [REPLICATION], list(unit))
    ]  # fmt: skip
    shape = [int(places.max() or 0) + 1 for places in place]  # type: ignore[arg-type]
    table = np.full(shape, np.nan)
    table[tuple(places.to_numpy() for places in place)] = codes
    return table


def is_correctness(rows: pl.DataFrame) -> bool:
    """Tell whether verdicts are correct and incorrect.

    Examples
    --------
    >>> is_correctness(pl.DataFrame({"__label": ["Correct", None]}))
    True
    """
    shown = rows[LETTER].drop_nulls().str.to_lowercase().unique()
    all_shown = of_protocols(lambda one: one.shows_gold).fill_null(False).all() & (pl.len() > 0)
    words = not shown.is_empty() and set(shown) <= {"correct", "incorrect"}
    return words or ("protocol" in rows.columns and bool(rows.select(all_shown).item()))


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
_NONE = Interval(undefined="undefined")


def _published_paper_row(
    group: Group, name: str, words: str, value: float | None = None, *, undefined: str | None,
    interval: Interval = _NONE, floor: NoiseFloor | None = None, noted: Sequence[Noted] = (),
    measurement: str = "nominal", n_missing: int = 0,
) -> Row:  # fmt: skip
    """One number, or why there is none."""
    return {
        "coefficient": name,
        "value": value,
        "low": interval.low,
        "high": interval.high,
        **floor_columns(floor),
        "measurement": measurement,
        "missing": None,
        "n_categories": None,
        "n_missing": n_missing,
        **method_columns(words, interval, floor, noted=noted),
        "undefined": undefined,
        **group.sample,
    }


def _published_judge_agreement(group: Group, rows: pl.DataFrame, name: str) -> Iterator[Row]:
    """Table 1: five numbers of the agreement between judges, over replications."""
    rule = _SPREADS[name]
    words = f"agreement of pairs of judges in each replication; {_RULES[rule]}"
    if "judge" not in group.unit:
        return _five_numbers_of_paper(group, name, words, undefined="single_judge")
    apart = [one for one in group.unit if one not in ("judge", "judge_fingerprint")]
    codes = code_table(rows, unit=apart, raters=["judge"])
    if codes is None:
        return _five_numbers_of_paper(group, name, words, undefined="no_letter_codes")
    found = inter_rater_spread(codes, non_response=rule)  # type: ignore[arg-type]
    return _five_numbers_of_paper(group, name, words, found.summary, undefined="no_pair_of_answers")


def _published_correct_counts(group: Group, rows: pl.DataFrame) -> Iterator[Row]:
    """Table 4: five numbers of how many verdicts on a question are "correct"."""
    words = "verdicts that say correct, by question"
    if not is_correctness(rows):
        return _five_numbers_of_paper(group, _RIGHT, words, undefined="no_right_and_wrong")
    right = pl.col(LETTER).str.to_lowercase() == "correct"
    found = five_numbers(rows.group_by("item_id").agg(right.sum().alias("n"))["n"].to_numpy())
    rules = rows["definition"].unique().to_list() if "definition" in rows.columns else []
    if len(rules) == 1 and rules[0]:
        words += f"; rule: {rules[0]}"
    return _five_numbers_of_paper(group, _RIGHT, words, found, undefined="no_verdicts")


def _five_numbers_of_paper(
    group: Group, name: str, words: str, numbers: FiveNumbers | None = None, *, undefined: str
) -> Iterator[Row]:
    """Five numbers as rows; without them, the reason in each."""
    why = None if numbers else undefined
    for one, value in zip(_FIVE, numbers or repeat(None), strict=False):
        yield _published_paper_row(group, f"{name}_{one}", words, value, undefined=why)


def _published_paper_accuracy(group: Group, rows: pl.DataFrame, name: str) -> Row:
    """Table 5: the accuracy that a judge gives a model, with one of its two errors."""
    words = "share of verdicts that say correct; a reply without a verdict says incorrect"
    codes = code_table(rows, unit=group.unit) if is_correctness(rows) else None
    if codes is None:
        return _published_paper_row(group, name, words, undefined="no_right_and_wrong")
    found = head_to_tail_accuracy(codes)
    if found.value is None:
        return _published_paper_row(group, name, words, undefined="no_verdicts")
    if name == _ACCURACY:
        interval = _paper_accuracy_by_question(group, codes)
        error = found.sampling_se
        error_name = "sampling s.e. (other questions might have been asked)"
    else:
        error, error_name = found.monte_carlo_se, "Monte-Carlo s.e. (as printed)"
        interval = _by_replication(found.value, error, found.n_replications)
    words += f"; {error_name} {'unknown' if error is None else f'{error:.2g}'}"
    noted: list[Noted] = [(Flag.MONTE_CARLO_ONLY, ())] if name == _MONTE_CARLO else []
    return _published_paper_row(
        group, name, words, found.value, undefined=None, interval=interval, noted=noted
    )


def _paper_accuracy_by_question(group: Group, codes_RQ: NDArray[np.float64]) -> Interval:
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
        kind=IntervalMethod.T_REPLICATIONS,
        n_questions=n,
    )


_ESTIMATOR = ("schroeder2024_alpha", "schroeder2024_omega")


def published_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Compute what was published of one group, as its authors did.

    A row a name, or five of a table that is told from minimum to maximum, whatever is missing:
    the authors have their own rule for that. ``undefined`` is "no_letter_codes" where verdicts are
    other than A to E, "no_right_and_wrong" where they are not correct and incorrect, and
    "single_judge" where judges are compared and the group has one (leave it out of ``by``).

    Examples
    --------
    >>> from judgerel_ray.counting.counted import read_codes
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> counts = pl.DataFrame({"item_id": ["q"], "verdict": ["7"], "score": [None],
    ...                        "outcome": ["scored"], "n": [1]})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=1,
    ...               n_outcomes=0)
    >>> labels = read_codes(pl.LazyFrame({"item_id": ["q"], "replication": [0],
    ...                                    "verdict": ["7"]}),
    ...                      ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> [row["undefined"] for row in published_rows(group, labels, ["schroeder2024_alpha"])]
    ['no_letter_codes']
    """
    for name in names:
        if name in _SPREADS:
            yield from _published_judge_agreement(group, rows, name)
        elif name == _RIGHT:
            yield from _published_correct_counts(group, rows)
        elif name not in _ESTIMATOR:
            yield _published_paper_accuracy(group, rows, name)
    if wanted := [name for name in names if name in _ESTIMATOR]:
        yield from _estimator_rows(group, rows, wanted)


def _estimator_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Alpha and omega of one group."""
    codes = code_table(rows, unit=group.unit)
    found = None if codes is None else schroeder2024(codes)
    noise = None if codes is None else schroeder2024_noise_floor(codes, observed=found)
    for name in names:
        omega = name.endswith("omega")
        null = (noise.omega if omega else noise.alpha) if noise else None
        words = ["schroeder2024"]
        noted: list[Noted] = [(Flag.PUBLISHED, ())]
        if null and null.n_failed:
            noted.append((Flag.PERMUTATIONS_UNDEFINED, (null.n_failed,)))
        if found:
            words.append(
                f"{found.n_varying} of {found.n_questions} questions vary, {found.n_constant} that "
                f"do not count as 1, {found.n_silent} never answered are dropped"
            )
        if omega and found and found.n_improper:
            words.append(f"{found.n_improper} uniquenesses below 0")
        value, why = (None, "no_letter_codes") if found is None else (
            (found.omega, found.omega_undefined) if omega else (found.alpha, found.alpha_undefined)
        )  # fmt: skip
        floor = None if null is None else NoiseFloor(
            mean=null.mean, sd=null.sd, p=null.p, n_permutations=null.n_permutations,
            kind=NullMethod.QUESTION_SHUFFLES if null.n_permutations else None,
        )  # fmt: skip
        yield _published_paper_row(
            group, name, "; ".join(words), value, undefined=why, floor=floor, noted=noted,
            measurement="interval", n_missing=0 if codes is None else int(np.isnan(codes).sum()),
        )  # fmt: skip
