"""Plain scores a run holds of the judgments its matrices are about, at no more than their cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from judgerel_ray.pipeline.exacting import DISTRIBUTIONS, read_distributions
from judgerel_ray.reduce.uncertainty_scores import no_baselines
from judgerel_ray.stats import vote_scores
from judgerel_ray.store import CHEAP_COLUMNS, RunDirectory, scan_judgments

_ITEM = ("judge", "benchmark", "item_id")
_PLAIN = 1.0  # the temperature at which a model's probabilities are its own


def matrix_tokens(run: RunDirectory) -> pl.DataFrame:
    """Tokens computed for the matrix of each item: prompts less what was cached, and new ones.

    Returns
    -------
    DataFrame
        judge, benchmark, item_id, ``tokens`` (mean over templates and temperatures).
    """
    computed = (
        pl.col("prompt_tokens").fill_null(0)
        - pl.col("cached_tokens").fill_null(0)
        + pl.col("completion_tokens")
    )
    return (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter(pl.col("protocol") == "confusion")
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

    Parameters
    ----------
    run : RunDirectory
        With asks of best_of beside those of confusion; without them there is nothing.
    tokens : DataFrame
        From :func:`matrix_tokens`.

    Returns
    -------
    DataFrame
        As :func:`judgerel_ray.reduce.uncertainty_scores.no_baselines`.
    """
    asked = (
        (pl.col("protocol") == "best_of")
        & (pl.col("role") == "judge")
        & (pl.col("stage") != "exact")
        & (pl.col("block") == 0)
        & (pl.col("temperature") > 0)
    )
    columns = (*_ITEM, "temperature", "template", "option_order", "replication", "verdict",
               "prompt_tokens", "completion_tokens")  # fmt: skip
    drawn = scan_judgments(run, columns=CHEAP_COLUMNS).filter(asked).select(columns).collect()
    drawn = drawn.join(tokens.rename({"tokens": "cost"}), on=list(_ITEM), how="inner")
    order = ("template", "option_order", "replication")
    rows = [
        row
        for _, part in drawn.group_by("judge", "benchmark", "temperature", maintain_order=True)
        for row in _votes(part.sort(*_ITEM, *order, nulls_last=True))
    ]
    votes = pl.DataFrame(rows, schema=no_baselines().schema)
    return pl.concat([votes, _token_probability(run, tokens)])


def _votes(part: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Agreement of replications at one temperature of one judge on one benchmark."""
    reply = float(part.select(pl.col("completion_tokens").mean()).item())
    prompt = float(part.select(pl.col("prompt_tokens").fill_null(0).mean()).item())
    cost = float(part.select(pl.col("cost").mean()).item())
    most = int(part.group_by("item_id").len()["len"].max())  # type: ignore[arg-type]
    n = min(most, int((cost - prompt) // max(1.0, reply)))
    if n < 1:
        return
    first = part.group_by("item_id", maintain_order=True).head(n)
    names = first["verdict"].unique().sort(nulls_last=True).to_list()
    place = {name: i for i, name in enumerate(names)}
    units = first["item_id"].unique(maintain_order=True).to_list()
    row_of = {name: i for i, name in enumerate(units)}
    counts = np.zeros((len(units), len(names)), dtype=np.int64)
    for item, verdict in first.select("item_id", "verdict").iter_rows():
        counts[row_of[item], place[verdict]] += 1
    entropy = vote_scores(counts).entropy_U
    told = f"{n} replication{'s' if n > 1 else ''} at temperature {part['temperature'][0]:g}"
    shared = {
        "judge": part["judge"][0],
        "benchmark": part["benchmark"][0],
        "tokens": prompt + n * reply,
    }
    for u, item in enumerate(units):
        for v, verdict in enumerate(names):
            if verdict is not None and counts[u].any():
                yield {
                    **shared, "item_id": item, "score": f"share of {told}",
                    "higher_is_surer": True, "verdict": verdict,
                    "value": counts[u, v] / counts[u].sum(),
                }  # fmt: skip
        if not np.isnan(entropy[u]):
            yield {
                **shared, "item_id": item, "score": f"entropy of {told}",
                "higher_is_surer": False, "verdict": None, "value": float(entropy[u]),
            }  # fmt: skip


def _token_probability(run: RunDirectory, tokens: pl.DataFrame) -> pl.DataFrame:
    """Probability of each verdict as distributions give it; nothing where the run has none."""
    empty = no_baselines()
    if not run.exists(DISTRIBUTIONS):
        return empty
    spent = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter((pl.col("stage") == "exact") & (pl.col("protocol") == "best_of"))
        .group_by(*_ITEM)
        .agg(
            tokens=(pl.col("prompt_tokens").fill_null(0) + pl.col("completion_tokens"))
            .sum()
            .cast(pl.Float64)
        )
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
    said = found.with_columns(
        score=pl.lit("probability of the verdict, no assessment shown"),
        higher_is_surer=pl.lit(value=True),
    )
    kinds = [pl.col(name).cast(kind) for name, kind in empty.schema.items()]
    return said.select(kinds)
