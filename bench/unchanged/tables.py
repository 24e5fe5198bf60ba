"""Recorded judgments as tables that verbs read: imported, or laid out in a few lines each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from bench.recorded_pairwise import llmbar, mt_bench, pilot

IMPORTS: dict[str, tuple[str, ...]] = {
    "llama3": ("schroeder2024", "seed000/judgments_llama3.parquet"),
    "starling": ("schroeder2024", "seed000/judgments_starling.parquet"),
    "application": ("schroeder2024", "seed000/head_to_tail_starling.parquet"),
    "answers": ("schroeder2024", "seed000"),
    "claude": ("bergman2025", "seed004/monolithic_claude.parquet"),
    "claude_reread": ("bergman2025", "seed004/monolithic_claude.parquet", "--reread"),
    "vicuna": (
        "table", "seed003/gpt4_3x_vicuna.parquet", "--column", "item_id=question_id",
        "--column", "responder=response_model", "--value", "judge=gpt-4",
        "--value", "scale=points5",
    ),
    "rewardbench": (
        "table", "seed003/repeated8_rewardbench2.parquet", "--column", "item_id=subset,item",
        "--column", "responder=response_idx", "--repeats", "s[0-7]", "--missing=-1",
        "--value", "temperature=1", "--value", "scale=points10",
    ),
    "pairs": (
        "table", "seed003/pairwise_3reps_mtbench.parquet",
        "--column", r"item_id=cmp_index:^(\d+);", "--column", "responder=cmp_index",
        "--column", "verdict=extracted", "--order", "A,C,B",
    ),
    "alpaca": (
        "table", "seed003/alpaca_gpt4_b1_4seeds.parquet", "--column", "item_id=pair_id",
        "--column", "replication=seed", "--column", "verdict=preference", "--order", "1,2",
    ),
    "coinflip": (
        "table", "seed003/coinflip_t0_10reps.parquet", "--column", "item_id=item",
        "--order", "A,tie,B",
    ),
    "people_summeval": ("people", "../items/summeval.parquet"),
    "people_feedbackqa": ("people", "../items/feedbackqa.parquet"),
}  # fmt: skip
"""Arguments of ``import`` behind the format, by name; paths are in the folder of recordings."""

ITEMS: dict[str, tuple[str, ...]] = {
    "bbh": ("bbh", "items/bbh.parquet"),
    "bbh_sampled": ("bbh", "seed000/bbh_sampled_q.json.gz"),
    "squad": ("squad", "items/squad_v1_sample.parquet"),
    "mt_bench": ("mt_bench", "items/mt_bench_questions.jsonl.gz"),
    "mt_bench_answered": ("mt_bench", "items/mt_bench_questions.jsonl.gz",
                          "--answers", "items/mt_bench_model_answers.parquet"),
    "head_to_tail": ("head_to_tail", "seed000"),
    "schroeder2024": ("schroeder2024", "seed000"),
    "truthfulqa": ("truthfulqa", "items/truthfulqa.parquet"),
    "truthfulqa_labels": ("truthfulqa", "items/truthfulqa_human_labels.parquet"),
    "truthfulqa_pairs": ("truthfulqa_pairs", "items/truthfulqa.parquet", "--seed", "3"),
    "hh_rlhf": ("hh_rlhf", "items/hh_rlhf_harmless.parquet"),
    "lima": ("lima", "nc/lima.parquet"),
    "summeval": ("summeval", "items"),
    "summeval_summaries": ("summeval_summaries", "items"),
    "feedbackqa": ("feedbackqa", "items/feedbackqa.parquet"),
    "feedback_collection": ("feedback_collection", "seed003/gpt4_3x_vicuna_prompts.parquet"),
    "bergman2025": ("bergman2025", "seed004/monolithic_claude.parquet"),
}  # fmt: skip
"""Arguments of ``items``, by name."""


def evalassist(folder: Path, name: str) -> pl.DataFrame:
    """Verdicts with the probability of the option that was chosen."""
    rows = pl.read_parquet(folder / f"seed001/evalassist_{name}.parquet")
    if name == "judgebench":  # one of its three
        rows = rows.filter(pl.col("dataset").cast(pl.String) == "toxic_chat_test")
    option, right = (pl.col(one).cast(pl.Float64) for one in ("option", "correct_option"))
    return rows.select(
        pl.col("judge", "criterion").cast(pl.String),
        benchmark=pl.col("dataset").cast(pl.String),
        item_id=pl.col("item").cast(pl.String),
        replication=pl.lit(0),
        verdict=option.cast(pl.String),
        # A mean of annotators is nearest to one option.
        gold=right.round().cast(pl.String),
        confidence=pl.col("certainty"),
    ).unique(["judge", "benchmark", "criterion", "item_id"], keep="first", maintain_order=True)


def mmlu_pro(folder: Path) -> pl.DataFrame:
    """Answers of six models to the first 1,500 questions, once each."""
    wide = pl.read_parquet(folder / "seed004/mmlu_pro_predictions.parquet").head(1500)
    wide = wide.cast(pl.String).select(wide.columns[:9])
    long = wide.unpivot(
        wide.columns[3:], index=["question_id", "answer"], variable_name="judge",
        value_name="verdict",
    )  # fmt: skip
    long = long.rename({"question_id": "item_id", "answer": "gold"})
    return long.with_columns(replication=pl.lit(0))


def stability(folder: Path) -> pl.DataFrame:
    """Answers to the same questions in runs at temperature 0."""
    rows = pl.read_parquet(folder / "seed000/llm_stability_stochastic_non_determinism.parquet")
    unit = ["judge", "benchmark", "item_id"]
    return rows.select(
        judge=pl.col("model").cast(pl.String), benchmark=pl.col("task").cast(pl.String),
        item_id=pl.col("rubric_id").cast(pl.String), temperature=pl.lit(0.0),
        verdict=pl.col("response").str.extract(r"\(([A-J])\)[^()]*$"),
        gold=pl.col("gt").cast(pl.String).str.extract(r"([A-J])"),
    ).with_columns(replication=pl.int_range(pl.len()).over(unit))  # fmt: skip


def trec(folder: Path) -> pl.DataFrame:
    """Four systems' grades of relevance for 400 passages, on the scale of the assessors."""
    rows = pl.read_parquet(folder / "multi/trec_relevance_judges.parquet").head(400)
    judges = rows.columns[3:7]
    wide = rows.select(*judges, "human", item_id=pl.int_range(pl.len()).cast(pl.String))
    long = wide.unpivot([*judges, "human"], index="item_id", variable_name="judge",
                        value_name="score")  # fmt: skip
    return long.with_columns(pl.col("score").cast(pl.Float64), replication=pl.lit(0))


def vicuna_reviews(folder: Path) -> pl.DataFrame:
    """Scores of both answers of pairs, by two judges."""
    rows = pl.read_parquet(folder / "multi/vicuna_bench_reviews.parquet")
    rows = rows.with_columns(pl.col("judge", "file").cast(pl.String))
    both = [
        rows.select("judge", item_id=pl.col("question_id").cast(pl.String),
                    responder=pl.concat_str("file", pl.lit(f":{n}")), score=f"score_{n}")
        for n in (1, 2)
    ]  # fmt: skip
    long = pl.concat(both).drop_nulls("score")
    unit = ["judge", "item_id", "responder"]
    return long.with_columns(replication=pl.int_range(pl.len()).over(unit))


def pandalm(folder: Path) -> pl.DataFrame:
    """Two LLM judges and three annotators of the same pairs, a judge each."""
    rows = pl.read_parquet(folder / "multi/pandalm_testset.parquet")
    columns = {"gpt-3.5-turbo": "gpt_result", "pandalm-7b": "pandalm_result",
            **{f"person {n}": f"annotator{n}" for n in (1, 2, 3)}}  # fmt: skip
    return pl.concat(
        rows.select(judge=pl.lit(name), item_id=pl.col("idx").cast(pl.String),
                    replication=pl.lit(0),
                    verdict=pl.col(column).cast(pl.String).str.to_lowercase().str.strip_chars()
                    .replace("tie", "0"))
        for name, column in columns.items()
    )  # fmt: skip


def arena(folder: Path) -> pl.DataFrame:
    """Picks of two judges with a person's vote as what is right."""
    rows = pl.read_parquet(folder / "multi/arena_votes_vs_judges.parquet")
    return rows.select(
        pl.col("judge").cast(pl.String), item_id="id", replication=pl.lit(0),
        verdict=pl.col("judge_pick").cast(pl.String).replace({"A": "model_a", "B": "model_b"}),
        gold=pl.col("human_winner").cast(pl.String),
    )  # fmt: skip


def logprobs(folder: Path) -> pl.DataFrame:
    """Preferences with the probability that their tokens had."""
    rows = pl.read_parquet(folder / "logprobs/alpaca_eval2_gpt4turbo_logprobs.parquet")
    second = pl.col("preference") > 1.5
    return rows.filter(pl.col("preference").is_not_null()).select(
        judge=pl.lit("gpt-4-turbo"), responder=pl.col("model").cast(pl.String),
        item_id=pl.col("item").cast(pl.String), replication=pl.lit(0),
        verdict=pl.when(second).then(pl.lit("M")).otherwise(pl.lit("m")),
        confidence=((pl.col("preference") - 1.5).abs() + 0.5).cast(pl.Float64),
    )  # fmt: skip


def of_judges(rows: pl.DataFrame, *judges: str) -> pl.DataFrame:
    """Rows of some judges: what is said of the others is of the same kind."""
    return rows.filter(pl.col("judge").is_in(judges))


LAID_OUT: dict[str, Callable[[Path], pl.DataFrame]] = {
    "mt_bench": lambda folder: of_judges(mt_bench(folder), "gpt-4-0613", "claude-3-opus-20240229"),
    "llmbar": lambda folder: of_judges(llmbar(folder), "ChatGPT"),
    "pilot": lambda folder: of_judges(
        pilot(folder), "claude-haiku-4-5, batched", "llama3.2:3b, fresh"
    ),
    "feedback_collection": lambda folder: evalassist(folder, "feedback_collection"),
    "truthfulqa_pairs": lambda folder: evalassist(folder, "truthfulqa_pairwise"),
    "judgebench": lambda folder: of_judges(evalassist(folder, "judgebench"), "GPT-4o", "Mixtral"),
    "mmlu_pro": mmlu_pro,
    "stability": stability,
    "trec": trec,
    "vicuna_reviews": vicuna_reviews,
    "pandalm": pandalm,
    "arena": arena,
    "logprobs": logprobs,
}
"""Tables that no importer reads as they are, by name."""
