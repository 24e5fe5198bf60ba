"""Which items people should label: drawn with known probabilities, so that no choice biases."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.stats.counts.statistic import Floats

CHOICES = ("random", "unstable", "uncertain")
_NOTHING = {
    "unstable": "no judge was asked twice, or none ever changed its verdict",
    "uncertain": "there is no column confidence, or every judge is sure",
}
_HALF = 0.5
"""Share of the draw that goes to all units alike, whatever is looked for: no weight gets large."""


def drawn_units(
    units: pl.DataFrame, n: int, *, choose: str = "random", seed: int = 0
) -> pl.DataFrame:
    """Draw units to be labelled, in random order.

    Parameters
    ----------
    units : DataFrame
        A row a unit, with ``unstable`` and ``uncertain``, at least 0 (null: nothing known).
    n : int
        How many, at least 1; all, where there are no more.
    choose : {"random", "unstable", "uncertain"}
        What half of the draw goes by; the other half goes by nothing.
    seed : int
        Of the draw.

    Returns
    -------
    DataFrame
        The units drawn, with the ``probability`` that each had.

    Raises
    ------
    SweepError
        If fewer than one are asked for, or nothing is known of what is looked for.

    Notes
    -----
    Systematic sampling from a random order, with probability proportional to size: as many units as
    asked for, each with the probability told.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": list("abcd"), "unstable": [0.0, 0.0, 0.0, 1.0],
    ...                       "uncertain": [None] * 4})
    >>> drawn_units(units, 2, choose="unstable").sort("item_id")["probability"].to_list()[-1]
    1.0
    """
    if n < 1:
        raise SweepError(f"--n must be at least 1, got {n}")
    size = np.zeros(units.height)
    if choose != "random":
        known = units[choose].fill_null(0.0).to_numpy()
        if not known.any():
            raise SweepError(
                f"nothing to choose {choose} items by: {_NOTHING[choose]}", hint="--choose random"
            )
        size = known / known.sum()
    alike = 1 / units.height
    wanted = alike if choose == "random" else _HALF * alike + (1 - _HALF) * size
    chance = _capped(np.broadcast_to(wanted, units.height), min(n, units.height))
    rng = np.random.default_rng(seed)
    order = rng.permutation(units.height)
    ends = np.cumsum(chance[order])
    start = rng.random()
    before = np.concatenate([[0.0], ends[:-1]])
    taken = np.floor(ends - start - 1e-9) > np.floor(before - start - 1e-9)
    chosen = rng.permutation(order[taken])
    return units[chosen].with_columns(probability=pl.Series(chance[chosen]))


def _capped(size: Floats, n: int) -> Floats:
    """Probabilities proportional to size, none above 1, that add up to `n`."""
    if n == size.size:
        return np.ones(n)
    chance = n * size / size.sum()
    for _ in range(size.size):
        certain = chance >= 1
        rest = n - int(certain.sum())
        if not (chance > 1 + 1e-12).any():
            break
        chance = np.where(certain, 1.0, rest * size / max(size[~certain].sum(), 1e-300))
    capped: Floats = np.minimum(chance, 1.0)
    return capped
