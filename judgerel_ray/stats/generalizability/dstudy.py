"""Decision studies: how far a mean of k judgments can be depended on, and how many that takes.

Mean scores and vote shares follow the variance components and the Spearman-Brown formula; majority
labels do not, for them see :mod:`judgerel_ray.stats.agreement.majority`. A budget is split between
questions and replications: one replication more of a question already asked costs its reply alone,
since the prompt is computed once; one question more costs both.

Shape suffixes: G = groups of questions left out, P = components.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import Floats, divide
from judgerel_ray.stats.generalizability.component import (
    component_share_interval,
    left_as_error,
    of_one_level,
)
from judgerel_ray.stats.generalizability.variance_components import VarianceComponents
from judgerel_ray.stats.intervals.precision import MOST_QUESTIONS, AlphaPrecision


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependability:
    """What a mean of judgments is worth under one design.

    Attributes
    ----------
    n_judgments : int
        Judgments of one question that are averaged.
    universe : float
        Variance of what is to be measured, the question's own.
    relative_error, absolute_error : float
        Error variance for comparing questions, and for the value of one.
    generalizability : float or None
        universe / (universe + relative error); None where both are 0.
    dependability : float or None
        universe / (universe + absolute error).
    low, high : float or None
        Interval of `generalizability`, by leaving out questions and drawn levels.
    dependability_low, dependability_high : float or None
        Interval of `dependability`, likewise.
    set_to_zero : tuple of str
        Components with an estimate below 0, which count as 0 here.
    no_interval : str or None
        "too_few_levels" where a facet that is drawn from more has two levels in the data.
    """

    n_judgments: int
    universe: float
    relative_error: float
    absolute_error: float
    generalizability: float | None
    dependability: float | None
    low: float | None
    high: float | None
    set_to_zero: tuple[str, ...]
    no_interval: str | None = None
    dependability_low: float | None = None
    dependability_high: float | None = None


def dependability(
    found: VarianceComponents,
    *,
    n_judgments: int = 1,
    n_levels: Mapping[str, int] | None = None,
    objects: Collection[str] | None = None,
    fixed: Collection[str] = (),
    given: Collection[str] = (),
    confidence: float = 0.95,
) -> Dependability:
    r"""Compute how far the mean of several judgments can be depended on.

    For questions q crossed with orders o, n_o orders and n judgments in all:

    .. math:: relative = \sigma^2_{qo} / n_o + \sigma^2_e / n, \quad
              absolute = relative + \sigma^2_o / n_o

    Of orders that are N_o in all, (1 - n_o / N_o) of their components stays: asked in all of them,
    a question has no error of theirs.

    Parameters
    ----------
    found : VarianceComponents
        From :func:`variance_components`.
    n_judgments : int
        Judgments of one question that are averaged, over all levels of all facets.
    n_levels : mapping of str to int, optional
        Different levels of each facet among them; 1 where not named. A component of several facets
        is averaged over the product of their levels, at most `n_judgments`: naming every facet
        with `n_judgments` levels is a design where each judgment has levels of its own. Each level
        has as many judgments as the others.
    objects : collection of str, optional
        Facets that belong to what is measured; by default the question alone.
    fixed : collection of str
        Facets whose levels are all there are (temperatures chosen): what they do to a question is
        no error.
    given : collection of str
        Facets inside which things are compared: components of these alone count as nothing. For
        responses nested in questions, ``objects={"question", "response"}, given={"question"}`` is
        how far responses to one question can be told apart.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Dependability
        Negative estimates count as 0 here, and `set_to_zero` names them.

    Raises
    ------
    ValueError
        If `found` is undefined, a facet is unknown, a number is below 1, or a facet has more
        levels than there are.

    Notes
    -----
    A design of one order (``n_levels`` 1) leaves the variance of question x order in the error
    however many judgments there are: that error repeats itself, and replications do not show it.

    References
    ----------
    .. [1] Brennan, R. L. (2001). Generalizability Theory.

    Examples
    --------
    Components 4 (question) and 1 (residual), as in :func:`variance_components`:

    >>> from judgerel_ray.stats.generalizability.facet_cells import score_cells
    >>> from judgerel_ray.stats.generalizability.variance_components import variance_components
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> found = variance_components(cells, object_="question")
    >>> dependability(found).generalizability, dependability(found, n_judgments=4).relative_error
    (0.8, 0.25)
    """
    levels = dict(n_levels or {})
    _check_dstudy_designs(found, n_judgments, levels, {*(objects or ()), *fixed, *given})
    values_P = np.array([one.value for one in found.components])
    parts = _dstudy_parts(found, objects, fixed, given, levels, n_judgments)
    universe, relative, absolute = np.maximum(values_P, 0.0) @ parts
    sums = [(found.left_out_GP, 1.0), *found.left_out_levels.values()]
    left_out = [(np.maximum(values, 0.0) @ parts, share) for values, share in sums if values.size]
    if found.few_levels:
        left_out = []
    value = _universe_variance_share(universe, relative)
    of_value = _universe_variance_share(universe, absolute)

    def ends(share: float | None, error: int) -> tuple[float | None, float | None]:
        parts = [(divide(sums[:, 0], sums[:, 0] + sums[:, error]), part) for sums, part in left_out]
        return component_share_interval(share, parts, confidence=confidence)

    low, high = ends(value, 1)
    low_of_value, high_of_value = ends(of_value, 2)
    return Dependability(
        n_judgments=n_judgments,
        universe=float(universe),
        relative_error=float(relative),
        absolute_error=float(absolute),
        generalizability=value,
        dependability=of_value,
        low=low,
        high=high,
        set_to_zero=tuple(one.name for one in found.components if one.negative),
        no_interval="too_few_levels" if found.few_levels else None,
        dependability_low=low_of_value,
        dependability_high=high_of_value,
    )


def judgments_for(
    found: VarianceComponents,
    target: float,
    *,
    absolute: bool = False,
    apart: Collection[str] = (),
    n_levels: Mapping[str, int] | None = None,
    objects: Collection[str] | None = None,
    fixed: Collection[str] = (),
) -> float | None:
    """Compute how many judgments of each question a target takes, as a fraction.

    Parameters
    ----------
    found : VarianceComponents
        From :func:`variance_components`.
    target : float
        Coefficient wanted, in (0, 1).
    absolute : bool
        Whether the target is of the dependability (the value of one question) instead of the
        generalizability (comparing questions).
    apart : collection of str
        Facets of which every judgment has a level of its own; the others stay at one level.
    n_levels : mapping of str to int, optional
        Facets of which so many levels have equally many judgments: what is bought is a multiple.
    objects, fixed : collection of str
        As for :func:`dependability`.

    Returns
    -------
    float or None
        Below 1 where less than one judgment would do; None where no number reaches it, because
        what stays at one level is error enough, or because questions do not differ.

    Raises
    ------
    ValueError
        If the target is not in (0, 1), or as for :func:`dependability`.

    Examples
    --------
    .9 / .1 * 1 / 4:

    >>> from judgerel_ray.stats.generalizability.facet_cells import score_cells
    >>> from judgerel_ray.stats.generalizability.variance_components import variance_components
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> round(judgments_for(variance_components(cells, object_="question"), 0.9), 6)
    2.25
    """
    check_fraction("judgments_for", target=target)

    _check_dstudy_designs(found, 1, n_levels or {}, {*apart, *(objects or ()), *fixed})
    values_P = np.array([one.value for one in found.components])
    base = math.prod((n_levels or {}).values())

    def error(times: int) -> tuple[float, float]:
        n = base * times
        levels = {**dict.fromkeys(apart, n), **(n_levels or {})}
        parts = _dstudy_parts(found, objects, fixed, (), levels, n)
        universe, *errors = np.maximum(values_P, 0.0) @ parts
        return float(universe), float(errors[absolute])

    # Every part of the error either stays or goes with 1 / n, so two designs tell all.
    (universe, at_one), (_, at_two) = error(1), error(2)
    falling = 2 * (at_one - at_two)
    room = universe * (1 - target) / target - (at_one - falling)
    if room <= 1e-12 * max(universe, at_one):
        return None
    return base * falling / room


def _check_dstudy_designs(
    found: VarianceComponents, n_judgments: int, sizes: Mapping[str, int], named: set[str]
) -> None:
    """Refuse designs that cannot be."""
    if found.undefined:
        raise ValueError(f"dependability: found must have components, got {found.undefined!r}")
    if any(k > found.sizes.get(name, k) for name, k in sizes.items()):
        raise ValueError(
            f"dependability: n_levels must be at most {dict(found.sizes)}, got {dict(sizes)}"
        )
    if min([n_judgments, *sizes.values()]) < 1:
        raise ValueError(
            f"dependability: n_judgments and n_levels must be at least 1, "
            f"got {n_judgments}, {sizes}"
        )
    known = {found.object, *(name for one in found.components for name in one.facets)}
    known |= {name for effect in found.confounded for name in effect.split(" x ")}
    unknown = (named | set(sizes)) - known
    if unknown:
        raise ValueError(f"dependability: facets must be of {sorted(known)}, got {sorted(unknown)}")


def _dstudy_parts(
    found: VarianceComponents, objects: Collection[str] | None, fixed: Collection[str],
    given: Collection[str], levels: Mapping[str, int], n: int,
) -> Floats:  # fmt: skip
    """What each component adds to the universe score and to both errors, (components, 3)."""
    design = frozenset(objects or {found.object}), fixed, given, levels, found.sizes, n
    return np.array([_dstudy_error_variances(one.facets, *design) for one in found.components])


def _dstudy_error_variances(
    facets: tuple[str, ...],
    wanted_objects: frozenset[str],
    fixed: Collection[str],
    given: Collection[str],
    levels: Mapping[str, int],
    sizes: Mapping[str, int],
    n: int,
) -> tuple[float, float, float]:
    """What a component adds to the universe score, the relative and the absolute error."""
    names = frozenset(facets)
    if names and names <= set(given):
        return 0.0, 0.0, 0.0
    others = tuple(name for name in facets if name not in wanted_objects)
    # What fixed facets do without the question is the same for all questions, always.
    if names and names <= wanted_objects | set(fixed):
        averaged = min(math.prod(levels.get(name, 1) for name in others), n)
        weight = of_one_level(tuple(names & wanted_objects), sizes) / averaged
        return (weight, 0.0, 0.0) if names & wanted_objects else (0.0, 0.0, 0.0)
    weight = left_as_error(others, n, levels, sizes)
    if names & wanted_objects:
        weight *= of_one_level(tuple(names & wanted_objects), sizes)
    if not names or names & wanted_objects:
        return 0.0, weight, weight
    return 0.0, 0.0, weight


def _universe_variance_share(universe: float, error: float) -> float | None:
    return float(universe / (universe + error)) if universe + error > 0 else None


def spearman_brown(reliability: float, k: float) -> float:
    """Compute the reliability of a mean of k from that of one.

    Raises
    ------
    ValueError
        If the reliability is above 1 or k is not above 0.

    Examples
    --------
    >>> round(spearman_brown(0.43, 3), 3)
    0.694
    """
    if not (reliability <= 1 and k > 0):
        raise ValueError(
            f"spearman_brown: reliability must be at most 1 and k above 0, "
            f"got {reliability!r}, {k!r}"
        )
    return k * reliability / (1 + (k - 1) * reliability)


def replications_for(reliability: float, target: float) -> int | None:
    r"""Compute how many replications a mean needs to reach a target reliability.

    .. math:: k = \lceil R (1 - \rho) / (\rho (1 - R)) \rceil

    Parameters
    ----------
    reliability : float
        Of one judgment (icc1, Krippendorff's alpha), at most 1.
    target : float
        Reliability wanted, in (0, 1).

    Returns
    -------
    int or None
        At least 1; None where one judgment has no reliability (0 or below): no number helps.

    Raises
    ------
    ValueError
        If the reliability is above 1 or the target is not in (0, 1).

    Notes
    -----
    Holds for mean scores and vote shares, not for majority labels.

    Examples
    --------
    >>> replications_for(0.3, 0.8), replications_for(0.0, 0.8)
    (10, None)
    """
    check_fraction("replications_for", target=target)
    if not reliability <= 1:
        raise ValueError(f"replications_for: reliability must be at most 1, got {reliability!r}")
    if reliability <= 0:
        return None
    exact = target * (1 - reliability) / (reliability * (1 - target))
    # A whole number must not become the next one by rounding.
    return max(1, math.ceil(exact * (1 - 1e-12)))


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSplit:
    """One way to spend a budget.

    Attributes
    ----------
    n_questions, n_replications : int
        Questions, and replications of each.
    cost : float
        What it comes to, at most the budget.
    standard_error, width : float
        Of alpha, and of its interval from end to end.
    best : bool
        Whether no other split of the budget, given or not, has a narrower interval.
    """

    n_questions: int
    n_replications: int
    cost: float
    standard_error: float
    width: float
    best: bool = False


def budget_splits(
    precision: AlphaPrecision,
    budget: float,
    *,
    per_question: float = 0.0,
    per_judgment: float = 1.0,
    replications: Sequence[int] = (2, 3, 4, 5, 8, 10, 20, 50, 100),
    most_questions: int | None = None,
    confidence: float = 0.95,
) -> tuple[BudgetSplit, ...]:
    """Compare ways to spend a budget on questions and on replications.

    Parameters
    ----------
    precision : AlphaPrecision
        From :func:`alpha_precision`.
    budget : float
        What may be spent, in the unit of the costs, above 0.
    per_question, per_judgment : float
        Cost of asking a question at all (its prompt, computed once) and of each replication (its
        reply); the latter above 0.
    replications : sequence of int
        Numbers of replications to compare, each at least 2; the best of all is added.
    most_questions : int, optional
        Questions there are; by default as many as one likes.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    tuple of BudgetSplit
        By replications, those that afford two questions or more; the one with the narrowest
        interval of all numbers of replications is among them, and marked.

    Raises
    ------
    ValueError
        If a cost or the budget is out of its range.

    Examples
    --------
    >>> planned = AlphaPrecision(alpha=0.5, between=0.06, first=0.06, second=0.2)
    >>> [(s.n_questions, s.n_replications, s.best) for s in budget_splits(planned, 600)][:3]
    [(300, 2, False), (200, 3, True), (150, 4, False)]
    """
    if min(replications, default=2) < 2:
        raise ValueError(f"budget_splits: replications must be at least 2, got {replications!r}")
    if not (budget > 0 and per_question >= 0 and per_judgment > 0):
        raise ValueError(
            f"budget_splits: expected budget > 0, per_question >= 0 and per_judgment > 0, "
            f"got {budget!r}, {per_question!r}, {per_judgment!r}"
        )
    from scipy.special import stdtrit

    most = most_questions or MOST_QUESTIONS
    # More replications of as many questions only help: so of many replications, only the largest
    # number for each number of questions is tried, of which there are few.
    root = math.isqrt(int(budget / per_judgment)) + 2
    afforded = np.array([*range(2, root + 1), most], dtype=np.float64)
    many = np.floor((budget / afforded - per_question) / per_judgment)
    # What division rounds up or down is tried, too.
    tried = np.concatenate([np.arange(2, root + 1), many - 1, many, many + 1, replications])
    m = np.unique(tried[tried >= 2])
    n = np.minimum(budget // (per_question + m * per_judgment), most)
    m, n = m[n >= 2], n[n >= 2]
    inside = (4 * (m - 2) * precision.first + 2 * precision.second) / (m * (m - 1))
    error = np.sqrt((precision.between + inside) / n)
    width = 2 * stdtrit(n - 1, (1 + confidence) / 2) * error
    best = int(width.argmin()) if m.size else -1
    return tuple(
        BudgetSplit(
            n_questions=int(n[i]),
            n_replications=int(m[i]),
            cost=float(n[i] * (per_question + m[i] * per_judgment)),
            standard_error=float(error[i]),
            width=float(width[i]),
            best=i == best,
        )
        for i in range(m.size)
        if i == best or m[i] in replications
    )
