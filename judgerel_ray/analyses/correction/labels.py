"""What people said of few items: a table of labels, whatever wrote it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from judgerel_ray.analyses.reliability.from_run import beside_table
from judgerel_ray.core import SweepError
from judgerel_ray.core.text import count_of
from judgerel_ray.counting.verdicts.spelling import folded

LABEL, PROBABILITY = "label", "probability"
_CALLED = (LABEL, "verdict", "score")
PASSING = ("pass", "passed", "yes", "true", "1.0", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0.0", "incorrect", "wrong", "bad")
"""Words for what passes and what fails, as :func:`.folded` gives them."""


def read_labels(path: str) -> pl.DataFrame:
    r"""Read labels: one row a label.

    Parameters
    ----------
    path : str
        A table with ``item_id`` and ``label`` (or ``verdict``, or ``score``), and if it likes
        ``rater``, ``probability`` (of having been chosen for labelling) and columns that tell
        apart what judgments of one item are of: ``benchmark``, ``responder``, ``criterion``.

    Returns
    -------
    DataFrame
        ``item_id``, ``label`` as text, what else it has of these. Rows without a label are left
        out.

    Raises
    ------
    SweepError
        If a column is missing, no row has a label, or a probability is not in (0, 1].

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item_id,label,rater\nq1,pass,ann\nq2,,ann\n")
    ...     file.flush()
    ...     read_labels(file.name).rows()
    [('q1', 'pass', 'ann')]
    """
    found, where = beside_table(path, "--labels"), {"file": path}
    named = [one for one in _CALLED if one in found.columns]
    name = next((one for one in named if _has_any(found, one)), next(iter(named), None))
    if name is None or "item_id" not in found.columns:
        raise SweepError(
            "--labels needs columns item_id and label (or verdict, or score), got "
            f"{', '.join(found.columns)}",
            where=where,
            hint="judgerel label PATH --out page.html makes a page that exports such a table",
        )
    text = pl.col(name).cast(pl.String).str.strip_chars()
    found = found.with_columns(pl.col("item_id").cast(pl.String), text.alias(LABEL))
    n_rows = found.height
    found = found.filter(pl.col(LABEL).is_not_null(), pl.col(LABEL) != "")
    if found.is_empty():
        none = f"--labels holds no label: {count_of(n_rows, 'row')}, none with a {name}"
        raise SweepError(none, where=where)
    if PROBABILITY in found.columns:
        text = pl.col(PROBABILITY).cast(pl.String).str.strip_chars()
        found = found.with_columns(pl.when(text != "").then(text).alias(PROBABILITY))
        if not _has_any(found, PROBABILITY):
            found = found.drop(PROBABILITY)
    if PROBABILITY in found.columns:
        number = pl.col(PROBABILITY).cast(pl.Float64, strict=False)
        wrong = found.filter(~number.is_between(0, 1, closed="right").fill_null(False))
        if wrong.height:
            raise SweepError(
                "column probability must be above 0 and at most 1 in every row, got "
                f"{wrong[PROBABILITY][0] or 'nothing'} of item {wrong['item_id'][0]!r}",
                where=where,
                hint="decimals with a point; leave the column out where labels were drawn at "
                "random",
            )
        found = found.with_columns(number)
    dropped = [one for one in (*_CALLED, "outcome") if one != LABEL and one in found.columns]
    return found.drop(dropped)


def _has_any(found: pl.DataFrame, name: str) -> bool:
    """Whether a column is there and holds anything."""
    return name in found.columns and found[name].null_count() < found.height


def passes(text: pl.Expr, positive: str | None) -> pl.Expr:
    """Tell whether a verdict passes (1.0) or not (0.0); null where no word says so.

    Parameters
    ----------
    text : Expr
        Verdicts or labels.
    positive : str, optional
        The verdict that passes: all others do not. By default the words of `PASSING` and
        `FAILING`. A label may say by those words what verdicts say by their own.

    Examples
    --------
    >>> rows = pl.DataFrame({"v": ["PASS", "no", "B"]})
    >>> rows.select(a=passes(pl.col("v"), None), b=passes(pl.col("v"), "b")).rows()
    [(1.0, 0.0), (0.0, 0.0), (None, 1.0)]
    """
    word = folded(text)
    by_word = pl.when(word.is_in(PASSING)).then(1.0).when(word.is_in(FAILING)).then(0.0)
    if positive is None:
        return by_word
    meant = folded(pl.lit(positive))
    return pl.when(word == meant).then(1.0).when(word.is_not_null()).then(0.0)


def label_values(
    labels: pl.DataFrame,
    *,
    positive: str | None,
    is_rate: bool,
    verdicts: Collection[str] = (),
    where: dict[str, object],
) -> pl.DataFrame:
    """Give each label its number, in a column ``said``.

    Where `positive` passes, labels that are all verdicts (`verdicts`, as :func:`.folded` gives
    them) mean what these do: with ``positive="no"`` a label no passes. Others mean what they say.

    Raises
    ------
    SweepError
        If a label says neither pass nor fail, or is not a number where scores are judged.

    Examples
    --------
    >>> label_values(pl.DataFrame({"label": ["yes", "0"]}), positive=None, is_rate=True,
    ...              where={})["said"].to_list()
    [1.0, 0.0]
    """
    number = pl.col(LABEL).cast(pl.Float64, strict=False)
    share = pl.when(number.is_between(0, 1)).then(number)
    by_word = pl.coalesce(passes(pl.col(LABEL), None), share)
    value = by_word if is_rate else pl.when(number.is_finite()).then(number)
    if is_rate and positive is not None:
        words = {*verdicts, pl.select(folded(pl.lit(positive))).item()}
        named = folded(pl.col(LABEL)).is_in(words)
        all_named, all_words = labels.select(a=named.all(), b=by_word.is_not_null().all()).row(0)
        if all_named or not all_words:  # a word for pass among other verdicts says neither
            value = pl.when(named | by_word.is_null()).then(passes(pl.col(LABEL), positive))
    found = labels.with_columns(said=value)
    wrong = found.filter(pl.col("said").is_null())
    if wrong.height:
        or_named = f" (or {positive!r})" if positive else ""
        expected = f"pass or fail{or_named}" if is_rate else "a number, as judged"
        raise SweepError(
            f"a label must say {expected}, got {wrong[LABEL][0]!r} of item {wrong['item_id'][0]!r}",
            where=where,
            hint="--positive NAME: which verdict and label pass"
            if is_rate
            else "decimals with a point",
        )
    return found


def by_unit(labels: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Average labels of one unit over its raters.

    Raises
    ------
    SweepError
        If a unit has several probabilities.

    Examples
    --------
    >>> labels = pl.DataFrame({"item_id": ["q", "q"], "said": [1.0, 0.0]})
    >>> by_unit(labels, ["item_id"]).rows()
    [('q', 0.5, 2, None)]
    """
    if "rater" in labels.columns:  # who labelled an item twice is one rater
        who = [*keys, "rater"]
        labels = labels.with_columns(pl.col("said").mean().over(who)).unique(
            [*who, *({PROBABILITY} & {*labels.columns})], maintain_order=True
        )
    chosen = pl.col(PROBABILITY) if PROBABILITY in labels.columns else pl.lit(None, pl.Float64)
    found = labels.group_by(keys, maintain_order=True).agg(
        pl.col("said").mean(),
        n_raters=pl.len(),
        probability=chosen.first(),
        several=chosen.n_unique() > 1,
    )
    twice = found.filter("several")
    if twice.height:
        raise SweepError(
            "labels of one item must have one probability",
            where={"item_id": twice["item_id"][0]},
        )
    return found.drop("several")
