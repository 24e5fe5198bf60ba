"""Confusion matrices: how sure a judge is when every option has been argued for.

A judge is shown, in turn, an assessment arguing for each option, and every option's probability is
read. An option that stays likely whatever was argued is one the judge is sure of.

Shape suffixes: O = options (rows), A = assessments (columns), N = items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.confusion_columns import (
    checked_confusion,
    dobrushin,
    mutual_information,
    scaled_columns,
    suggestibility,
)
from judgerel_ray.stats.statistic import Floats

Label = Literal["low", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """What one confusion matrix says of one judgment.

    Attributes
    ----------
    u_O : tuple of float
        Mean probability of each option over the assessments; empty where `undefined` is set.
    margin : float or None
        Share of thresholds in (0, 1) at which the judgment is of low uncertainty: the largest u
        less the second largest; 0 where the judge's own choice is required and is another option.
    signed_margin : float or None
        u of the judge's own choice less the largest other u: below 0 where the matrix prefers
        another option. None where the choice is not given.
    entropy : float or None
        Of u scaled to sum 1, in nats; None where every u is 0.
    label : {"low", "high"} or None
        Uncertainty at the threshold; None where none is given or `undefined` is set.
    chosen : int or None
        Row of the judge's own choice.
    chosen_by_matrix : int or None
        Row of the largest u; None where two rows tie.
    worst_case : float or None
        Least probability, over the assessments, of the judge's own choice (of the matrix's where
        none is given): how far the most persuasive assessment carries.
    suggestibility : float or None
        Mean probability of an option under its own assessment less that under the others'; None
        unless there is one assessment an option.
    dobrushin : float or None
        Largest total variation between two assessments' distributions over the options, each
        scaled to sum 1: 0 where arguing changes nothing. None below two assessments.
    mutual_information : float or None
        Between the assessment shown (each as often) and the option, in nats, scaled likewise.
    threshold : float or None
        The threshold of `label`.
    normalised : bool
        Whether each assessment's column was scaled to sum 1 first.
    n_missing : int
        Assessments that are not there, because the judge would not argue the option.
    undefined : str or None
        "single_option" or "no_assessments".
    """

    u_O: tuple[float, ...] = ()  # noqa: N815  a shape, not a case
    margin: float | None = None
    signed_margin: float | None = None
    entropy: float | None = None
    label: Label | None = None
    chosen: int | None = None
    chosen_by_matrix: int | None = None
    worst_case: float | None = None
    suggestibility: float | None = None
    dobrushin: float | None = None
    mutual_information: float | None = None
    threshold: float | None = None
    normalised: bool = False
    n_missing: int = 0
    undefined: str | None = None


def confusion_uncertainty(
    confusion_OA: ArrayLike,
    *,
    threshold: float | None = None,
    chosen: int | None = None,
    own_choice_required: bool | None = None,
    normalised: bool = False,
    strict: bool = False,
) -> Uncertainty:
    r"""Compute scores and the label of one judgment from its confusion matrix.

    .. math:: u_i = \frac{1}{n} \sum_j p_{ij}

    The label is "low" where exactly one u reaches the threshold and, by the text of [1]_, it is
    that of the option the judge chose by itself. The formula of [1]_ leaves the last condition out:
    ``own_choice_required=False``.

    Parameters
    ----------
    confusion_OA : array-like of float, shape (n_options, n_assessments)
        Probability of each option (row) given each assessment (column), in [0, 1]. A column of NaN
        is an assessment that is not there; means are over the others.
    threshold : float, optional
        In (0, 1]; without it there is no label.
    chosen : int, optional
        Row of the option the judge chose before any assessment.
    own_choice_required : bool, optional
        Whether "low" asks that the one option be the judge's own; by default where `chosen` is
        given. True without a choice (the judge gave no verdict) is always "high".
    normalised : bool
        Scale each column to sum 1 first; a column of zeros then counts as missing.
    strict : bool
        Whether u must exceed the threshold, as the text says, in place of reaching it, as the
        formula says.

    Returns
    -------
    Uncertainty
        ``undefined`` is "single_option" with one row and "no_assessments" where no column is there.

    Raises
    ------
    ValueError
        If the matrix is no table of probabilities, a column is NaN in part, or `threshold` or
        `chosen` is out of range.

    Notes
    -----
    With normalised columns and two options, thresholds t and 1 - t give the same labels: the
    accuracy is then symmetric about one half whatever the judge.

    References
    ----------
    .. [1] Wagner et al. (2024), Black-box Uncertainty Quantification Method for LLM-as-a-Judge,
       arXiv:2410.11594.

    Examples
    --------
    The judge holds to the first option whatever is argued: u = (.8, .2).

    >>> sure = confusion_uncertainty([[0.9, 0.7], [0.1, 0.3]], threshold=0.5, chosen=0)
    >>> sure.label, round(sure.margin, 6), sure.worst_case, round(sure.suggestibility, 6)
    ('low', 0.6, 0.7, 0.2)

    The same matrix speaks against a judge that chose the second:

    >>> confusion_uncertainty([[0.9, 0.7], [0.1, 0.3]], threshold=0.5, chosen=1).label
    'high'
    """
    confusion = checked_confusion(confusion_OA, function="confusion_uncertainty")
    n_options = len(confusion)
    if chosen is not None and not 0 <= chosen < n_options:
        raise ValueError(
            f"confusion_uncertainty: chosen must be a row from 0 to {n_options - 1}, got {chosen!r}"
        )
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(
            f"confusion_uncertainty: threshold must be above 0 and at most 1, got {threshold!r}"
        )
    shares = scaled_columns(confusion)
    used = shares if normalised else confusion
    there = ~np.isnan(used).any(axis=0)
    n_missing = int((~there).sum())
    required = chosen is not None if own_choice_required is None else own_choice_required
    if n_options == 1 or not there.any():
        return Uncertainty(
            undefined="single_option" if n_options == 1 else "no_assessments",
            chosen=chosen,
            threshold=threshold,
            normalised=normalised,
            n_missing=n_missing,
        )
    u_O = used[:, there].mean(axis=1)
    top = leader(u_O)
    gap = top_gap(u_O)
    held = chosen if chosen is not None else top
    return Uncertainty(
        u_O=tuple(u_O.tolist()),
        margin=gap if not required or top == chosen else 0.0,
        signed_margin=None if chosen is None else signed_margin(u_O, chosen),
        entropy=_entropy(u_O),
        label=_label(u_O, threshold, chosen if required else top, strict=strict),
        chosen=chosen,
        chosen_by_matrix=top,
        worst_case=None if held is None else float(used[held, there].min()),
        suggestibility=suggestibility(used),
        dobrushin=dobrushin(shares),
        mutual_information=mutual_information(shares),
        threshold=threshold,
        normalised=normalised,
        n_missing=n_missing,
    )


def leader(u_O: Floats) -> int | None:
    """Row of the largest u; None where two tie.

    Examples
    --------
    >>> leader(np.array([0.1, 0.7])), leader(np.array([0.4, 0.4]))
    (1, None)
    """
    top = int(u_O.argmax())
    return top if (u_O == u_O[top]).sum() == 1 else None


def top_gap(u_O: Floats) -> float:
    """Largest u less the second largest.

    Examples
    --------
    >>> round(top_gap(np.array([0.1, 0.7, 0.2])), 6)
    0.5
    """
    second, first = np.partition(u_O, -2)[-2:]
    return float(first - second)


def signed_margin(u_O: Floats, chosen: int) -> float:
    """U of one row less the largest of the others.

    Examples
    --------
    >>> round(signed_margin(np.array([0.1, 0.7, 0.2]), 2), 6)
    -0.5
    """
    return float(u_O[chosen] - np.delete(u_O, chosen).max())


def _label(
    u_O: Floats, threshold: float | None, wanted: int | None, *, strict: bool
) -> Label | None:
    """Low where one u reaches the threshold and it is the wanted row's."""
    if threshold is None:
        return None
    reached = np.flatnonzero(u_O > threshold if strict else u_O >= threshold)
    return "low" if reached.size == 1 and reached[0] == wanted else "high"


def _entropy(u_O: Floats) -> float | None:
    """- sum of p log p for p = u / sum of u."""
    total = u_O.sum()
    if total == 0:
        return None
    p = u_O[u_O > 0] / total
    return float(max(0.0, -(p * np.log(p)).sum()))
