"""Verdict distributions from log-probabilities of engines, as a table, and what follows from it.

Coefficients in the limit of infinitely many replications, and how certain a distribution is. Of
replications that reason first, the letter each reply drew is replaced by the distribution at its
place (Rao-Blackwell): the same mean with less noise, and the variance split into the reasoning's
and the verdict's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import Scale, SweepError
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.groups.rated import RatedGroup, rated_groups
from judgerel_ray.counting.verdicts.policy import SCALE, known_scale, scale_scores
from judgerel_ray.measuring.tables import LimitCoefficients, ReasoningShares
from judgerel_ray.protocols import labels_for
from judgerel_ray.stats import (
    Coefficient,
    limit_coefficients,
    split_variance,
    tempered_step,
    weighted_scores,
)
from judgerel_ray.stats.verdict_distributions.limits import score_limit, weighted_bounds
from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments
from judgerel_ray.tables import Distributions

PLACE = (
    "judge", "benchmark", "item_id", "template", "criterion", "option_order", "responder",
    "definition", SCALE,
)  # fmt: skip
"""Columns that tell one prompt's distributions from another's."""
GROUP = ("judge", "benchmark", "temperature")
RATED = ("criterion", "definition", SCALE)
"""Columns that make groups of ratings, too."""
_NOISE = 1e-6


def distribution_table(found: Sequence[tuple[Mapping[str, object], str]]) -> pl.DataFrame:
    """Lay out verdict distributions, one verdict at one temperature a row.

    Examples
    --------
    >>> place = dict(judge="j", benchmark="b", item_id="q", template="t", criterion=None,
    ...              option_order=0)
    >>> text = json.dumps({"temperatures": [1.0], "verdicts": ["x", None], "low": [[0.75, 0.15]],
    ...                    "high": [[0.8, 0.2]], "estimate": None})
    >>> distribution_table([(place, text)])["probability"].round(4).to_list()
    [0.8, 0.2]
    """
    rows = []
    for place, text in found:
        content = json.loads(text)
        low_TV, high_TV = np.array(content["low"]), np.array(content["high"])
        for t, temperature in enumerate(content["temperatures"]):
            drawn = None if content["estimate"] is None else np.array(content["estimate"][t])
            guess = _guess_within_mass_bounds(low_TV[t], high_TV[t], drawn)
            for v, verdict in enumerate(content["verdicts"]):
                rows.append(
                    {
                        **{name: place.get(name) for name in PLACE},
                        "temperature": temperature,
                        "verdict": verdict,
                        "probability": float(guess[v]),
                        "low": float(low_TV[t, v]),
                        "high": float(high_TV[t, v]),
                    }
                )
    frame = pl.DataFrame(rows, schema=Distributions.create_empty().schema)
    return Distributions.validate(frame)


def _guess_within_mass_bounds(
    low_V: NDArray[np.float64], high_V: NDArray[np.float64], drawn_V: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """A distribution within the bounds: as drawn, else what is open shared as what is settled."""
    settled = low_V.sum()
    open_ = max(0.0, 1.0 - settled)
    if drawn_V is not None and not np.isnan(drawn_V).any():
        near = drawn_V
    else:
        near = low_V / settled if settled > 0 else high_V / high_V.sum()
    near = np.clip(near, low_V, high_V)
    # Clipping may leave a rest: it goes where there is room.
    for _ in range(low_V.size):
        rest = 1.0 - near.sum()
        room = (high_V - near) if rest > 0 else (near - low_V)
        if abs(rest) < _NOISE * 1e-3 or room.sum() <= 0 or open_ == 0:
            break
        near = np.clip(near + rest * room / room.sum(), low_V, high_V)
    guess: NDArray[np.float64] = near / near.sum()
    return guess


def distribution_groups(distributions: pl.DataFrame) -> tuple[str, ...]:
    """Name the columns of groups: judge, benchmark, what tells ratings apart, and temperature.

    Examples
    --------
    >>> distribution_groups(pl.DataFrame({"scale": ["points5"], "criterion": [None]}))
    ('judge', 'benchmark', 'scale', 'temperature')
    """
    rated = [
        name
        for name in RATED
        if name in distributions.columns and distributions[name].null_count() < distributions.height
    ]
    return (*GROUP[:-1], *rated, GROUP[-1])


def width_table(distributions: pl.DataFrame, *, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Tell how far apart the certain bounds on verdict probabilities are.

    One row a group, in probability: ``mean_width`` and ``largest_width`` of a verdict's bounds,
    ``mean_open`` and ``largest_open`` (what is left open of a prompt), over ``n_questions``, of
    which in ``n_settled`` no verdict but one can be the most probable, however the rest falls.

    Examples
    --------
    >>> width_table(distribution_table([])).height
    0
    """
    by = distribution_groups(distributions) if by is None else by
    units = [name for name in (*PLACE, "temperature") if name not in by]
    width = pl.col("high") - pl.col("low")
    best = pl.col("low").arg_max()
    others = pl.col("high").gather(pl.int_range(pl.len()).filter(pl.int_range(pl.len()) != best))
    prompts = distributions.group_by(*by, *units, maintain_order=True).agg(
        mean_width=width.mean(),
        largest_width=width.max(),
        open=(1 - pl.col("low").sum()).clip(lower_bound=0.0),
        settled=(pl.col("low").max() > others.max()).fill_null(value=True),
    )
    return (
        prompts.group_by(*by, maintain_order=True)
        .agg(
            n_questions=pl.col("item_id").n_unique().cast(pl.Int64),
            mean_width=pl.col("mean_width").mean(),
            largest_width=pl.col("largest_width").max(),
            mean_open=pl.col("open").mean(),
            largest_open=pl.col("open").max(),
            n_settled=pl.col("item_id").filter(pl.col("settled")).n_unique().cast(pl.Int64),
        )
        .sort(*by, maintain_order=True)
    )


MAJORITIES = (3, 5, 11)
GREEDY = "temperature_0"
"""Why a limit is undefined: nothing is drawn at temperature 0, so no two draws can agree."""

_ALPHA = "krippendorff_alpha"


def limit_table(
    distributions: pl.DataFrame,
    *,
    by: Sequence[str] | None = None,
    majorities: Sequence[int] = MAJORITIES,
    scales: Mapping[str, Scale] | None = None,
) -> pl.DataFrame:
    """Coefficients in the limit of infinitely many replications, with intervals over questions.

    Ratings have alpha at the level of their scale, replies without a score left out; all other
    coefficients take verdicts for mere names.

    Of temperature 0 every coefficient is undefined, by `GREEDY`: it has no agreement to measure.
    Groups of several temperatures leave it out. Of several scales together all are undefined
    ("several_scales"), of a scale nobody declared alpha ("unknown_scale").

    Examples
    --------
    >>> from judgerel_ray.measuring.distributions import distribution_table
    >>> limit_table(distribution_table([])).height
    0
    """
    rows: list[dict[str, object]] = []
    by = distribution_groups(distributions) if by is None else by
    for name, part in distributions.group_by(*by, maintain_order=True):
        for one, shared in _limit_coefficients_of_group(part, majorities, scales):
            measured = {**asdict(one), "coefficient": one.name}
            rows.append({**dict(zip(by, name, strict=True)), **measured, **shared})
    kinds = {name: distributions.schema[name] for name in by}
    return LimitCoefficients.frame(rows, kinds).sort(*by, maintain_order=True)


def _limit_coefficients_of_group(
    part: pl.DataFrame, majorities: Sequence[int], scales: Mapping[str, Scale] | None
) -> list[tuple[Coefficient, dict[str, object]]]:
    """Every coefficient of one group, with what is told beside it."""
    drawn = part.filter(pl.col("temperature") != 0)
    greedy = drawn.is_empty()
    part = part if greedy else drawn
    units = [name for name in (*PLACE, "temperature") if name in part.columns]
    names = part["verdict"].unique().sort(nulls_last=True).to_list()
    place = {name: n for n, name in enumerate(names)}
    shares, clusters, undecided = [], [], []
    for key, rows in part.group_by(*units, maintain_order=True):
        share = np.zeros(len(names))
        for verdict, probability in rows.select("verdict", "probability").iter_rows():
            share[place[verdict]] = probability
        shares.append(share / share.sum())
        clusters.append(str(key[units.index("item_id")]))
        undecided.append(max(0.0, 1.0 - float(rows["low"].sum())))
    matrix = np.array(shares)
    used = matrix.sum(axis=0) > _NOISE  # "no verdict" that never occurs is no category
    kept = matrix[:, used | np.array([name is not None for name in names])]
    found = limit_coefficients(
        kept / kept.sum(axis=1, keepdims=True),
        clusters_U=np.array(clusters),
        majorities=majorities,
    )
    shared: dict[str, object] = {
        "n_items": len(set(clusters)),
        "n_categories": kept.shape[1],
        "undecided": max(undecided),
    }
    at_level = _at_level(found, part[SCALE].unique().to_list(), names, matrix, clusters, scales)
    return [
        (
            _undefined_limit_coefficient(one, GREEDY) if greedy else one,
            {**shared, "measurement": level},
        )
        for one, level in at_level
    ]


def _at_level(
    found: Sequence[Coefficient],
    on: Sequence[str | None],
    names: Sequence[str | None],
    matrix: NDArray[np.float64],
    clusters: Sequence[str],
    scales: Mapping[str, Scale] | None,
) -> list[tuple[Coefficient, str]]:
    """Each coefficient with its level: of ratings alpha at that of their scale."""
    if on == [None]:
        return [(one, "nominal") for one in found]
    if len(on) > 1 or on[0] is None:
        return [(_undefined_limit_coefficient(one, "several_scales"), "nominal") for one in found]
    scale = known_scale(on[0], scales)
    values = None if scale is None else scale_scores(scale)
    if scale is None or values is None:
        alpha = next(one for one in found if one.name == _ALPHA)
        return [
            (_undefined_limit_coefficient(one, "unknown_scale") if one is alpha else one, "nominal")
            for one in found
        ]
    if scale.level == "nominal":
        return [(one, "nominal") for one in found]
    refuse_off_scale(names, scale.name, values)
    columns = [n for n, name in enumerate(names) if name is not None]
    alpha = score_limit(
        matrix[:, columns],
        [values[str(names[n])] for n in columns],
        level=scale.level,
        clusters_U=np.array(clusters),
    )
    return [(alpha, scale.level) if one.name == _ALPHA else (one, "nominal") for one in found]


def refuse_off_scale(names: Sequence[str | None], scale: str, values: Mapping[str, float]) -> None:
    """Refuse verdicts that are not on their scale: they have no score.

    Examples
    --------
    >>> refuse_off_scale(["1", None], "points2", {"1": 1.0, "2": 2.0})
    """
    unknown = [name for name in names if name is not None and name not in values]
    if unknown:
        raise SweepError(
            f"verdicts that are not on their scale, such as {unknown[0]!r}",
            where={"scale": scale},
            hint="judgerel verify tells whether the distributions were altered",
        )


def _undefined_limit_coefficient(one: Coefficient, why: str) -> Coefficient:
    """A coefficient that has no meaning here, whatever its value would be."""
    why = one.undefined if one.undefined == "no_verdicts" else why
    return replace(one, value=None, low=None, high=None, undefined=why)


UNIT = ("item_id", "template", "option_order")


def reasoning_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Split the variance of verdicts into that of reasonings and that of verdicts drawn after them.

    Notes
    -----
    A reply without a verdict is "no verdict"; in one that has a verdict, tokens that would have
    spelled none at its place are left out, as the reply itself shows that none of them was drawn:
    so the mean distribution is that of the letters, without bias. A verdict whose place was not
    read counts as its letter. What lists of the most probable tokens leave out is shared in
    proportion.

    Examples
    --------
    >>> schema = {name: pl.Float64 if name == "temperature" else pl.String for name in GROUP}
    >>> reasoning_table(pl.DataFrame(schema=schema)).height
    0
    """
    found = []
    for name, part in rows.filter(pl.col("temperature") > 0).group_by(*GROUP, maintain_order=True):
        found.append({**_measured_variance_split(part), **dict(zip(GROUP, name, strict=True))})
    return ReasoningShares.frame(found).sort(*GROUP, descending=[False, False, True])


def _measured_variance_split(part: pl.DataFrame) -> dict[str, object]:
    """The split of one group."""
    units = part.partition_by(*UNIT, maintain_order=True)
    # Options that neither a letter nor a token ever named have probability 0, and add nothing.
    spelled = part["logprobs"].explode().struct.field("continuation").max()
    n_values = max(-1, *(n for n in (part["place"].max(), spelled) if isinstance(n, int)), -1) + 2
    most = max(unit.height for unit in units)
    shares = np.full((len(units), most, n_values), np.nan)
    letters = np.zeros((len(units), n_values))
    for u, unit in enumerate(units):
        for r, row in enumerate(unit.iter_rows(named=True)):
            shares[u, r] = verdict_shares(
                row["logprobs"],
                place=row["place"],
                temperature=row["temperature"],
                top_k=row["top_k"],
                n=n_values - 1,
            )
            letters[u, n_values - 1 if row["place"] is None else row["place"]] += 1
    split = split_variance(shares)
    shift = np.abs(split.mean_UV - letters / letters.sum(axis=1, keepdims=True))
    return {
        **{name: getattr(split, name, None) for name in ReasoningShares.columns},
        "largest_shift": float(np.nanmax(shift)),
        "n_replications": part.height,
    }


_LABELS = labels_for(26 + 26 * 26)


def verdicts_with_probabilities(run: RunDirectory, columns: Sequence[str]) -> pl.LazyFrame:
    """Join replies that compared options with what was read at their verdicts, and its place."""
    compared = of_protocols(lambda one: one.compares) & (pl.col("role") == "judge")
    place = pl.col("label").replace_strict(_LABELS, range(len(_LABELS)), default=None)
    return (
        scan_judgments(run)
        .filter(compared)
        .select("key", "outcome", *columns, place.cast(pl.Int32).alias("place"))
        .join(scan_completions(run, columns=("key", "logprobs")), on="key", how="inner")
    )


def verdict_shares(
    logprobs: Sequence[Mapping[str, object]] | None,
    *,
    place: int | None,
    temperature: float,
    top_k: int,
    n: int,
) -> NDArray[np.float64]:
    """The distribution of the verdict at its place, "no verdict" last.

    Shape (n + 1,). Sums to 1.

    Examples
    --------
    >>> shares = {0: 0.72, 1: 0.08, None: 0.2}
    >>> listed = [{"logprob": float(np.log(p)), "continuation": c} for c, p in shares.items()]
    >>> verdict_shares(listed, place=1, temperature=1.0, top_k=50, n=2).round(6).tolist()
    [0.9, 0.1, 0.0]
    """
    shares = np.zeros(n + 1)
    drawn = n if place is None else place
    if place is None or not logprobs:
        shares[drawn] = 1.0
        return shares
    values = np.array([one["logprob"] for one in logprobs], dtype=np.float64)
    # A list shorter than top_k holds all that can be sampled, or all but what is shared out.
    step = tempered_step(values, [temperature], top_k=min(top_k, values.size) or values.size)
    for one, probability in zip(logprobs, step.high_TK[0], strict=True):
        spelled = one["continuation"]
        if isinstance(spelled, int):
            shares[spelled] += probability
    if shares[drawn] == 0:  # drawn beyond the list
        shares = np.where(np.arange(n + 1) == drawn, 1.0, 0.0)
    total: NDArray[np.float64] = shares / shares.sum()
    return total


RESPONSE = (
    "judge", "benchmark", "item_id", "responder", "criterion", "definition", SCALE, "template",
    "temperature",
)  # fmt: skip
"""Columns of one response, rated in one way."""
WEIGHTED_GROUP = ("judge", "benchmark", "criterion", "definition", SCALE, "temperature")
_NUMBERS = ("score", "low", "high", "mass")


def weighted_table(
    distributions: pl.DataFrame, *, scales: Mapping[str, Scale] | None = None
) -> pl.DataFrame:
    """Weight the values of a scale by their probabilities, for every response.

    One row a response and way of asking: the columns of `RESPONSE`; ``score``, the mean over
    replies that have one, on the scale's own numbers (null where none can have); ``low`` and
    ``high``, which it certainly does not leave, whatever stayed open; ``mass``, the probability of
    a reply with a score.

    Examples
    --------
    >>> place = dict(judge="j", benchmark="b", item_id="q", responder="x", scale="binary",
    ...              temperature=1.0)
    >>> told = [("No", 0.2), ("Yes", 0.6), (None, 0.2)]
    >>> rows = [{**place, "verdict": name, "probability": p, "low": p, "high": p}
    ...         for name, p in told]
    >>> found = weighted_table(pl.DataFrame(rows))
    >>> found.select("score", "low", "high", "mass").row(0)
    (0.7499999999999999, 0.7499999999999999, 0.7499999999999999, 0.8)
    """
    lacking = [name for name in RESPONSE if name not in distributions.columns]
    rated = distributions.filter(pl.col(SCALE).is_not_null()).with_columns(
        **{name: pl.lit(None, pl.String) for name in lacking}
    )
    parts = [_empty_response_score_table()]
    for (name,), part in rated.group_by(SCALE, maintain_order=True):
        scale = known_scale(str(name), scales)
        values = None if scale is None else scale_scores(scale)
        if values is not None:
            refuse_off_scale(part["verdict"].unique().sort().to_list(), str(name), values)
            parts.append(_response_scores_on_scale(part, values))
    return pl.concat(parts).sort(RESPONSE, nulls_last=True)


def weighted_groups(
    weighted: pl.DataFrame,
    *,
    by: Sequence[str] | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> list[RatedGroup]:
    """Lay probability-weighted scores out as ratings of one replication.

    Examples
    --------
    >>> weighted_groups(weighted_table(pl.DataFrame({"scale": []}, schema={"scale": pl.String})))
    []
    """
    if weighted.is_empty() or not set(by or ()) <= set(weighted.columns):
        return []
    names = weighted[SCALE].unique().sort().to_list()
    known = {name: scale for name in names if (scale := known_scale(name, scales)) is not None}
    return rated_groups(weighted.drop("low", "high", "mass"), known, by=by)


def weighted_summary(weighted: pl.DataFrame) -> pl.DataFrame:
    """Summarise probability-weighted scores.

    One row a group of `WEIGHTED_GROUP`: ``n_items``, ``n_responses`` (with a score, asked in one
    way), ``mean``, ``least`` and ``greatest`` of their scores; ``mass``, the mean probability of a
    reply with a score; ``width`` and ``largest_width``, mean and largest, of the certain bounds.

    Examples
    --------
    See ``tests/analyses/distributions/test_weighted.py``.
    """
    width = pl.col("high") - pl.col("low")
    there = pl.col("score").is_not_null()
    return (
        weighted.group_by(WEIGHTED_GROUP, maintain_order=True)
        .agg(
            n_items=pl.col("item_id").filter(there).n_unique().cast(pl.Int64),
            n_responses=there.sum().cast(pl.Int64),
            mean=pl.col("score").mean(),
            least=pl.col("score").min(),
            greatest=pl.col("score").max(),
            mass=pl.col("mass").mean(),
            width=width.mean(),
            largest_width=width.max(),
        )
        .sort(WEIGHTED_GROUP, nulls_last=True)
    )


def _response_scores_on_scale(part: pl.DataFrame, values: Mapping[str, float]) -> pl.DataFrame:
    """Scores of the responses rated on one scale."""
    units = part.select(RESPONSE).unique(maintain_order=True).with_row_index("__unit")
    coded = part.join(units, on=RESPONSE, nulls_equal=True)
    unit = coded["__unit"].to_numpy()
    # Replies without a score stand last, in a column of their own.
    place = {label: n for n, label in enumerate(values)}
    column = np.array([place.get(one, len(place)) for one in coded["verdict"].to_list()])

    def laid_out(name: str) -> NDArray[np.float64]:
        cells = np.zeros((units.height, len(place) + 1))
        cells[unit, column] = coded[name].to_numpy()
        return cells

    scores = np.array(list(values.values()))
    found = weighted_scores(laid_out("probability")[:, :-1], scores)
    ends = weighted_bounds(laid_out("low"), laid_out("high"), scores)
    columns = {
        "score": found.scores_N,
        "low": ends.low_N,
        "high": ends.high_N,
        "mass": found.mass_N,
    }
    numbers = {name: pl.Series(column, nan_to_null=True) for name, column in columns.items()}
    kinds = [pl.col(name).cast(kind) for name, kind in _empty_response_score_table().schema.items()]
    return units.with_columns(**numbers).select(kinds)


def _empty_response_score_table() -> pl.DataFrame:
    """A table without rows."""
    names: dict[str, pl.DataType] = {name: pl.String() for name in RESPONSE}
    numbers = dict.fromkeys(("temperature", *_NUMBERS), pl.Float64())
    return pl.DataFrame(schema={**names, **numbers})
