"""Replications of a run that reason first: letters drawn replaced by their distributions."""

from __future__ import annotations

import polars as pl

from judgerel_ray.config import parse_sweep
from judgerel_ray.core import StoreError
from judgerel_ray.protocols import labels_for
from judgerel_ray.reduce.reasonings import reasoning_table
from judgerel_ray.store import RunDirectory, reading, scan_completions, scan_judgments

_COLUMNS = ("judge", "benchmark", "item_id", "template", "option_order", "temperature", "top_k")
_LABELS = labels_for(26 + 26 * 26)


def run_reasoning(path: str) -> pl.DataFrame:
    """Where verdicts of a run vary: in the reasoning, or in the verdict drawn after it.

    Returns
    -------
    DataFrame
        As :func:`judgerel_ray.reduce.reasonings.reasoning_table`.

    Raises
    ------
    StoreError
        If the path is no run, or the run read no probabilities at its verdicts.
    """
    run = RunDirectory.open(path)
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    if not any(ask.verdict_logprobs for ask in sweep.ask):
        raise StoreError(
            "the run read no probabilities at its verdicts",
            where={"run": run.url},
            hint="verdict_logprobs = true in an [[ask]] of best_of does",
        )
    scored = (pl.col("role") == "judge") & (pl.col("protocol") == "best_of")
    judged = scan_judgments(run).filter(scored & (pl.col("outcome") != "failed"))
    texts = scan_completions(run, columns=("key", "logprobs"))
    place = pl.col("label").replace_strict(_LABELS, range(len(_LABELS)), default=None)
    with reading(run.url):
        rows = (
            judged.select("key", *_COLUMNS, place.cast(pl.Int32).alias("place"))
            .join(texts, on="key", how="inner")
            .sort("judge", "benchmark", "temperature", "item_id", "key")
            .collect()
        )
    return reasoning_table(rows)
