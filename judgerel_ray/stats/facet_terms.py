"""Effects of a design: which are wanted, and which are fixed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from judgerel_ray.stats.facet_cells import FacetCells
from judgerel_ray.stats.facet_sums import Margin, margin

_LARGEST_INTERACTION = 3


def checked_terms(
    cells: FacetCells,
    object_: str,
    terms: Sequence[Sequence[str]] | None,
    fixed: Collection[str],
) -> list[tuple[str, ...]]:
    """Give the effects wanted, smaller ones first; by default all up to three facets.

    Raises
    ------
    ValueError
        If a facet is unknown, an effect is given twice, or the question is fixed.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import label_cells
    >>> checked_terms(label_cells([[1]], {"q": [0], "t": [0]}), "q", None, ["t"])
    [('q',), ('t',), ('q', 't')]
    """
    names = list(cells.levels)
    if object_ not in names:
        raise ValueError(f"variance_components: object_ must be one of {names}, got {object_!r}")
    if object_ in fixed or set(fixed) - set(names):
        raise ValueError(
            f"variance_components: fixed must be facets of {names} without {object_!r}, "
            f"got {sorted(fixed)}"
        )
    if terms is None:
        ordered = [object_, *(name for name in names if name != object_)]
        largest = min(len(ordered), _LARGEST_INTERACTION)
        return [one for size in range(1, largest + 1) for one in combinations(ordered, size)]
    wanted = [tuple(dict.fromkeys(term)) for term in terms]
    strangers = {name for term in wanted for name in term} - set(names)
    if strangers or not all(wanted) or len({frozenset(term) for term in wanted}) < len(wanted):
        raise ValueError(
            f"variance_components: terms must be distinct sets of {names}, got {terms!r}"
        )
    return sorted(wanted, key=len)


def taken_out(
    cells: FacetCells, margins: Sequence[Margin], fixed: Collection[str], *, object_: str
) -> Margin | None:
    """Put the fixed facets that vary together; None where none does, or no deviation is left.

    Examples
    --------
    >>> from judgerel_ray.stats.facet_cells import label_cells
    >>> cells = label_cells([[1], [1], [1]], {"q": [0, 0, 1], "t": [0, 1, 0]})
    >>> t = margin(cells, ("t",), object_="q")
    >>> taken_out(cells, [t], ["t"], object_="q").n_levels, taken_out(cells, [t], [], object_="q")
    (2, None)
    """
    single = {one.facets[0] for one in margins if len(one.facets) == 1 and one.n_levels > 1}
    names = tuple(name for name in cells.levels if name in fixed and name in single)
    if not names:
        return None
    together = margin(cells, names, object_=object_)
    return together if together.n_levels < cells.n_C.sum() else None


def method_in_words(kind: str, fixed: Margin | None, sizes: Mapping[str, int]) -> str:
    """Say how components were estimated, what was fixed, and what is of a finite number.

    Examples
    --------
    >>> method_in_words("scores", None, {})
    "analysis of variance, Henderson's method I, all facets random"
    """
    words = "analysis of variance, Henderson's method I, all facets random"
    if fixed is not None:
        words = (
            f"analysis of variance, {', '.join(fixed.facets)} fixed: sums of squares of deviations "
            "from the means of the fixed levels; all other facets random"
        )
    if sizes:
        known = ", ".join(f"{name} of {size} levels" for name, size in sizes.items())
        words = f"{words}; finite: {known}"
    return f"one-hot (Gini) {words}" if kind == "labels" else words
