"""Confusion matrices of a run: from what landed, and what they say of its judgments.

Plain scores a run holds of the judgments its matrices are about, at no more than their cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from judgerel_ray.analyses.confusion.confusion import (
    UncertaintyTables,
    people_labels,
    uncertainty_tables,
)
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions
from judgerel_ray.analyses.confusion.show import uncertainty_sections
from judgerel_ray.analyses.confusion.tables import PlainScores
from judgerel_ray.analyses.confusion.worth import (
    ENTROPY_OF_REPLICATIONS,
    OWN_PROBABILITY,
    SHARE_OF_REPLICATIONS,
)
from judgerel_ray.benchmarks import SCALES
from judgerel_ray.benchmarks.criterion import first_part
from judgerel_ray.blocks.blocks import FirstScreen, Section
from judgerel_ray.config import parse_sweep
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.snapshot import Snapshot, made_matrices
from judgerel_ray.measuring.unstable import QuestionTexts
from judgerel_ray.stats import vote_scores
from judgerel_ray.store import CHEAP_COLUMNS, RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import (
    CONFUSIONS,
    DISTRIBUTIONS,
    read_confusions,
    read_distributions,
)

_ITEM = ("judge", "benchmark", "item_id")
_PLAIN = 1.0  # the temperature at which a model's probabilities are its own


def matrix_tokens(run: RunDirectory) -> pl.DataFrame:
    """Tokens computed for the matrix of each item: prompts less what was cached, and new ones."""
    computed = (
        pl.col("prompt_tokens").fill_null(0)
        - pl.col("cached_tokens").fill_null(0)
        + pl.col("completion_tokens")
    )
    return (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter(of_protocols(lambda one: one.makes_matrices))
        .group_by(*_ITEM, "template", "temperature")
        .agg(tokens=computed.sum().cast(pl.Float64))
        .group_by(*_ITEM)
        .agg(pl.col("tokens").mean())
        .sort(*_ITEM)
        .collect()
    )


def plain_scores(run: RunDirectory, tokens: pl.DataFrame) -> pl.DataFrame:
    """Scores of the same judges on the same items that took no matrix.

    Agreement of replications (of as many as cost no more than the matrix, the prompt computed
    once), their entropy, and the probability of the verdict where a run has distributions.
    """
    columns = (*_ITEM, "temperature", "template", "option_order", "replication", "verdict",
               "prompt_tokens", "completion_tokens")  # fmt: skip
    drawn = scan_judgments(run, columns=CHEAP_COLUMNS).filter(
        of_protocols(lambda one: one.compares), pl.col("role") == "judge",
        pl.col("stage") != "exact", pl.col("block") == 0, pl.col("temperature") > 0,
    ).select(columns).collect()  # fmt: skip
    drawn = drawn.join(tokens.rename({"tokens": "cost"}), on=list(_ITEM), how="inner")
    order = ("template", "option_order", "replication")
    rows = [
        row
        for _, part in drawn.group_by("judge", "benchmark", "temperature", maintain_order=True)
        for row in _votes_beside_uncertainty(part.sort(*_ITEM, *order, nulls_last=True))
    ]
    votes = pl.DataFrame(rows, schema=PlainScores.dtypes)
    return pl.concat([votes, _token_probability(run, tokens)])


def _votes_beside_uncertainty(part: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Agreement of replications at one temperature of one judge on one benchmark."""
    means = pl.col("completion_tokens"), pl.col("prompt_tokens").fill_null(0), pl.col("cost")
    reply, prompt, cost = map(float, part.select(one.mean() for one in means).row(0))
    most = int(part.group_by("item_id").len()["len"].max())  # type: ignore[arg-type]
    n = min(most, int((cost - prompt) // max(1.0, reply)))
    if n < 1:
        return
    first = part.group_by("item_id", maintain_order=True).head(n)
    names = first["verdict"].unique().sort(nulls_last=True).to_list()
    units = first["item_id"].unique(maintain_order=True).to_list()
    times = Counter(first.select("item_id", "verdict").iter_rows())
    counts = np.array([[times[item, name] for name in names] for item in units], dtype=np.int64)
    entropy = vote_scores(counts).entropy_U
    shared = {
        **part.select("judge", "benchmark").row(0, named=True),
        "tokens": prompt + n * reply,
        "of_replications": n,
        "drawn_at": part["temperature"][0],
    }
    for u, item in enumerate(units):
        for v, verdict in enumerate(names):
            if verdict is not None and counts[u].any():
                yield {
                    **shared, "item_id": item, "score": SHARE_OF_REPLICATIONS,
                    "higher_is_surer": True, "verdict": verdict,
                    "value": counts[u, v] / counts[u].sum(),
                }  # fmt: skip
        if not np.isnan(entropy[u]):
            yield {
                **shared, "item_id": item, "score": ENTROPY_OF_REPLICATIONS,
                "higher_is_surer": False, "verdict": None, "value": float(entropy[u]),
            }  # fmt: skip


def _token_probability(run: RunDirectory, tokens: pl.DataFrame) -> pl.DataFrame:
    """Probability of each verdict as distributions give it; nothing where the run has none."""
    empty = PlainScores.frame()
    if not run.exists(DISTRIBUTIONS):
        return empty
    took = pl.col("prompt_tokens").fill_null(0) + pl.col("completion_tokens")
    spent = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter((pl.col("stage") == "exact") & (of_protocols(lambda one: one.compares)))
        .group_by(*_ITEM)
        .agg(tokens=took.sum().cast(pl.Float64))
        .collect()
    )
    found = (
        read_distributions(run)
        .filter(pl.col("temperature") == _PLAIN, pl.col("verdict").is_not_null())
        # Of one answer only, whether right or how good, a verdict is no option of a matrix.
        .filter(pl.col("responder").is_null())
        .join(tokens.select(_ITEM), on=list(_ITEM), how="semi")
        .group_by(*_ITEM, "verdict", maintain_order=True)
        .agg(value=pl.col("probability").mean())
        .join(spent, on=list(_ITEM), how="left")
    )
    surer, none = pl.lit(value=True), pl.lit(None)
    scored = found.with_columns(
        score=pl.lit(OWN_PROBABILITY), higher_is_surer=surer, of_replications=none, drawn_at=none
    )
    return scored.select(pl.col(name).cast(kind) for name, kind in empty.schema.items())


_MATRIX_COLUMNS = ("judge", "benchmark", "item_id", "template", "temperature", "verdict")


def run_uncertainty_tables(
    run: RunDirectory, options: UncertaintyOptions | None = None
) -> UncertaintyTables:
    """All that the confusion matrices of a run say of its judgments.

    Thresholds and scales that `options` leave out are those of the run's own sweep.
    """
    confusions = read_confusions(run)
    columns = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter((of_protocols(lambda one: one.makes_matrices)) & (pl.col("role") == "judge"))
        .select(_MATRIX_COLUMNS)
        .collect()
    )
    items = pl.read_parquet(run.read_bytes("items.parquet"))
    tokens = matrix_tokens(run)
    return uncertainty_tables(
        confusions,
        columns,
        right_options(items),
        items,
        baselines=plain_scores(run, tokens),
        tokens=tokens,
        options=_stated_confusion_options(run, items, options or UncertaintyOptions()),
    )


def uncertainty_on_page(
    judged: Snapshot, questions: QuestionTexts, _options: object
) -> list[FirstScreen | Section]:
    """Make the page's sections on how sure a judge is of single judgments."""
    run = judged.run
    if run is None or not run.exists(CONFUSIONS):
        return []
    wanted = made_matrices() & pl.col("role").is_in(["judge", "assessor"])
    replies = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter(wanted)
        .group_by("judge", "benchmark", "role", "outcome")
        .agg(n=pl.len())
        .sort("judge", "benchmark", "role", "outcome")
        .collect()
    )
    return uncertainty_sections(run_uncertainty_tables(run), replies, questions)


def _stated_confusion_options(
    run: RunDirectory, items: pl.DataFrame, options: UncertaintyOptions
) -> UncertaintyOptions:
    """The options, with the thresholds of the sweep and the scales of the benchmarks."""
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    names = items["benchmark"].unique(maintain_order=True).to_list()
    found: dict[str, set[float]] = {name: set() for name in names}
    for ask in sweep.ask:
        # A loader of one's own format leaves the name of the benchmark to the file.
        for name in [ask.benchmark] if ask.benchmark in names else names:
            found[name].update(ask.kind.thresholds(ask))
    thresholds = {name: tuple(sorted(values)) for name, values in found.items() if values}
    return replace(
        options,
        thresholds=options.thresholds or thresholds,
        scales=options.scales or SCALES,
    )


def right_options(items: pl.DataFrame, *, raters: str | None = None) -> pl.DataFrame:
    """The right option of each item: its gold, else the label that most of its people gave.

    Beside it what the judged text is about (the question it answers, the article it sums up, else
    the text itself): judgments about one thing are not independent. A majority is of people who
    agree: for what needs no single right label see
    :func:`judgerel_ray.analyses.confusion.confusion.matched_table`.

    benchmark, item_id, ``right``, ``text``, ``basis`` ("gold"; "majority"; "no_majority" where two
    labels are as frequent, so that ``right`` is null; null where nobody says), the kind of
    ``raters`` (null of gold, and of people of no kind) and ``n_people`` whose labels counted.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item, Option
    >>> from judgerel_ray.tables import items_to_frame
    >>> options = tuple(Option(option_id=o, text=o) for o in "01")
    >>> items = [Item(item_id=said, benchmark="b", category="c", question="?", options=options,
    ...               ratings=tuple(HumanRating(rater=str(n), label=x) for n, x in enumerate(said)))
    ...          for said in ("110", "10")]
    >>> right_options(items_to_frame(items)).select("right", "basis", "n_people").rows()
    [('1', 'majority', 3), (None, 'no_majority', 2)]
    """
    labels = people_labels(items)
    leading = dict(labels.unique("benchmark", keep="first", maintain_order=True)
                   .select("benchmark", "raters").iter_rows())  # fmt: skip
    counted = {
        (benchmark, item): (kind, Counter(label))
        for benchmark, item, kind, label in labels.iter_rows()
        if kind == (leading[benchmark] if raters is None else raters)
    }
    found = []
    for row in items.iter_rows(named=True):
        names = {option["option_id"] for option in row["options"]}
        right = row["gold"] if row["gold"] in names else None
        basis, kind, votes = "gold" if right is not None else None, None, Counter[str]()
        if right is None and (place := (row["benchmark"], row["item_id"])) in counted:
            kind, votes = counted[place]
            leaders = [name for name, n in votes.items() if n == max(votes.values())]
            right = leaders[0] if len(leaders) == 1 else None
            basis = "no_majority" if right is None else "majority"
        about = first_part(row["context"]) if row["context"] else row["item_id"]
        found.append(
            {"benchmark": row["benchmark"], "item_id": row["item_id"], "right": right,
             "text": about, "basis": basis, "raters": kind, "n_people": votes.total()}
        )  # fmt: skip
    texts = ("benchmark", "item_id", "right", "text", "basis", "raters")
    return pl.DataFrame(found, schema={**dict.fromkeys(texts, pl.String), "n_people": pl.Int64})
