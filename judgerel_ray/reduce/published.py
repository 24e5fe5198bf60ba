"""What was published, by name: schroeder2024 on rows of judgments, always with its warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from judgerel_ray.reduce.codes import code_table
from judgerel_ray.reduce.estimates import NOISE_ABOVE, Group, Row
from judgerel_ray.reduce.printed import PRINTED, printed_rows

ESTIMATOR = ("schroeder2024_alpha", "schroeder2024_omega")
"""The published estimator."""
PUBLISHED = (*ESTIMATOR, *PRINTED)
"""All that has its name from the paper it is in."""


def published_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Compute what was published of one group, as its authors did.

    Parameters
    ----------
    group : Group
        The group.
    rows : pl.DataFrame
        Its rows, from :func:`read_labels`.
    names : sequence of str
        Some of `PUBLISHED`.

    Yields
    ------
    Row
        One a name, or those of :func:`judgerel_ray.reduce.printed.printed_rows`, whatever is
        missing: the authors have their own rule for that. ``undefined`` is "no_letter_codes" where
        verdicts are other than A to E, or correct and incorrect.

    Raises
    ------
    SweepError
        If factor_analyzer is not installed (extra ``legacy``).

    Examples
    --------
    >>> from judgerel_ray.reduce.codes import read_labels
    >>> from judgerel_ray.reduce.matrix import unit_table
    >>> from judgerel_ray.reduce.nesting import nest_rows
    >>> counts = pl.DataFrame({"item_id": ["q"], "verdict": ["7"], "score": [None],
    ...                        "outcome": ["scored"], "n": [1]})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=1,
    ...               n_outcomes=0)
    >>> labels = read_labels(pl.LazyFrame({"item_id": ["q"], "replication": [0],
    ...                                    "verdict": ["7"]}),
    ...                      ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> [row["undefined"] for row in published_rows(group, labels, ["schroeder2024_alpha"])]
    ['no_letter_codes']
    """
    yield from printed_rows(group, rows, [name for name in names if name in PRINTED])
    if wanted := [name for name in names if name in ESTIMATOR]:
        yield from _estimator_rows(group, rows, wanted)


def _estimator_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Alpha and omega of one group."""
    from judgerel_ray.legacy import WARNING, schroeder2024, schroeder2024_noise_floor

    codes = code_table(rows, unit=group.unit)
    found = None if codes is None else schroeder2024(codes)
    noise = None if codes is None else schroeder2024_noise_floor(codes, observed=found)
    for name in names:
        omega = name.endswith("omega")
        null = (noise.omega if omega else noise.alpha) if noise else None
        words = ["schroeder2024"]
        if found:
            words.append(
                f"{found.n_varying} of {found.n_questions} questions vary, {found.n_constant} that "
                f"do not count as 1, {found.n_silent} never answered are dropped"
            )
        if omega and found and found.n_improper:
            words.append(f"{found.n_improper} uniquenesses below 0")
        words += [f"floor of {null.method}"] if null and null.method else []
        why = (found.omega_undefined if omega else found.alpha_undefined) if found else None
        yield {
            "coefficient": name,
            "value": (found.omega if omega else found.alpha) if found else None,
            "low": None,
            "high": None,
            "noise_floor": null.mean if null else None,
            "noise_floor_sd": null.sd if null else None,
            "p_noise": null.p if null else None,
            "noise": null.p > NOISE_ABOVE if null and null.p is not None else None,
            "measurement": "interval",
            "missing": None,
            "n_categories": None,
            "n_missing": 0 if codes is None else int(np.isnan(codes).sum()),
            "estimator": "; ".join([*words, f"WARNING: {WARNING}"]),
            "undefined": why if found else "no_letter_codes",
            **group.basis,
        }
