"""An alarm that may be looked at every night: capital of a bettor against "nothing changed".

Each refresh brings a p-value, uniform and independent of those before as long as the judge does not
change. A bettor who stakes on small ones multiplies the capital by something of mean 1 each time,
so it ever reaches 1 / level with a chance of at most level (Ville's inequality), however often one
looks and whenever one stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

STAKE = 0.2
"""Share of the capital that each bet risks: one p of 1 in 10,000 is enough for level 0.05, and
thirty quiet nights cost less than half of the capital."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvidence:
    """Where the bettor stands after some refreshes.

    Attributes
    ----------
    capital : float
        What 1 has become: how much likelier a change is than none, by the bets placed.
    highest : float
        The most it ever was.
    is_alarm : bool
        Whether that reached 1 / level.
    since : int or None
        Index of the refresh at which it did first.
    """

    capital: float
    highest: float
    is_alarm: bool
    since: int | None


def payoff(p: ArrayLike) -> NDArray[np.float64]:
    r"""What a stake of 1 on small p pays.

    The mixture of all powers, which has mean 1 where p is uniform and needs no tuning:

    .. math:: F(p) = \int_0^1 \kappa p^{\kappa - 1} d\kappa = (1 - p + p \ln p) / (p \ln^2 p)

    Parameters
    ----------
    p : array_like of float
        In (0, 1].

    Returns
    -------
    ndarray of float
        At least 0.5.

    References
    ----------
    .. [1] Vovk, Wang (2021), E-values: calibration, combination and applications, The Annals of
       Statistics 49(3), DOI 10.1214/20-AOS2020.

    Examples
    --------
    >>> payoff([0.0001, 0.5, 1.0]).round(2).tolist()
    [117.76, 0.64, 0.5]
    """
    values = np.asarray(p, dtype=np.float64)
    near_1 = values > 1 - 1e-4  # where both sides of the fraction vanish
    inside = np.where(near_1, 0.5, np.maximum(values, 1e-300))
    log = np.log(inside)
    found = (1 - inside + inside * log) / (inside * log**2)
    paid: NDArray[np.float64] = np.where(near_1, 0.5 + (1 - values) / 6, found)
    return paid


def drift_evidence(p_T: Sequence[float | None], *, level: float = 0.05) -> DriftEvidence:
    """Bet against "nothing changed" through some refreshes.

    Parameters
    ----------
    p_T : sequence of float or None
        A p-value a refresh, in order; None where no bet is placed.
    level : float
        Chance, at most, of an alarm at any time, where nothing ever changes.

    Returns
    -------
    DriftEvidence
        Capital 1 where nothing was bet.

    Examples
    --------
    >>> drift_evidence([0.4, 0.7, 0.00005]).is_alarm, drift_evidence([0.4, 0.7, 0.05]).is_alarm
    (True, False)
    >>> drift_evidence([None]).capital
    1.0
    """
    if not 0 < level < 1:
        raise ValueError(f"drift_evidence: level must be between 0 and 1, got {level!r}")
    bets = np.array([1.0 if p is None else payoff(p).item() for p in p_T])
    path = np.cumprod(1 - STAKE + STAKE * bets)
    reached = np.flatnonzero(path >= 1 / level)
    return DriftEvidence(
        capital=float(path[-1]) if path.size else 1.0,
        highest=float(path.max(initial=1.0)),
        is_alarm=bool(reached.size),
        since=int(reached[0]) if reached.size else None,
    )
