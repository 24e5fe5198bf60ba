"""Levels of facets in words: what judgments are spread over, and what that does to one judgment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from judgerel_ray.report.words import cell, number

Row = Mapping[str, object]
_SHARES = {2: "half of the time", 3: "a third of the time", 4: "a quarter of the time"}
_SAME = "replications"
_ORDER = "option_order"


def lever(name: str, *, in_full: bool) -> Callable[[Row], str]:
    """Write a lever in words, with the levels that judgments are spread over.

    Examples
    --------
    >>> row = {"lever": "apart", "facets": "option_order", "levels": [2], "levels_of": [2]}
    >>> lever("lever", in_full=True)(row)
    'option_order: 2 of 2 possible, each asked half of the time'
    >>> lever("lever", in_full=False)(row)
    'option_order: 2 of 2'
    """

    def write(row: Row) -> str:
        facets, numbers, sizes = row["facets"], row["levels"], row["levels_of"]
        if not isinstance(facets, str) or not facets or not isinstance(sizes, list):
            return cell(row[name])
        names = facets.split(", ")
        told = numbers if isinstance(numbers, list) else [None] * len(sizes)
        new = [one for one, of in zip(names, sizes, strict=True) if of is None]
        parts = [f"a new {', '.join(new)} each time"] if new else []
        if in_full and _ORDER in new:
            # Options have finitely many orders; here it is open how many options there are.
            parts[0] += f" (if there are N: --facet-size {_ORDER}=N)"
        parts += [
            _of_known(one, n, of, in_full=in_full)
            for one, n, of in zip(names, told, sizes, strict=True)
            if of is not None
        ]
        return "; ".join(parts)

    return write


def component(row: Row) -> str:
    """Write what verdicts vary with as a reader calls it.

    Examples
    --------
    >>> component({"component": "item_id x option_order"}), component({"component": None})
    ('question x option order', '-')
    """
    if row["component"] is None:
        return "-"
    names = str(row["component"]).replace("_", " ").replace("item id", "question")
    return "repeats, and what is left" if names == "residual" else names


def levels(row: Row) -> str:
    """Write how many levels there are, and of how many where that is known.

    Examples
    --------
    >>> levels({"n_levels": 2, "levels_of": 24}), levels({"n_levels": None, "levels_of": None})
    ('2 of 24', '-')
    """
    seen, of = row["n_levels"], row["levels_of"]
    told = f"{seen:,}" if isinstance(seen, int) and seen >= 10_000 else cell(seen)
    return f"{told} of {of:,}" if of is not None else told


def one_judgment(designs: pl.DataFrame) -> str:
    """Say what one judgment is worth, at levels drawn at random and where its prompt comes again.

    Parameters
    ----------
    designs : pl.DataFrame
        The designs of :class:`judgerel_ray.reduce.advice.Advice`.

    Examples
    --------
    >>> from judgerel_ray.reduce.advice import advise_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> one_judgment(advise_judgments(pl.LazyFrame(rows)).designs)[:59]
    'One judgment, its reliability for ranking questions: 0.800 '
    """
    groups = designs.columns[: designs.columns.index("design")]
    ones = designs.filter(pl.col("n_judgments") == 1, pl.col("generalizability").is_not_null())
    parts = ones.partition_by(groups, maintain_order=True) if groups else [ones]
    named = [name for name in groups if designs[name].n_unique() > 1]
    said = []
    for part in parts:
        if part.is_empty():
            continue
        who = ", ".join(cell(part[name][0]) for name in named)
        said.append(f"{who}: {_of_one(part)}" if who else _of_one(part))
    return (
        f"One judgment, its reliability for ranking questions: {'; '.join(said)}." if said else ""
    )


def _of_one(part: pl.DataFrame) -> str:
    """What one judgment of a group is worth."""
    rows = {row["design"]: row for row in part.iter_rows(named=True)}
    spread, same = rows.get("apart"), rows.get(_SAME)
    again = same and _with_ends(same, "repeatability", "repeatability_low", "repeatability_high")
    if spread is None:
        return (
            f"{again} where every question keeps its prompt (repeatability of the ranking); what "
            "another template or order of the options does (reproducibility) was not asked, "
            "option_orders = 2 asks it"
        )
    drawn = _with_ends(spread, "generalizability", "low", "high")
    told = f"{drawn} with its {spread['facets'].replace(', ', ' and ')} drawn at random"
    if same is None:
        return f"{told} (reproducibility); the same prompt was not asked again"
    alone = f"{again} where all keep one order and wording (repeatability of the ranking)"
    return f"{told} (reproducibility), {alone}"


def _with_ends(row: Row, value: str, low: str, high: str) -> str:
    """A number with its interval."""
    if row[low] is None or row[high] is None:
        return number(row[value])
    return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"


def _of_known(facet: str, n: int | None, of: int, *, in_full: bool) -> str:
    """So many of a known number of levels."""
    if n is None:
        return f"{facet}: over {of:,} possible"
    if not in_full:
        return f"{facet}: {n:,} of {of:,}"
    share = f"each asked {_SHARES.get(n, 'equally often')}" if n > 1 else "always the same"
    return f"{facet}: {n:,} of {of:,} possible, {share}"
