"""Variance components: how much of a verdict is the question's, how much what must not tell.

What must not tell are the order of the options, the wording of the template, chance.

Shape suffixes: C = cells (combinations of facet levels), G = groups of questions left out plus one
(the last: none left out), P = components.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.confounding import effect_name, solvable, told_apart
from judgerel_ray.stats.facet_cells import FacetCells
from judgerel_ray.stats.facet_sums import Margin, equations, margin
from judgerel_ray.stats.facet_terms import checked_terms, method_in_words, taken_out
from judgerel_ray.stats.fixed_sums import equations_within
from judgerel_ray.stats.statistic import Floats

_MOST_GROUPS = 200


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
        Of the sum of all estimates; None where that is not above 0.
    low, high : float or None
        Ends of its interval; None below two questions, or where one question carries it alone.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """All components of one design.

    Attributes
    ----------
    components : tuple of VarianceComponent
        Main effects first, the residual last; empty where `undefined` is set.
    confounded : mapping of str to str
        Effects that this design cannot tell from another, and from which.
    object : str
        The facet that is the cluster of the intervals: the question.
    estimator : str
        In words.
    n_questions, n_judgments : int
        What it rests on.
    undefined : str or None
        "no_verdicts", "too_few_units" (one question), or "no_variance".
    left_out_GP : ndarray, shape (groups, n_components)
        The estimates with one group of questions left out at a time.
    """

    components: tuple[VarianceComponent, ...]
    confounded: Mapping[str, str]
    object: str
    estimator: str
    n_questions: int
    n_judgments: int
    undefined: str | None = None
    left_out_GP: Floats = field(  # noqa: N815  a shape, not a case
        default_factory=lambda: np.empty((0, 0)), compare=False, repr=False
    )

    def value(self, *facets: str) -> float:
        """Give the estimate of the component of these facets; of the residual without any.

        Raises
        ------
        ValueError
            If there is no such component.

        Examples
        --------
        >>> from judgerel_ray.stats.facet_cells import score_cells
        >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
        >>> variance_components(cells, object_="question").value("question")
        4.0
        """
        for component in self.components:
            if set(component.facets) == set(facets):
                return component.value
        known = ", ".join(component.name for component in self.components)
        raise ValueError(f"value: facets must be those of one of {known}, got {facets!r}")


def variance_components(
    cells: FacetCells,
    *,
    object_: str,
    terms: Sequence[Sequence[str]] | None = None,
    fixed: Collection[str] = (),
    confidence: float = 0.95,
) -> VarianceComponents:
    r"""Estimate variance components by sums of squares, balanced or not.

    The analogue of the analysis of variance: the sums of squares of all sets of facets are set
    equal to what they are expected to be. Where all facets are random that is Henderson's first
    method. Fixed facets are taken out first: all sums of squares are of deviations from the means
    of their levels, so that no balance is needed either. On balanced data both are the textbook's
    analysis of variance. Estimates below 0 stay as they are.

    Parameters
    ----------
    cells : FacetCells
        From :func:`label_cells` or :func:`score_cells`.
    object_ : str
        The facet that names the question; it is left out in turn for the intervals.
    terms : sequence of sequences of str, optional
        Effects to estimate. By default all facets and their interactions, up to three facets, as
        far as the design crosses them; larger ones go into the residual. A facet nested in the
        question has no effect of its own: ``[("question",), ("question", "response")]``.
    fixed : collection of str
        Facets of which the levels in the data are all that matter (temperatures that were chosen).
        Their own component is the variance of their levels' effects, each level of weight one.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    VarianceComponents
        Of labels, in units of Gini's variance (1 - sum of squared shares); of scores, squared.

    Raises
    ------
    ValueError
        If a facet is unknown, an effect is given twice, the question is fixed, or the confidence
        is not in (0, 1).

    Notes
    -----
    Intervals leave out one question at a time (one of 200 fixed groups of questions where there
    are more) and use Student's t. They are symmetric, and wide for a facet of few levels in fact:
    leaving out questions says nothing about other levels of it.

    References
    ----------
    .. [1] Henderson, C. R. (1953), doi:10.2307/3001853, first method; the third is the idea
       behind deviations.
    .. [2] Brennan, R. L. (2001). Generalizability Theory.

    Examples
    --------
    Two questions scored 1, 3 and 5, 5: MSW = (2 + 0) / 2 = 1, MSB = 2 (1.5^2 + 1.5^2) = 9, and
    (9 - 1) / 2 = 4.

    >>> from judgerel_ray.stats.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> found = variance_components(cells, object_="question")
    >>> [(one.name, one.value) for one in found.components]
    [('question', 4.0), ('residual', 1.0)]
    """
    if not 0 < confidence < 1:
        raise ValueError(
            f"variance_components: confidence must be between 0 and 1, got {confidence!r}"
        )
    wanted = checked_terms(cells, object_, terms, fixed)
    n_questions = np.unique(cells.levels[object_]).size
    n = int(cells.n_C.sum())
    margins = [margin(cells, term, object_=object_) for term in wanted]
    out = taken_out(cells, margins, fixed, object_=object_)
    estimator = method_in_words(cells.kind, out)
    undefined = _undefined(cells, n_questions, n)
    if undefined:
        return VarianceComponents(
            components=(), confounded={}, object=object_, estimator=estimator,
            n_questions=n_questions, n_judgments=n, undefined=undefined,
        )  # fmt: skip
    # What is confounded with a fixed effect is taken out with it.
    margins.sort(key=lambda one: not set(one.facets) <= set(out.facets if out else ()))
    margins, confounded = told_apart(margins, n)
    margins.sort(key=lambda one: wanted.index(one.facets))
    n_groups = min(n_questions, _MOST_GROUPS)
    # Fixed, and unlike blocks of neighbours, each group is a small sample of all questions.
    order = np.random.default_rng(0).permutation(n_questions) % n_groups
    groups_C = order[cells.levels[object_]].astype(np.int64)
    if out is None:
        coefficients, squares = equations(cells, margins, groups_C, n_groups)
    else:
        coefficients, squares = equations_within(cells, margins, out, groups_C, n_groups)
    kept, dependent = solvable(coefficients[-1], margins)
    confounded |= dependent
    rows = [*kept, len(margins), len(margins) + 1]
    estimates_GP = _solve(coefficients[:, rows][:, :, rows], squares[:, rows])[:, :-1]
    return VarianceComponents(
        components=_components(estimates_GP, [margins[i] for i in kept], n, confidence),
        confounded=confounded,
        object=object_,
        estimator=estimator,
        n_questions=n_questions,
        n_judgments=n,
        left_out_GP=estimates_GP[:-1],
    )


def student_interval(
    value: float, left_out_G: Floats, *, confidence: float
) -> tuple[float | None, float | None]:
    """Compute the t interval from values with one group left out at a time; None without spread.

    Examples
    --------
    >>> low, high = student_interval(2.0, np.array([1.0, 2.0, 3.0]), confidence=0.95)
    >>> round(low, 3), round(high, 3)
    (-2.968, 6.968)
    """
    from scipy.special import stdtrit

    n = left_out_G.size
    if n < 2 or not np.isfinite(left_out_G).all():
        return None, None
    squares = ((left_out_G - left_out_G.mean()) ** 2).sum()
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * np.sqrt((n - 1) / n * squares))
    return value - half, value + half


def _undefined(cells: FacetCells, n_questions: int, n: int) -> str | None:
    """Why there is nothing to estimate."""
    if n == 0:
        return "no_verdicts"
    # Indicators and scores alike: what remains of equal verdicts is rounding.
    scale = 1.0 + float(np.abs(cells.sums_CV).max(initial=0.0))
    if float(cells.squares_C.sum()) <= 1e-12 * n * scale:
        return "no_variance"
    return "too_few_units" if n_questions < 2 else None


def _solve(coefficients_GEE: Floats, squares_GE: Floats) -> Floats:
    """Solutions, NaN where leaving a group out leaves the equations dependent."""
    size = coefficients_GEE.shape[-1]
    full: NDArray[np.bool_] = np.linalg.matrix_rank(coefficients_GEE, tol=1e-9) == size
    solved: Floats = np.full(squares_GE.shape, np.nan)
    solved[full] = np.linalg.solve(coefficients_GEE[full], squares_GE[full][..., None])[..., 0]
    return solved


def _components(
    estimates_GP: Floats, margins: Sequence[Margin], n: int, confidence: float
) -> tuple[VarianceComponent, ...]:
    """Estimates with their names, shares and intervals."""
    facets = [*(one.facets for one in margins), ()]
    levels = [*(one.n_levels for one in margins), n]
    total = float(estimates_GP[-1].sum())
    found = []
    for i, (names, n_levels) in enumerate(zip(facets, levels, strict=True)):
        value = float(estimates_GP[-1, i])
        low, high = student_interval(value, estimates_GP[:-1, i], confidence=confidence)
        found.append(
            VarianceComponent(
                name=effect_name(names),
                facets=names,
                value=value,
                share=value / total if total > 0 else None,
                low=low,
                high=high,
                n_levels=n_levels,
                # What differs from 0 by rounding is 0.
                negative=value < -1e-12 * max(total, 0.0),
            )
        )
    return tuple(found)
