"""What people said of few items, laid beside the judgments of these items.

A table of labels, whatever wrote it, becomes one row a unit: an item, or an answer to it, with what
a judge gave it on average and what people gave it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from shlex import quote
from typing import TypedDict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.text import count_of
from judgerel_ray.counting.gold import beside_table, report_unmatched_gold
from judgerel_ray.counting.groups.grouping import CountedJudgments, count_judgments, parts_by
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdicts.policy import FAILED, LABEL, SCORED
from judgerel_ray.counting.verdicts.spelling import folded
from judgerel_ray.stats.counts import Floats

LABELLED, PROBABILITY = "label", "probability"
_CALLED = (LABELLED, "verdict", "score")
PASSING = ("pass", "passed", "yes", "true", "1.0", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0.0", "incorrect", "wrong", "bad")
"""Words for what passes and what fails, as :func:`.folded` gives them."""


def read_labels(path: str) -> pl.DataFrame:
    r"""Read labels: one row a label.

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
    name = next(
        (one for one in named if _has_correction_column(found, one)), next(iter(named), None)
    )
    if name is None or "item_id" not in found.columns:
        raise SweepError(
            "--labels needs columns item_id and label (or verdict, or score), got "
            f"{', '.join(found.columns)}",
            where=where,
            hint="judgerel label PATH --out page.html makes a page that exports such a table",
        )
    text = pl.col(name).cast(pl.String).str.strip_chars()
    found = found.with_columns(pl.col("item_id").cast(pl.String), text.alias(LABELLED))
    n_rows = found.height
    found = found.filter(pl.col(LABELLED).is_not_null(), pl.col(LABELLED) != "")
    if found.is_empty():
        none = f"--labels holds no label: {count_of(n_rows, 'row')}, none with a {name}"
        raise SweepError(none, where=where)
    if PROBABILITY in found.columns:
        text = pl.col(PROBABILITY).cast(pl.String).str.strip_chars()
        found = found.with_columns(pl.when(text != "").then(text).alias(PROBABILITY))
        if not _has_correction_column(found, PROBABILITY):
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
    dropped = [one for one in (*_CALLED, "outcome") if one != LABELLED and one in found.columns]
    return found.drop(dropped)


def gold_as_labels(judged: Snapshot) -> pl.DataFrame | None:
    """Take the column gold of a file as labels; None where there is none, or in a run.

    Nor is it labels where none of it is a verdict, a number, or a word for pass or fail: it is
    then what a reference says, which a line tells.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q", "r"], "replication": [0, 1, 0],
    ...                      "verdict": ["pass", "fail", "pass"], "gold": ["pass", "pass", None]})
    >>> with Snapshot.open(rows, columns=["gold"]) as judged:
    ...     gold_as_labels(judged).rows()
    [('q', 'pass')]
    """
    names = judged.frame.collect_schema().names()
    if judged.run is not None or GOLD not in names:
        return None
    keys = [one for one in ("item_id", *_APART) if one in names]
    text = pl.col(GOLD).cast(pl.String).str.strip_chars()
    rows = judged.frame.select(*keys, text.alias(LABELLED)).filter(pl.col(LABELLED) != "")
    found = rows.unique(maintain_order=True).collect()
    if found.is_empty():
        return None
    label = pl.col(LABELLED)
    is_word = passes(label, None).is_not_null() | label.cast(pl.Float64, strict=False).is_not_null()
    if not found.select(is_word.any()).item():
        unmatched = report_unmatched_gold(judged)
        if unmatched is not None and unmatched.n_rows >= unmatched.of_rows:
            return None
    return found


def _has_correction_column(found: pl.DataFrame, name: str) -> bool:
    """Whether a column is there and holds anything."""
    return name in found.columns and found[name].null_count() < found.height


def passes(text: pl.Expr, positive: str | None) -> pl.Expr:
    """Tell whether a verdict passes (1.0) or not (0.0); null where no word says so.

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
    Beside labels that pass so, a word that no verdict has does not pass.

    Examples
    --------
    >>> label_values(pl.DataFrame({"label": ["yes", "0"]}), positive=None, is_rate=True,
    ...              where={})["said"].to_list()
    [1.0, 0.0]
    """
    number = pl.col(LABELLED).cast(pl.Float64, strict=False)
    share = pl.when(number.is_between(0, 1)).then(number)
    by_word = pl.coalesce(passes(pl.col(LABELLED), None), share)
    value = by_word if is_rate else pl.when(number.is_finite()).then(number)
    unknown = pl.lit(False)
    if is_rate and positive is not None:
        word, meant = folded(pl.col(LABELLED)), pl.select(folded(pl.lit(positive))).item()
        named = word.is_in({*verdicts, meant})
        all_named, any_named, all_words, any_passes = labels.select(
            a=named.all(), b=named.any(), c=by_word.is_not_null().all(), d=(word == meant).any()
        ).row(0)
        if all_named:
            value = passes(pl.col(LABELLED), positive)
        elif not all_words and any_passes:  # a word for pass among other verdicts says neither
            unknown = ~named & by_word.is_null()
            value = pl.when(named | unknown).then(passes(pl.col(LABELLED), positive))
        elif not all_words:  # the word that people pass by may be one that is not known
            value = pl.when(named).then(0.0) if any_named else by_word
    found = labels.with_columns(said=value)
    wrong = found.filter(pl.col("said").is_null())
    if wrong.height:
        or_named = f" (or {positive!r})" if positive else ""
        expected = f"pass or fail{or_named}" if is_rate else "a number, as judged"
        within = (
            f"in the labels write pass or fail, or a verdict ({', '.join(sorted(verdicts)[:6])})"
        )
        raise SweepError(
            f"a label must say {expected}, got {wrong[LABELLED][0]!r} of item "
            f"{wrong['item_id'][0]!r}",
            where=where,
            hint=within if is_rate else "decimals with a point",
        )
    strange = found.filter(unknown)
    if strange.height:
        few = strange[LABELLED].unique(maintain_order=True)
        more = f" and {few.len() - 4} more" if few.len() > 4 else ""
        warn_of([
            f"{count_of(strange.height, 'label')} of {found.height} say "
            f"{', '.join(map(repr, few.head(4)))}{more}, which no verdict of the judge is: they "
            f"count as not {positive!r}; leave out labels that say neither"
        ])  # fmt: skip
    return found


def by_unit(labels: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Average labels of one unit over its raters.

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


_APART = ("benchmark", "responder", "criterion")
_EITHER = 2  # verdicts of which either may pass
_FAR = 2  # times as high as the other end: a scale of ten beside one of five
"""What judgments of one item may be of, besides columns to group by."""
_VALUE_COLUMNS = ("verdict", "score", "outcome", "n", "value")


class Weighed(TypedDict):
    """Weights and questions of labelled units, as estimators take them."""

    weights_N: Floats | None
    clusters_N: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """A group's units: an item, of one responder and criterion where there are several."""

    group: dict[str, object]
    # A row a unit: item_id, `cluster` (its question as a number), `judged` (mean over
    # replications), `spread` (variance of those of one prompt, null of one), `n`, `said` (mean
    # label, null without), `n_raters`, `probability`.
    frame: pl.DataFrame
    is_rate: bool  # Whether what is judged is whether something passes; else it is a score.

    @property
    def labelled(self) -> pl.DataFrame:
        """Units with a label."""
        return self.frame.filter(pl.col("said").is_not_null())

    @property
    def pairs(self) -> tuple[Floats, Floats]:
        """What people said of the labelled, and what the judge did."""
        rows = self.labelled
        return rows["said"].to_numpy(), rows["judged"].to_numpy()

    @property
    def weighed(self) -> Weighed:
        """How the labelled are weighed and clustered."""
        return {"weights_N": self.weights, "clusters_N": self.labelled["cluster"].to_numpy()}

    @property
    def unlabelled(self) -> pl.DataFrame:
        """Units that labels speak for: all where some were likelier, else those without one."""
        return self.others if self.weights is None else self.frame

    @property
    def others(self) -> pl.DataFrame:
        """Units without one."""
        return self.frame.filter(pl.col("said").is_null())

    @property
    def weights(self) -> Floats | None:
        """Inverse probabilities of the labelled; None where all were as likely."""
        chosen = self.labelled["probability"]
        if chosen.null_count() or chosen.n_unique() < 2:
            return None
        return np.asarray(1 / chosen.to_numpy())

    @property
    def is_share(self) -> bool:
        """Whether all numbers are in [0, 1]."""
        ends = self.frame.select(
            low=pl.min_horizontal(pl.col("judged").min(), pl.col("said").min()),
            high=pl.max_horizontal(pl.col("judged").max(), pl.col("said").max()),
        ).row(0)
        return self.is_rate or (ends[0] >= 0 and ends[1] <= 1)


def labelled_units(
    judged: Snapshot,
    labels: pl.DataFrame,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    file: str = "",
) -> tuple[list[Units], int]:
    """Lay labels beside judgments."""
    counted, valued, is_rate = judged_values(judged, by=by, positive=positive)
    verdicts = valued.filter(SCORED).select(folded(LABEL)).to_series().unique()
    values = label_values(
        labels, positive=positive, is_rate=is_rate, verdicts=verdicts.to_list(),
        where={"file": file},
    )  # fmt: skip
    if not is_rate:
        _check_scale(values["said"], valued["value"], file)
    there = set(counted.columns)
    _refuse_unjudged(labels, [name for name in _APART if name not in there], file)
    named = [one for one in (*_APART, *counted.groups) if one in there and one != "judge"]
    keys = ["item_id", *dict.fromkeys(one for one in named if _has_correction_column(labels, one))]
    unit = ["item_id", *dict.fromkeys(one for one in (*_APART, *keys) if one in there
                                      and one != "item_id")]  # fmt: skip
    units = _units_to_be_corrected(valued, [*dict.fromkeys((*counted.groups, *unit))])
    same = {name: units.schema[name] for name in keys}
    means = by_unit(values.cast(same), keys)  # type: ignore[arg-type]
    held = [one for one in counted.groups if one not in _APART]
    asked = units.join(means.select("item_id").unique(), on="item_id", how="semi")
    _refuse_corrected_twins(asked, [*dict.fromkeys((*held, *keys))], file)
    missed = means.join(units, on=keys, how="anti", nulls_equal=True).height
    if missed == means.height:
        raise SweepError(
            f"no label is of a judged item: labels are of {_some(means)}; judged are "
            f"{_some(units)}",
            where={"file": file},
            hint="the same item_id in both, letter by letter",
        )
    joined = units.join(means, on=keys, how="left", nulls_equal=True)
    question = [one for one in ("benchmark", "item_id") if one in joined.columns]
    joined = joined.with_columns(cluster=pl.struct(question).rank("dense").cast(pl.Int64))
    groups = [
        Units(group=dict(zip(counted.groups, key, strict=True)), frame=part, is_rate=is_rate)
        for key, part in parts_by(joined.sort(*counted.groups, *unit), counted.groups).items()
    ]
    return groups, missed


def _check_scale(labels: pl.Series, scores: pl.Series, file: str) -> None:
    """Refuse labels of another scale than the scores; warn where they only seem to be of one.

    Of people and a judge who differ on one scale, neither is within [0, 1] with all of the other
    above it. Far scores of a few items alone prove nothing: a judge may be lenient.
    """
    ends: list[tuple[float, float]] = []
    for one in (labels, scores.drop_nulls()):
        low, high = one.min(), one.max()
        if not isinstance(low, float) or not isinstance(high, float):
            return
        ends.append((low, high))
    (label_low, label_high), (score_low, score_high) = ends
    spans = f"labels are from {label_low:g} to {label_high:g}, scores from {score_low:g} to "
    spans += f"{score_high:g}"
    as_shares = 0 <= label_low < 1 >= label_high and score_low > 1
    if as_shares or (0 <= score_low < 1 >= score_high and label_low > 1):
        raise SweepError(
            f"labels and scores must be on one scale: {spans}",
            where={"file": file},
            hint="in both the same scale; or whether it passes, as pass and fail in both",
        )
    apart = label_high < score_low or score_high < label_low
    medians = [one.median() for one in (labels, scores)]
    one_is_share = any(
        high <= 1 and isinstance(median, float) and median > 1
        for high, median in zip((label_high, score_high), reversed(medians), strict=True)
    )
    far = max(label_high, score_high) >= _FAR * min(label_high, score_high) > _FAR
    if apart or one_is_share or far:
        warn_of([f"{file}: {spans}; the corrected mean is right only if both are on one scale"])


def judged_values(
    judged: Snapshot, *, by: Sequence[str] | None, positive: str | None
) -> tuple[CountedJudgments, pl.DataFrame, bool]:
    """Count judgments, with ``value``: 1 and 0 where verdicts pass or not, else the score.

    A reply without a verdict does not pass; one without a score is left out, as requests that
    failed are.
    """
    counted = count_judgments(judged.source, by=by)
    rows = counted.frame.filter(~FAILED)
    if "verdict" not in rows.columns:
        rows = rows.with_columns(verdict=pl.lit(None, pl.String))
    if "score" not in rows.columns:
        rows = rows.with_columns(score=pl.lit(None, pl.Float64))
    scores = rows["score"].drop_nulls()
    if positive is None and scores.len() and not scores.is_in([0.0, 1.0]).all():
        return counted, rows.filter(SCORED).with_columns(value=pl.col("score")), False
    seen = rows.filter(SCORED).select(text=LABEL).unique().sort("text")
    known = seen.with_columns(value=passes(pl.col("text"), positive))
    if known["value"].null_count() or (positive and 1.0 not in known["value"]):
        few = ", ".join(map(repr, seen["text"].head(6)))
        unknown = known.filter(pl.col("value").is_null())["text"]
        if 0 < unknown.len() < seen.height:
            problem = f"which verdict passes? {', '.join(map(repr, unknown.head(6)))} says neither"
            hint = "write pass or fail for it; or --positive VERDICT, all others then fail"
        else:
            problem = (
                f"which verdict passes? expected one of them as --positive, got verdicts {few}"
            )
            problem += f" and --positive {positive}" if positive else ""
            failing = folded(pl.col("text")).is_in(FAILING)
            meant = seen.sort(failing, "text")["text"]
            ways = meant if meant.len() == _EITHER else meant.head(1)
            hint = " or ".join(f"--positive {quote(one)}" for one in ways)
        raise SweepError(problem, hint=hint)
    value = pl.when(SCORED).then(passes(LABEL, positive)).otherwise(0.0)
    return counted, rows.with_columns(value=value), True


def _units_to_be_corrected(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """One row a unit: mean, variance between judgments of one prompt, number of its judgments."""
    n, value = pl.col("n"), pl.col("value")
    square = (n * value**2).sum() / n.sum() - ((n * value).sum() / n.sum()) ** 2
    many = n.sum() > 1
    spread = pl.when(many).then(square.clip(0) * n.sum() / (n.sum() - 1))
    prompt = [one for one in rows.columns if one not in (*columns, *_VALUE_COLUMNS)]
    prompts = rows.group_by(*columns, *prompt, maintain_order=True).agg(
        total=(n * value).sum(), spread=spread, asked=n.sum()
    )
    asked, of_prompt = pl.col("asked"), pl.col("spread")
    within = pl.when(of_prompt.null_count() == 0).then((asked * of_prompt).sum() / asked.sum())
    return prompts.group_by(columns, maintain_order=True).agg(
        judged=pl.col("total").sum() / asked.sum(), spread=within, n=asked.sum()
    )


def _refuse_corrected_twins(units: pl.DataFrame, keys: Sequence[str], file: str) -> None:
    """Refuse labels that may be of several units of one item."""
    twice = units.filter(units.select(keys).is_duplicated())
    if twice.is_empty():
        return
    differing = next(
        one for one in _APART if one in units.columns and one not in keys
        and twice[one].n_unique() > 1
    )  # fmt: skip
    first = twice.filter(pl.col("item_id") == twice["item_id"][0])
    names = ", ".join(map(str, first[differing].unique().sort().head(4)))
    raise SweepError(
        f"labels must say which {differing} they are of: item {first['item_id'][0]!r} was judged "
        f"for {names}",
        where={"file": file},
        hint=f"a column {differing} in the labels",
    )


def _refuse_unjudged(labels: pl.DataFrame, names: Sequence[str], file: str) -> None:
    """Refuse labels of several units of an item that judgments do not tell apart."""
    for name in names:
        if name not in labels.columns:
            continue
        several = labels.group_by("item_id", maintain_order=True).agg(of=pl.col(name).unique())
        several = several.filter(pl.col("of").list.len() > 1)
        if several.height:
            item, of = several.row(0)
            raise SweepError(
                f"judgments must say which {name} they are of: item {item!r} has labels for "
                f"{', '.join(sorted(map(str, of))[:4])}",
                where={"file": file},
                hint=f"a column {name} in the judgments, or labels of one {name}",
            )


def _some(units: pl.DataFrame) -> str:
    """The first few items."""
    return ", ".join(map(repr, units["item_id"].unique(maintain_order=True).head(3)))


def pairs_of(units: Sequence[Units], labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Pair places of groups that differ in one column that labels have: systems of one judge.

    Examples
    --------
    >>> def of(judge, responder):
    ...     group = {"judge": judge, "responder": responder}
    ...     return Units(group=group, frame=pl.DataFrame(), is_rate=True)
    >>> found = [of("j", "a"), of("j", "b"), of("k", "a")]
    >>> [*pairs_of(found, ["responder"])]
    [(0, 1, 'responder')]
    """
    for (a, one), (b, other) in combinations(enumerate(one.group for one in units), 2):
        apart = [name for name, value in one.items() if other[name] != value]
        if len(apart) == 1 and apart[0] in labels:
            yield a, b, apart[0]
