"""Rows of alignment with a reference: sampled scores and probability-weighted ones side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgerel_ray.reduce.estimates import Row
from judgerel_ray.reduce.rated import RatedGroup
from judgerel_ray.stats import Estimate, ReferenceAgreement

NOT_SAMPLED = "not_sampled"
"""Why single and averaged are undefined: only distributions are there."""


def side_by_side(
    sampled: Sequence[RatedGroup], weighted: Sequence[RatedGroup]
) -> list[tuple[Mapping[str, object], RatedGroup | None, RatedGroup | None]]:
    """Pair groups of one key: what was sampled, and what is weighted by probabilities.

    Examples
    --------
    >>> side_by_side([], [])
    []
    """
    drawn = {tuple(group.key.items()): group for group in sampled}
    known = {tuple(group.key.items()): group for group in weighted}
    keys = dict.fromkeys((*drawn, *known))
    return [(dict(key), drawn.get(key), known.get(key)) for key in keys]


def alignment_row(
    drawn: ReferenceAgreement | None, known: ReferenceAgreement | None, name: str
) -> Row:
    """Write one coefficient, of what was sampled and of what was computed.

    Raises
    ------
    ValueError
        If there is neither.

    Examples
    --------
    >>> from judgerel_ray.stats import reference_agreement
    >>> known = reference_agreement([1, 2, 4, 3], [1, 2, 3, 4])
    >>> row = alignment_row(None, known, "people")
    >>> round(row["weighted"], 3), row["n_weighted"], row["undefined"]
    (0.8, 4, 'not_sampled')
    """
    found = drawn or known
    if found is None:
        raise ValueError("alignment_row: there must be a coefficient")
    row: dict[str, object] = {
        "coefficient": found.coefficient,
        "n_items": found.averaged.n_questions,
        "n_units": found.averaged.n_units,
        "reference": name,
        "estimator": found.averaged.estimator,
        "undefined": NOT_SAMPLED if drawn is None else drawn.averaged.undefined,
    }
    if drawn is not None:
        row |= {
            **_ends("single", drawn.single),
            **_ends("averaged", drawn.averaged),
            "gain": drawn.gain.value,
            "gain_low": drawn.gain.low,
            "gain_high": drawn.gain.high,
            "p_gain": drawn.gain.p,
            "n_averaged": drawn.n_averaged,
        }
    if known is not None:
        row |= {**_ends("weighted", known.averaged), "n_weighted": known.averaged.n_units}
    return row


def _ends(name: str, one: Estimate) -> dict[str, object]:
    """A number with its interval."""
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
