"""One variance component: its estimate, its share of a judgment's variance, and its interval.

A component of levels alone is known by the mean square of L levels, about chi-squared with L - 1
degrees of freedom. Of levels drawn from more, its interval follows from that (the generalized
pivotal quantity, with what the mean square is inflated by held at its estimate, which rests on all
questions); of all levels that there are the mean square is noncentral. All else goes by leaving
out questions, and levels that are drawn.

A random component is defined by levels drawn from infinitely many, yet a pair has two orders, and k
options have k!. Of N levels, those of which k enter a mean leave an error of (1 - k / N) / k of
their component, which is none where all N do. What a question is worth over all N levels then holds
a part of its interactions with them:

    var_A(N) = sum over B that hold A of var_B / product of N_f, f in B and not in A

(Cornfield and Tukey; Brennan 2001, "finite universes of generalization"). Levels of a facet that is
fixed are all there are: N is their number.

Shape suffixes: G = groups of questions left out plus one (the last: none left out), P = components,
C = cells, E = equations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.generalizability.facet_cells import Codes, FacetCells, Margin
from judgerel_ray.stats.intervals.ends import logit_ends

_FAR = 1000.0


def few_draws_interval(
    value: float, mean_square: float, df: int, *, confidence: float
) -> tuple[float, float]:
    """Compute the interval of a component whose mean square is chi-squared over `df`."""
    from scipy.special import chdtri

    tail = (1 - confidence) / 2
    low, high = (df / float(chdtri(df, p)) for p in (tail, 1 - tail))
    added = mean_square - value
    return mean_square * low - added, mean_square * high - added


def all_levels_interval(
    value: float, mean_square: float, df: int, *, confidence: float
) -> tuple[float, float] | None:
    """Compute the interval of the variance of effects of all the levels that there are.

    Nothing is drawn but the questions: the mean square over what inflates it is noncentral
    chi-squared. Leaving out questions would not do here, since the square of a difference that is
    near 0 hardly moves without them.
    """
    from scipy.special import chndtr, chndtrinc, ndtri

    added = mean_square - value
    if added <= 1e-12 * abs(mean_square):
        return None
    scaled = df * max(mean_square, 0.0) / added
    if scaled > _FAR:  # near normal, and beyond what the distribution is computed for
        half = -float(ndtri((1 - confidence) / 2)) * 2 * math.sqrt(added * value / df)
        return value - half, value + half
    tail = (1 - confidence) / 2
    ends = [
        float(chndtrinc(scaled, df, p)) if chndtr(scaled, df, 0.0) > p else 0.0
        for p in (1 - tail, tail)
    ]
    return ends[0] * added / df, ends[1] * added / df


def component_interval(
    value: float, parts: Sequence[tuple[Floats, float]], *, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the t interval from values with one left out, of questions and of levels."""
    from scipy.special import stdtrit

    variance, spread = 0.0, 0.0
    for left_out, share in parts:
        n = left_out.size
        if n < 2 or not np.isfinite(left_out).all():
            return None, None
        jackknifed = share * (n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum())
        variance += jackknifed
        spread += jackknifed**2 / (n - 1)
    df = variance**2 / spread if spread > 0 else math.inf
    half = float(stdtrit(min(df, 1e9), (1 + confidence) / 2)) * math.sqrt(variance)
    return value - half, value + half


def component_share_interval(
    value: float | None, parts: Sequence[tuple[Floats, float]], *, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the interval of a share, on the logit scale where the plain one lies above 0.

    Parameters as of :func:`component_interval`; None also where nothing spreads.
    """
    if value is None or not parts:
        return None, None
    low, high = component_interval(value, parts, confidence=confidence)
    if low is None or high is None or high - low < 1e-12:
        return None, None
    if low <= 0 or value >= 1:
        return max(0.0, low), min(1.0, high)
    return logit_ends(value, high - value)


RESIDUAL = "residual"


def effect_name(facets: Sequence[str]) -> str:
    """Name an effect by its facets."""
    return " x ".join(facets) if facets else RESIDUAL


def unconfounded(margins: Sequence[Margin], n: int) -> tuple[list[Margin], dict[str, str]]:
    """Sort out the effects with levels of their own, and what the others are confounded with.

    `n` is the number of judgments: an effect with as many levels is the residual. A facet that
    does not vary is left out; so is the interaction of a facet with one that it is nested in.
    """
    kept: list[Margin] = []
    confounded: dict[str, str] = {}
    for one in margins:
        if one.n_levels == 1:  # a facet that does not vary
            continue
        if one.n_levels == n:
            confounded[effect_name(one.facets)] = RESIDUAL
            continue
        # Codes of equal partitions differ at most in their order.
        same = (other for other in kept if _same_facet_partition(one.levels_C, other.levels_C))
        twin = next(same, None)
        if twin is None:
            kept.append(one)
        elif not set(twin.facets) <= set(one.facets) or len(one.facets) == len(twin.facets):
            confounded[effect_name(one.facets)] = effect_name(twin.facets)
    return kept, confounded


def _same_facet_partition(first_C: Codes, second_C: Codes) -> bool:
    """Whether two codings put the same cells together."""
    if first_C.max(initial=0) != second_C.max(initial=0):
        return False
    pairs = np.unique(np.stack([first_C, second_C]), axis=1).shape[1]
    return bool(pairs == first_C.max(initial=0) + 1)


def solvable(
    coefficients_EE: Floats, margins: Sequence[Margin]
) -> tuple[list[int], dict[str, str]]:
    """Find the effects whose equations, taken in order, are independent, and those whose are not.

    The last two equations are those of the residual and of the mean.
    """
    ends = [len(margins), len(margins) + 1]
    kept: list[int] = []
    dependent: dict[str, str] = {}
    for i, one in enumerate(margins):
        rows = [*kept, i, *ends]
        if np.linalg.matrix_rank(coefficients_EE[np.ix_(rows, rows)], tol=1e-9) == len(rows):
            kept.append(i)
        else:
            dependent[effect_name(one.facets)] = "other effects"
    return kept, dependent


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponent:
    """One component.

    Attributes
    ----------
    name : str
        Its facets with " x " between, or "residual".
    facets : tuple of str
        Its facets; none for the residual.
    value : float
        The estimate as it is: below 0 where the data show less variance than chance would.
    share : float or None
        Of the variance of one judgment; None where that is not above 0.
    low, high : float or None
        Ends of its interval; None below two questions, where one question carries it alone, and
        where a facet that is drawn from more has two levels.
    n_levels : int
        Levels in the data; for the residual, judgments.
    negative : bool
        Whether the estimate is below 0.
    """

    name: str
    facets: tuple[str, ...]
    value: float
    share: float | None
    low: float | None
    high: float | None
    n_levels: int
    negative: bool


def described(
    estimates_GP: Floats,
    margins: Sequence[Margin],
    squares_P: Sequence[float | None],
    left_out: Mapping[str, tuple[Floats, float]],
    confidence: float,
    *,
    n: int,
    sizes: Mapping[str, int],
    few: Collection[str],
    fixed: Collection[str],
) -> tuple[VarianceComponent, ...]:
    """Give estimates their names, shares and intervals."""
    facets = [*(one.facets for one in margins), ()]
    levels = [*(one.n_levels for one in margins), n]
    weights = [of_one_level(one, sizes) for one in facets]
    total = float(estimates_GP[-1] @ weights)
    n_levels = {one.facets: one.n_levels for one in margins}
    found = []
    for i, names in enumerate(facets):
        value = float(estimates_GP[-1, i])
        low, high = None, None
        if not few:
            parts = [(estimates_GP[:-1, i], 1.0)]
            parts += [(values[:, i], share) for values, share in left_out.values()]
            low, high = component_interval(value, parts, confidence=confidence)
        square = squares_P[i] if i < len(squares_P) else None
        if square is not None and not few:
            free = [n_levels.get((name,), 2) - 1 for name in names if name not in fixed]
            by_levels = few_draws_interval if set(names) & set(left_out) else all_levels_interval
            ends = by_levels(value, square, math.prod(free), confidence=confidence)
            sampled = left_out and by_levels is all_levels_interval
            if ends and sampled and low is not None and high is not None:
                # All levels of one facet, over a few drawn levels of another: the wider of both.
                ends = (min(low, ends[0]), max(high, ends[1]))
            low, high = ends or (low, high)
        found.append(
            VarianceComponent(
                name=effect_name(names),
                facets=names,
                value=value,
                share=value * weights[i] / total if total > 0 else None,
                low=low,
                high=high,
                n_levels=levels[i],
                # What differs from 0 by rounding is 0.
                negative=value < -1e-12 * max(total, 0.0),
            )
        )
    return tuple(found)


Facets = Sequence[str]


def checked_sizes(
    cells: FacetCells, sizes: Mapping[str, int], *, barred: Collection[str]
) -> dict[str, int]:
    """Give the sizes of facets, which must be there and have no more levels than that."""
    for name, size in sizes.items():
        if name not in cells.levels or name in barred:
            known = [one for one in cells.levels if one not in barred]
            raise ValueError(f"variance_components: sizes must be of {known}, got {name!r}")
        if size < (seen := np.unique(cells.levels[name]).size):
            raise ValueError(
                f"variance_components: {name} has {seen} levels in the data, got a size of {size}"
            )
    return dict(sizes)


def finite_form(facets_P: Sequence[Facets], sizes: Mapping[str, int]) -> Floats:
    """Give the matrix that turns random components into those of facets of these sizes.

    Examples
    --------
    Over two orders, half of question x order is the question's:

    >>> finite_form([("q",), ("order",), ("q", "order"), ()], {"order": 2}).tolist()[0]
    [1.0, 0.0, 0.5, 0.0]
    """
    sets = [frozenset(one) for one in facets_P]
    found = np.eye(len(sets))
    for i, small in enumerate(sets):
        for j, large in enumerate(sets):
            if small and small < large:
                rest = [sizes.get(name, math.inf) for name in large - small]
                found[i, j] = 1 / math.prod(rest)
    return found


def of_one_level(facets: Facets, sizes: Mapping[str, int]) -> float:
    """Give the share of a component that one level of each facet shows, 1 - 1 / N of each."""
    return math.prod((1 - 1 / sizes[name] for name in facets if name in sizes), start=1.0)


def left_as_error(
    facets: Facets, n: int, n_levels: Mapping[str, int], sizes: Mapping[str, int]
) -> float:
    """Give the share of a component that stays in a mean of n judgments as error.

    Examples
    --------
    >>> [left_as_error(("order",), 4, {"order": k}, {"order": 2}) for k in (1, 2)]
    [0.5, 0.0]
    >>> left_as_error(("order",), 4, {"order": 2}, {}), left_as_error((), 4, {}, {})
    (0.5, 0.25)
    """
    if not facets:
        return 1 / n
    drawn = {name: n_levels.get(name, 1) for name in facets}
    if math.prod(drawn.values()) > n:
        return of_one_level(facets, sizes) / n
    return math.prod((1 - k / sizes.get(name, math.inf)) / k for name, k in drawn.items())
