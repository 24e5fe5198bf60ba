"""Variance components: how much of a verdict is the question's, and how much is nuisance.

Nuisance is what should not matter: the order of the options, the wording of the template, chance.

Shape suffixes: C = cells (combinations of facet levels), G = groups of questions left out plus one
(the last: none left out), P = components.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.generalizability.component import (
    VarianceComponent,
    checked_sizes,
    described,
    finite_form,
    solvable,
    unconfounded,
)
from judgerel_ray.stats.generalizability.facet_cells import (
    FacetCells,
    checked_terms,
    joint_fixed_margin,
    margin,
    method_in_words,
)
from judgerel_ray.stats.generalizability.fixed_sums import (
    drawn_facets,
    equations,
    estimates_left_out,
    few_levels,
    mean_square,
    solved,
)

_MOST_GROUPS = 200


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
    sizes : mapping of str to int
        Facets of a known number of levels, and how many.
    left_out_levels : mapping of str to (ndarray, float)
        By facet drawn from more: the estimates with one group of its levels left out at a time, and
        the share of levels that were not drawn.
    few_levels : tuple of str
        Facets drawn from more, of which two levels say too little for any interval.
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
    sizes: Mapping[str, int] = field(default_factory=dict)
    left_out_levels: Mapping[str, tuple[Floats, float]] = field(
        default_factory=dict, compare=False, repr=False
    )
    few_levels: tuple[str, ...] = ()

    def value(self, *facets: str) -> float:
        """Give the estimate of the component of these facets; of the residual without any.

        Raises
        ------
        ValueError
            If there is no such component.

        Examples
        --------
        >>> from judgerel_ray.stats.generalizability.facet_cells import score_cells
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
    sizes: Mapping[str, int] | None = None,
    nested: Collection[str] = (),
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
    sizes : mapping of str to int, optional
        Facets of a known number of levels (2 orders of a pair), and how many; the others are drawn
        from infinitely many. Components are those of such populations: what a question is worth is
        its mean over all N levels, so that 1 / N of its interaction with them is its own. The
        number of levels in the data makes a facet fixed: those are all there are.
    nested : collection of str
        Facets whose levels are each question's own draw (the responses to it), so that leaving out
        questions shows what other levels would have given.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    VarianceComponents
        Of labels, in units of Gini's variance (1 - sum of squared shares); of scores, squared.

    Raises
    ------
    ValueError
        If a facet is unknown, an effect is given twice, the question is fixed, a facet has more
        levels than its size, or the confidence is not in (0, 1).

    Notes
    -----
    Intervals leave out one question at a time (one of 200 fixed groups of questions where there
    are more) and use Student's t. Of facets drawn from more, levels are left out as well and both
    variances add up; components without the question rest on their levels alone (chi-squared).
    Two such levels give no interval.

    References
    ----------
    .. [1] Henderson, C. R. (1953), doi:10.2307/3001853, first method; the third is the idea
       behind deviations.
    .. [2] Brennan, R. L. (2001). Generalizability Theory.
    .. [3] Cornfield, J., Tukey, J. W. (1956), doi:10.1214/aoms/1177728067, finite populations.
    .. [4] Weerahandi, S. (1993), doi:10.1080/01621459.1993.10476355, generalized intervals.

    Examples
    --------
    Two questions scored 1, 3 and 5, 5: MSW = (2 + 0) / 2 = 1, MSB = 2 (1.5^2 + 1.5^2) = 9, and
    (9 - 1) / 2 = 4.

    >>> from judgerel_ray.stats.generalizability.facet_cells import score_cells
    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> found = variance_components(cells, object_="question")
    >>> [(one.name, one.value) for one in found.components]
    [('question', 4.0), ('residual', 1.0)]
    """
    check_fraction("variance_components", confidence=confidence)
    wanted = checked_terms(cells, object_, terms, fixed)
    known = checked_sizes(cells, sizes or {}, barred=(object_, *fixed))
    n_questions = np.unique(cells.levels[object_]).size
    n = int(cells.n_C.sum())
    margins = [margin(cells, term, object_=object_) for term in wanted]
    out = joint_fixed_margin(cells, margins, fixed, object_=object_)
    estimator = method_in_words(cells.kind, out, known)
    undefined = _why_no_variance_components(cells, n_questions, n)
    bare = VarianceComponents(
        components=(), confounded={}, object=object_, estimator=estimator,
        n_questions=n_questions, n_judgments=n, undefined=undefined, sizes=known,
    )  # fmt: skip
    if undefined:
        return bare
    # What is confounded with a fixed effect is taken out with it.
    margins.sort(key=lambda one: not set(one.facets) <= set(out.facets))
    margins, confounded = unconfounded(margins, n)
    margins.sort(key=lambda one: wanted.index(one.facets))
    n_groups = min(n_questions, _MOST_GROUPS)
    # Fixed, and unlike blocks of neighbours, each group is a small sample of all questions.
    order = np.random.default_rng(0).permutation(n_questions) % n_groups
    groups_C = order[cells.levels[object_]].astype(np.int64)
    coefficients, squares = equations(cells, margins, out, groups_C, n_groups)
    kept, dependent = solvable(coefficients[-1], margins)
    confounded |= dependent
    rows = [*kept, len(margins), len(margins) + 1]
    random_GP = solved(coefficients[:, rows][:, :, rows], squares[:, rows])[:, :-1]
    held = [margins[i] for i in kept]
    facets = [*(one.facets for one in held), ()]
    form_PP = finite_form(facets, known)
    single = {term[0] for term in wanted if len(term) == 1} - {object_, *fixed, *nested}
    drawn = drawn_facets(
        cells, {name for name in single if any(name in one for one in facets)}, known
    )
    few = few_levels(cells, drawn)
    left_out = {
        name: (estimates_left_out(cells, name, held, fixed=out) @ form_PP.T, share)
        for name, share in ({} if few else drawn).items()
    }
    squares_P = [
        mean_square(one.facets, margins, coefficients[-1], squares[-1], fixed=out.facets)
        if object_ not in one.facets
        and (set(one.facets) & set(drawn) or set(one.facets) <= set(known))
        else None
        for one in held
    ]
    components = described(
        random_GP @ form_PP.T, held, squares_P, left_out, confidence,
        n=n, sizes=known, few=few, fixed=out.facets,
    )  # fmt: skip
    return replace(
        bare, components=components, confounded=confounded,
        left_out_GP=random_GP[:-1] @ form_PP.T, left_out_levels=left_out, few_levels=few,
    )  # fmt: skip


def _why_no_variance_components(cells: FacetCells, n_questions: int, n: int) -> str | None:
    """Why there is nothing to estimate."""
    if n == 0:
        return "no_verdicts"
    # Indicators and scores alike: what remains of equal verdicts is rounding.
    scale = 1.0 + float(np.abs(cells.sums_CV).max(initial=0.0))
    if float(cells.squares_C.sum()) <= 1e-12 * n * scale:
        return "no_variance"
    return "too_few_units" if n_questions < 2 else None
