"""Confusion matrices: how sure a judge is when every option has been argued for.

A judge is shown, in turn, an assessment arguing for each option, and every option's probability is
read. An option that stays likely whatever was argued is one the judge is sure of.

The label is low between two edges. With u sorted downwards, a judgment is of low uncertainty at
threshold t where u2 < t <= u1 (where u must exceed it, u2 <= t < u1) and its own choice allows it.
So two numbers and a flag an item are all a search needs.

Shape suffixes: O = options (rows), A = assessments (columns), N = items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats, divide


def checked_confusion(confusion_OA: ArrayLike, *, function: str) -> Floats:
    """Read a confusion matrix, refusing what is none."""
    confusion = np.asarray(confusion_OA, dtype=np.float64)
    if confusion.ndim != 2 or not len(confusion):
        raise ValueError(
            f"{function}: confusion_OA must have 2 dimensions and a row, got {confusion.shape}"
        )
    absent = np.isnan(confusion)
    if (absent.any(axis=0) != absent.all(axis=0)).any():
        raise ValueError(f"{function}: confusion_OA must hold a whole column of NaN or none of it")
    known = confusion[~absent]
    # Sums of exponentials exceed 1 by rounding.
    if ((known < 0) | (known > 1 + 1e-6)).any():
        raise ValueError(f"{function}: confusion_OA must hold probabilities from 0 to 1")
    return confusion


def scaled_columns(confusion_OA: Floats) -> Floats:
    """Scale each column to sum 1; a column of zeros becomes NaN."""
    return divide(confusion_OA, np.broadcast_to(confusion_OA.sum(axis=0), confusion_OA.shape))


def suggestibility(used_OA: Floats) -> float | None:
    """Compare an option's probability under its own assessment with that under the others'.

    Mean of the diagonal less the mean of the rest; None unless there is one assessment an option,
    and each of them there.
    """
    n = len(used_OA)
    diagonal = np.eye(n, dtype=bool)
    if used_OA.shape != diagonal.shape or np.isnan(used_OA).all(axis=0).any():
        return None
    return float(used_OA[diagonal].mean() - used_OA[~diagonal].mean())


def dobrushin(shares_OA: Floats) -> float | None:
    """Give the largest total variation between two columns, each of sum 1."""
    columns = shares_OA[:, ~np.isnan(shares_OA).any(axis=0)]
    if columns.shape[1] < 2:
        return None
    apart = np.abs(columns[:, :, None] - columns[:, None, :]).sum(axis=0) / 2
    return float(apart.max())


def mutual_information(shares_OA: Floats) -> float | None:
    """Give the mean divergence of columns of sum 1 from their mean, in nats."""
    columns = shares_OA[:, ~np.isnan(shares_OA).any(axis=0)]
    if columns.shape[1] < 2:
        return None
    from scipy.special import rel_entr

    apart = rel_entr(columns, columns.mean(axis=1, keepdims=True))
    return float(max(0.0, apart.sum() / columns.shape[1]))


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
    bare = Uncertainty(
        chosen=chosen, threshold=threshold, normalised=normalised, n_missing=n_missing
    )
    if n_options == 1 or not there.any():
        return replace(bare, undefined="single_option" if n_options == 1 else "no_assessments")
    u_O = used[:, there].mean(axis=1)
    top = leader(u_O)
    gap = top_gap(u_O)
    held = chosen if chosen is not None else top
    return replace(
        bare,
        u_O=tuple(u_O.tolist()),
        margin=gap if not required or top == chosen else 0.0,
        signed_margin=None if chosen is None else signed_margin(u_O, chosen),
        entropy=_entropy_of_uncertainties(u_O),
        label=_low_label_of_uncertainty(u_O, threshold, chosen if required else top, strict=strict),
        chosen_by_matrix=top,
        worst_case=None if held is None else float(used[held, there].min()),
        suggestibility=suggestibility(used),
        dobrushin=dobrushin(shares),
        mutual_information=mutual_information(shares),
    )


def leader(u_O: Floats) -> int | None:
    """Row of the largest u; None where two tie."""
    top = int(u_O.argmax())
    return top if (u_O == u_O[top]).sum() == 1 else None


def top_gap(u_O: Floats) -> float:
    """Largest u less the second largest."""
    second, first = np.partition(u_O, -2)[-2:]
    return float(first - second)


def signed_margin(u_O: Floats, chosen: int) -> float:
    """U of one row less the largest of the others."""
    return float(u_O[chosen] - np.delete(u_O, chosen).max())


def _low_label_of_uncertainty(
    u_O: Floats, threshold: float | None, wanted: int | None, *, strict: bool
) -> Label | None:
    """Low where one u reaches the threshold and it is the wanted row's."""
    if threshold is None:
        return None
    reached = np.flatnonzero(u_O > threshold if strict else u_O >= threshold)
    return "low" if reached.size == 1 and reached[0] == wanted else "high"


def _entropy_of_uncertainties(u_O: Floats) -> float | None:
    """- sum of p log p for p = u / sum of u."""
    from scipy.special import entr

    total = u_O.sum()
    return None if total == 0 else float(max(0.0, entr(u_O / total).sum()))


Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEdges:
    """Between which thresholds each judgment is of low uncertainty.

    Attributes
    ----------
    above_N : ndarray of float, shape (n_items,)
        The second largest u: low above it.
    upto_N : ndarray of float, shape (n_items,)
        The largest u: low up to it, and at it.
    allowed_N : ndarray of bool, shape (n_items,)
        Whether the own-choice rule lets the label be low at all.
    strict : bool
        Whether u must exceed the threshold, in place of reaching it: low then from the second
        largest u on, and not at the largest.
    """

    above_N: Floats  # noqa: N815  a shape, not a case
    upto_N: Floats  # noqa: N815
    allowed_N: Bools  # noqa: N815
    strict: bool = False

    def low(self, threshold: float) -> Bools:
        """Mark the judgments of low uncertainty at a threshold."""
        if self.strict:
            inside = (self.above_N <= threshold) & (threshold < self.upto_N)
        else:
            inside = (self.above_N < threshold) & (threshold <= self.upto_N)
        return self.allowed_N & inside

    def take(self, rows: NDArray[np.intp] | Bools) -> LabelEdges:
        """Keep some of the judgments."""
        return LabelEdges(
            above_N=self.above_N[rows],
            upto_N=self.upto_N[rows],
            allowed_N=self.allowed_N[rows],
            strict=self.strict,
        )


def label_edges(
    uncertainties: Sequence[Uncertainty],
    *,
    own_choice_required: bool = True,
    strict: bool = False,
) -> LabelEdges:
    """Read the edges of the label off the scores of many judgments.

    Parameters
    ----------
    uncertainties : sequence of Uncertainty
        One a judgment; one that is undefined is never low.
    own_choice_required : bool
        Whether low asks that the largest u be that of the judge's own choice.
    strict : bool
        As for :func:`judgerel_ray.stats.confusion_uncertainty`.

    Returns
    -------
    LabelEdges

    Examples
    --------
    >>> from judgerel_ray.stats import confusion_uncertainty
    >>> one = confusion_uncertainty([[0.9, 0.7], [0.1, 0.3]], chosen=0)
    >>> edges = label_edges([one])
    >>> edges.low(0.5).tolist(), edges.low(0.85).tolist()
    ([True], [False])
    """
    tops = [sorted(one.u_O)[-2:] or [0.0, 0.0] for one in uncertainties]
    pairs = np.array(tops, dtype=np.float64).reshape(-1, 2)
    allowed = [
        one.undefined is None and (not own_choice_required or one.chosen == one.chosen_by_matrix)
        for one in uncertainties
    ]
    return LabelEdges(
        above_N=pairs[:, 0],
        upto_N=pairs[:, 1],
        allowed_N=np.array(allowed, dtype=bool),
        strict=strict,
    )
