"""Confidences of a run that lie beside its judgments: margins, probabilities of verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from judgerel_ray.config import parse_sweep
from judgerel_ray.pipeline.confusing import CONFUSIONS, run_uncertainty_tables
from judgerel_ray.pipeline.exacting import DISTRIBUTIONS, read_distributions
from judgerel_ray.protocols import labels_for
from judgerel_ray.reduce.reasonings import verdict_shares
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments

_PLACE = ("judge", "benchmark", "item_id", "template", "option_order", "temperature")
_LABELS = labels_for(26 + 26 * 26)


def run_chances(run: RunDirectory) -> list[pl.DataFrame]:
    """Tables of ``margin`` and ``probability`` of a run's verdicts; none where it has none."""
    found = []
    if run.exists(CONFUSIONS):
        found.append(_margins(run))
    if run.exists(DISTRIBUTIONS):
        found.append(_probabilities(run))
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    if any(ask.verdict_logprobs for ask in sweep.ask):  # texts are read for nothing less
        found.append(_read_at_verdicts(run))
    return found


def exact_answers(run: RunDirectory, sampled: pl.LazyFrame) -> pl.DataFrame | None:
    """The most probable verdict of every question asked exactly and not sampled, as an answer.

    Ties go to the option named first in the alphabet, which is no better than another.
    """
    if not run.exists(DISTRIBUTIONS):
        return None
    told = read_distributions(run).filter(pl.col("criterion").is_null())
    best = (
        told.sort(*_PLACE, "verdict", nulls_last=True)
        .sort("probability", descending=True, maintain_order=True)
        .unique(_PLACE, keep="first", maintain_order=True)
    )
    names = ["judge", "benchmark", "template", "temperature"]
    asked = sampled.filter(pl.col("protocol") == "best_of").select(names).unique().collect()
    asked = asked.cast({name: best.schema[name] for name in names})
    answers = best.join(asked, on=names, how="anti").select(*_PLACE, "verdict")
    scored = pl.when(pl.col("verdict").is_not_null()).then(pl.lit("scored"))
    return answers.with_columns(
        protocol=pl.lit("best_of"),
        role=pl.lit("judge"),
        stage=pl.lit("exact"),
        replication=pl.lit(0, pl.Int32),
        outcome=scored.otherwise(pl.lit("unparsed")),
    )


def _margins(run: RunDirectory) -> pl.DataFrame:
    """The margin of every matrix, of the mode named first where there are several."""
    rows = run_uncertainty_tables(run.url).judgments.sort("mode", nulls_last=True)
    names = ["judge", "benchmark", "item_id", "template", "temperature"]
    one = rows.unique(names, keep="first", maintain_order=True)
    return one.select(*names, "margin", protocol=pl.lit("confusion"))


def _probabilities(run: RunDirectory) -> pl.DataFrame:
    """The probability of each verdict, as its distribution has it."""
    rows = read_distributions(run).filter(
        pl.col("verdict").is_not_null(), pl.col("criterion").is_null()
    )
    at_most = pl.col("probability").clip(0, 1)
    return rows.select(*_PLACE, "verdict", probability=at_most, protocol=pl.lit("best_of"))


def _read_at_verdicts(run: RunDirectory) -> pl.DataFrame:
    """The probability of each sampled verdict, read at its place in the reply."""
    ledger = read_ledger(run)
    judged = scan_judgments(run, ledger=ledger).filter(
        pl.col("protocol") == "best_of", pl.col("role") == "judge", pl.col("verdict").is_not_null()
    )
    place = pl.col("label").replace_strict(_LABELS, range(len(_LABELS)), default=None)
    texts = scan_completions(run, ledger=ledger).filter(pl.col("logprobs").list.len() > 0)
    rows = (
        judged.select("key", *_PLACE, "replication", "top_k", place.cast(pl.Int32).alias("place"))
        .join(texts.select("key", "logprobs"), on="key", how="inner")
        .filter(pl.col("place").is_not_null())
        .collect()
    )
    found = pl.DataFrame(
        {"probability": list(_at_verdicts(rows))}, schema={"probability": pl.Float64}
    )
    return pl.concat(
        [rows.select(*_PLACE, "replication", protocol=pl.lit("best_of")), found], how="horizontal"
    )


def _at_verdicts(rows: pl.DataFrame) -> Iterator[float]:
    """The probability of the verdict drawn; of a greedy reply that at temperature 1."""
    for row in rows.iter_rows(named=True):
        most = max((one["continuation"] or 0 for one in row["logprobs"]), default=0)
        shares = verdict_shares(
            row["logprobs"],
            place=row["place"],
            temperature=row["temperature"] or 1.0,
            top_k=row["top_k"],
            n=max(row["place"], most) + 1,
        )
        yield float(shares[row["place"]])
