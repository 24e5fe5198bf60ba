"""Rows of alignment with a reference: sampled scores and probability-weighted ones side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgerel_ray.reduce.estimates import Row
from judgerel_ray.reduce.rated import RatedGroup
from judgerel_ray.stats import Estimate, ReferenceAgreement
from judgerel_ray.stats.paired import Difference

NOT_SAMPLED = "not_sampled"
"""Why single and averaged are undefined: only distributions are there."""
OFF_SCALE = "reference_off_scale"
"""Why intraclass correlations are undefined: the reference has scores that the scale has not."""
_LACKING = {
    "no_spread": "without any one question it comes out the same",
    "depends_on_one_question": "without one of the questions there is no value",
    "too_few_units": "too few units",
}
_INTRACLASS = ("icc_agreement", "icc_consistency")


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
    undefined = found.averaged.undefined
    row: dict[str, object] = {
        "coefficient": found.coefficient,
        "n_items": found.averaged.n_questions,
        "n_units": found.averaged.n_units,
        "reference": name,
        "estimator": _in_words(found.averaged),
        "undefined": undefined or (NOT_SAMPLED if drawn is None else None),
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


def on_one_scale(found: ReferenceAgreement) -> ReferenceAgreement:
    """Leave an intraclass correlation undefined where the reference is on another scale.

    It compares scores as they are, so that between 0 to 1 and 1 to 5 it would tell of the units.

    Examples
    --------
    >>> from judgerel_ray.stats import reference_agreement
    >>> found = reference_agreement([1, 2, 4], [0.1, 0.2, 0.4], coefficient="icc_agreement")
    >>> on_one_scale(found).averaged.undefined
    'reference_off_scale'
    """
    if found.coefficient not in _INTRACLASS:
        return found
    single, averaged = (
        replace(one, value=None, low=None, high=None, undefined=OFF_SCALE)
        for one in (found.single, found.averaged)
    )
    gain = Difference(name=found.gain.name, undefined=OFF_SCALE, n_questions=0)
    return replace(found, single=single, averaged=averaged, gain=gain)


def _in_words(one: Estimate) -> str:
    """How a number was computed, and what its interval lacks."""
    parts = [one.estimator]
    if one.few_questions and not one.undefined:
        parts.append("few informative questions")
    if one.no_interval and not one.undefined:
        parts.append(f"no interval: {_LACKING.get(one.no_interval, one.no_interval)}")
    return "; ".join(parts)


def _ends(name: str, one: Estimate) -> dict[str, object]:
    """A number with its interval."""
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
