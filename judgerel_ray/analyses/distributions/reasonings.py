"""Replications that reason first: what their verdicts would have been, and where they differ.

The letter each reply drew is replaced by the distribution at its place (Rao-Blackwell): the same
mean with less noise, and the variance split into the reasoning's and the verdict's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.stats import split_variance, tempered_step

UNIT = ("item_id", "template", "option_order")
GROUP = ("judge", "benchmark", "temperature")


def reasoning_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Split the variance of verdicts into that of reasonings and that of verdicts drawn after them.

    Parameters
    ----------
    rows : DataFrame
        One landed reply a row: judge, benchmark, item_id, template, option_order, temperature,
        top_k, place (of the label read on the menu, null for no verdict) and logprobs (as in the
        completions table, null where none were read).

    Returns
    -------
    DataFrame
        One row a judge, benchmark and temperature: ``agreement`` (unbiased), ``reasoning`` and
        ``verdict`` (they and agreement sum to 1), ``ratio`` with its 95 % interval over questions
        (reasonings needed, as a share of letters drawn, for the same error), ``largest_shift``
        (largest difference, over questions and verdicts, between mean distribution and share of
        letters drawn), ``n_questions``, ``n_replications``.

    Notes
    -----
    A reply without a verdict is "no verdict"; in one that has a verdict, tokens that would have
    spelled none at its place are left out, as the reply itself shows that none of them was drawn:
    so the mean distribution is that of the letters, without bias. A verdict whose place was not
    read counts as its letter. What lists of the most probable tokens leave out is shared in
    proportion.

    Examples
    --------
    >>> schema = {name: pl.Float64 if name == "temperature" else pl.String for name in GROUP}
    >>> reasoning_table(pl.DataFrame(schema=schema)).height
    0
    """
    found = []
    for name, part in rows.filter(pl.col("temperature") > 0).group_by(*GROUP, maintain_order=True):
        found.append({**dict(zip(GROUP, name, strict=True)), **_split(part)})
    return pl.DataFrame(found, schema=_FOUND).sort(*GROUP, descending=[False, False, True])


_FOUND = {
    "judge": pl.String,
    "benchmark": pl.String,
    "temperature": pl.Float64,
    "agreement": pl.Float64,
    "reasoning": pl.Float64,
    "verdict": pl.Float64,
    "ratio": pl.Float64,
    "ratio_low": pl.Float64,
    "ratio_high": pl.Float64,
    "largest_shift": pl.Float64,
    "n_questions": pl.Int64,
    "n_replications": pl.Int64,
}


def _split(part: pl.DataFrame) -> dict[str, object]:
    """The split of one group."""
    units = part.partition_by(*UNIT, maintain_order=True)
    # Options that neither a letter nor a token ever named have probability 0, and add nothing.
    spelled = part["logprobs"].explode().struct.field("continuation").max()
    n_values = max(-1, *(n for n in (part["place"].max(), spelled) if isinstance(n, int)), -1) + 2
    most = max(unit.height for unit in units)
    shares = np.full((len(units), most, n_values), np.nan)
    letters = np.zeros((len(units), n_values))
    for u, unit in enumerate(units):
        for r, row in enumerate(unit.iter_rows(named=True)):
            shares[u, r] = verdict_shares(
                row["logprobs"],
                place=row["place"],
                temperature=row["temperature"],
                top_k=row["top_k"],
                n=n_values - 1,
            )
            letters[u, n_values - 1 if row["place"] is None else row["place"]] += 1
    split = split_variance(shares)
    shift = np.abs(split.mean_UV - letters / letters.sum(axis=1, keepdims=True))
    return {
        "agreement": split.agreement,
        "reasoning": split.reasoning,
        "verdict": split.verdict,
        "ratio": split.ratio,
        "ratio_low": split.ratio_low,
        "ratio_high": split.ratio_high,
        "largest_shift": float(np.nanmax(shift)),
        "n_questions": split.n_questions,
        "n_replications": part.height,
    }


def verdict_shares(
    logprobs: Sequence[Mapping[str, object]] | None,
    *,
    place: int | None,
    temperature: float,
    top_k: int,
    n: int,
) -> NDArray[np.float64]:
    """The distribution of the verdict at its place, "no verdict" last.

    Parameters
    ----------
    logprobs : sequence of mapping, or None
        ``logprob`` and ``continuation`` of the most probable tokens; None or empty where none were
        read.
    place : int or None
        The option drawn; None where the reply has no verdict.
    temperature : float
        Of the reply, above 0.
    top_k : int
        Tokens that could be sampled; 0 is all.
    n : int
        Options.

    Returns
    -------
    ndarray of float, shape (n + 1,)
        Sums to 1.

    Examples
    --------
    >>> shares = {0: 0.72, 1: 0.08, None: 0.2}
    >>> listed = [{"logprob": float(np.log(p)), "continuation": c} for c, p in shares.items()]
    >>> verdict_shares(listed, place=1, temperature=1.0, top_k=50, n=2).round(6).tolist()
    [0.9, 0.1, 0.0]
    """
    shares = np.zeros(n + 1)
    drawn = n if place is None else place
    if place is None or not logprobs:
        shares[drawn] = 1.0
        return shares
    values = np.array([one["logprob"] for one in logprobs], dtype=np.float64)
    # A list shorter than top_k holds all that can be sampled, or all but what is shared out.
    step = tempered_step(values, [temperature], top_k=min(top_k, values.size) or values.size)
    for one, probability in zip(logprobs, step.high_TK[0], strict=True):
        spelled = one["continuation"]
        if isinstance(spelled, int):
            shares[spelled] += probability
    if shares[drawn] == 0:  # drawn beyond the list
        shares = np.where(np.arange(n + 1) == drawn, 1.0, 0.0)
    total: NDArray[np.float64] = shares / shares.sum()
    return total
