"""Systems compared on the questions both were asked: always joined by question, never by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import polars as pl

from judgerel_ray.analyses.selection.tables import EqualAcceptances, SystemPairs
from judgerel_ray.core import SweepError
from judgerel_ray.counting.intervals import check_resamples
from judgerel_ray.measuring.systems import (
    ANSWER_RULES,
    CONFIDENCES,
    AnswerRule,
    System,
    joined_accuracy,
    one_answer,
)
from judgerel_ray.stats.intervals.judge_differences import holm
from judgerel_ray.stats.selective.systems import (
    SHARES,
    EqualAcceptance,
    PairedAccuracy,
    checked_answers,
    equal_acceptance,
)

_ROLES = ("responder", "judge", "participant", "evaluator_only")
_SHOWN = tuple(round(0.1 * step, 1) for step in range(1, 11))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared.

    ``answer`` of a question asked several times: its first reply, or the majority. ``confidence``
    by which answers are accepted (None: the first that both have), ``resamples`` and ``seed`` of
    the bootstrap. ``answer_temperature``: of the answers that judges compared, where models
    answered at several.
    """

    answer: AnswerRule = "first"
    confidence: str | None = None
    resamples: int = 2000
    seed: int = 0
    answer_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.answer not in ANSWER_RULES:
            raise SweepError(f"answer must be of {', '.join(ANSWER_RULES)}, got {self.answer!r}")
        if self.confidence is not None and self.confidence not in CONFIDENCES:
            raise SweepError(
                f"confidence must be of {', '.join(CONFIDENCES)}, got {self.confidence!r}"
            )
        check_resamples(self.resamples)


def pair_tables(
    systems: Sequence[System], options: ComparisonOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare systems two by two.

    Exact McNemar with Holm's adjustment, and the mean difference of error over the shares accepted
    that both reach, with the interval of questions drawn anew for both at once.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> rows = pl.LazyFrame({"judge": ["a", "a", "b", "b"], "item_id": ["q", "r", "r", "q"],
    ...                      "verdict": ["1", "1", "2", "1"], "gold": ["1", "2", "2", "1"]})
    >>> pairs, _ = pair_tables(read_systems(rows), ComparisonOptions())
    >>> pairs.select("first", "second", "both", "second_only", "difference").row(0)
    ('a', 'b', 1, 1, 0.5)
    """
    pairs = list(system_pairs(systems))
    if not pairs:
        raise SweepError(
            "there are no two systems to compare",
            where={"systems": "; ".join(one.label for one in systems)},
            hint="a column judge that tells systems apart, or --by COLS that do",
        )
    rows: list[dict[str, object]] = []
    shares: list[dict[str, object]] = []
    for first, second in pairs:
        names = {"benchmark": _benchmark(first), "first": first.label, "second": second.label}
        accuracy = joined_accuracy(
            one_answer(first.rows, options.answer), one_answer(second.rows, options.answer)
        )
        kind = _shared_confidence(first, second, options)
        equal = None if kind is None else _equal(first, second, kind, options)
        columns = {**accuracy_columns(accuracy), **error_columns(equal, kind)}
        rows.append({**names, **columns, "answer": options.answer})
        if equal is not None:
            shares += [{**names, "confidence": kind, **one} for one in share_rows(equal)]
    return SystemPairs.frame(with_holm(rows)), EqualAcceptances.frame(shares)


def system_pairs(systems: Sequence[System]) -> Iterator[tuple[System, System]]:
    """Name the pairs of systems on one benchmark, models alone before judges of them.

    Examples
    --------
    >>> list(system_pairs([]))
    []
    """
    for benchmark in sorted({str(_benchmark(one)) for one in systems}):
        of_benchmark = (one for one in systems if str(_benchmark(one)) == benchmark)
        yield from combinations(sorted(of_benchmark, key=_rank), 2)


def accuracy_columns(found: PairedAccuracy) -> dict[str, object]:
    """Lay out a paired accuracy.

    Examples
    --------
    >>> from judgerel_ray.stats.selective.systems import paired_accuracy
    >>> accuracy_columns(paired_accuracy([1], [1]))["n_questions"]
    1
    """
    columns = asdict(found)
    return {
        "first_accuracy": columns.pop("first"),
        "second_accuracy": columns.pop("second"),
        **columns,
        "undefined": None if found.n_questions else "no_common_questions",
    }


def error_columns(equal: EqualAcceptance | None, kind: str | None) -> dict[str, object]:
    """Lay out the mean difference of error at equal acceptance.

    Examples
    --------
    >>> error_columns(None, None)
    {'confidence': None}
    """
    if equal is None:
        return {"confidence": kind}
    return {
        "confidence": kind,
        "reach": float(equal.acceptance_G.max()) if equal.acceptance_G.size else None,
        "error_difference": equal.mean,
        "error_low": equal.mean_low,
        "error_high": equal.mean_high,
        "error_p": equal.p,
    }


def share_rows(equal: EqualAcceptance) -> Iterator[dict[str, object]]:
    """Lay out errors at every tenth accepted.

    Examples
    --------
    See :func:`pair_tables`.
    """
    for place, share in enumerate(equal.acceptance_G.tolist()):
        if share in _SHOWN:
            ends = [float(end[place]) for end in (equal.low_G, equal.high_G)]
            yield {
                "acceptance": share,
                "first_error": float(equal.first_G[place]),
                "second_error": float(equal.second_G[place]),
                "difference": float(equal.value_G[place]),
                "low": None if np.isnan(ends[0]) else ends[0],
                "high": None if np.isnan(ends[1]) else ends[1],
            }


def with_holm(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Adjust the p-values of a family of comparisons.

    Examples
    --------
    >>> [one["p_holm"] for one in with_holm([{"p": 0.01}, {"p": 0.03}])]
    [0.02, 0.03]
    """
    columns = [[row.get(name) for row in rows] for name in ("p", "error_p")]
    adjusted = [
        holm([one if isinstance(one, float) else None for one in column]) for column in columns
    ]
    return [
        {**row, "p_holm": p, "error_p_holm": q, "n_comparisons": len(rows)}
        for row, p, q in zip(rows, *adjusted, strict=True)
    ]


def _equal(first: System, second: System, kind: str, options: ComparisonOptions) -> EqualAcceptance:
    """Errors of two systems at equal acceptance."""
    sides = [
        checked_answers(one.scores_N(kind), one.right_N, one.items_N) for one in (first, second)
    ]
    return equal_acceptance(*sides, shares=SHARES, n_resamples=options.resamples, seed=options.seed)


def _shared_confidence(first: System, second: System, options: ComparisonOptions) -> str | None:
    """The confidence by which both can accept."""
    wanted = [options.confidence] if options.confidence else CONFIDENCES
    both = set(first.confidences) & set(second.confidences)
    return next((name for name in wanted if name in both), None)


def _benchmark(system: System) -> object:
    """The benchmark of a system, where files name one."""
    return system.name.get("benchmark")


def _rank(system: System) -> int:
    """Models alone first, then judges."""
    role = system.name.get("role")
    return _ROLES.index(str(role)) if role in _ROLES else len(_ROLES)
