"""Tokens computed for a whole temperature curve: mode exact against replies sampled.

    JUDGEREL_DATA=DIR python -m bench.exact_tokens --out runs/exact-tokens

Recorded articles with six recorded summaries each, prompts of 1,000 tokens or more, "which summary
is best?" asked of the second demo judge, which hears every word, at five temperatures. By the
engine's own counters: mode exact, forced and unforced; the plain way, 100 replies a temperature of
up to 50 tokens by an engine without a prefix cache, measured on one question and taken in
proportion to the prompts for the rest; and this project's own sampling, cached and ended at the
verdict. Up to --undecided of the probability stays open: by default a tenth of the standard error
that 100 replies have. Exit code 1 where mode exact computes more than 1/100 of the plain way.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from bench.recordings import recordings
from demo.judge_truth import load_judge, prompt_text
from demo.reasoning_judge import REASONING_JUDGE_FOLDER
from judgerel_ray.cli import main as judgerel
from judgerel_ray.core import Item, Option, TokenCounts
from judgerel_ray.store import RunDirectory, read_ledger, scan_judgments
from judgerel_ray.store.made_tables import read_distributions
from judgerel_ray.tables import items_to_frame

TEMPERATURES = (1.0, 0.75, 0.5, 0.25, 0.0)
REPLICATIONS, NEW_TOKENS, N_OPTIONS = 100, 50, 6
LEAST_PROMPT = 1_000
MARK = 1 / 100

SWEEP = """
name = "{name}"
[[judge]]
name = "judge"
engine = "vllm"
model = "{model}"
gpus = 0
max_model_len = 2048
{engine}
[[ask]]
protocol = "best_of"
benchmark = "summaries"
path = "{items}"
temperatures = {temperatures}
max_tokens = {new_tokens}
{ask}
"""
SAMPLED = f"replications = {REPLICATIONS}\nrepeat_greedy = {REPLICATIONS}\n"


def write_items(folder: Path, n: int) -> tuple[Path, Path]:
    """Write recorded articles with their summaries; the second file has the first one alone."""
    judge = load_judge(REASONING_JUDGE_FOLDER)
    texts = pl.read_parquet(recordings() / "items/summeval_texts.parquet")
    items = []
    for (document, article), part in texts.sort("doc_id", "system").group_by(
        "doc_id", "article", maintain_order=True
    ):
        summaries = sorted(part["summary"].to_list(), key=lambda text: -len(text.split()))
        item = Item(
            item_id=str(document),
            benchmark="summaries",
            category="all",
            question="Which summary of the context is best?",
            context=str(article),
            options=tuple(
                Option(option_id=str(place), text=text)
                for place, text in enumerate(summaries[:N_OPTIONS])
            ),
        )
        prompt = judge.tokenizer.encode(prompt_text(judge, item), add_special_tokens=False)
        if len(prompt) >= LEAST_PROMPT:
            items.append(item)
    files = folder / "items.parquet", folder / "measured.parquet"
    for file, some in zip(files, (items[:n], items[:1]), strict=True):
        items_to_frame(some).write_parquet(file)
    return files


def tokens_of(folder: Path, name: str, items: Path, ask: str, engine: str = "") -> TokenCounts:
    """Run a sweep and read the engine's counters."""
    file = folder / f"{name}.toml"
    fields = {"items": items, "ask": ask, "engine": engine, "temperatures": list(TEMPERATURES)}
    file.write_text(
        SWEEP.format(name=name, model=REASONING_JUDGE_FOLDER, new_tokens=NEW_TOKENS, **fields)
    )
    if judgerel(["run", str(file), "--out", str(folder / name)]):
        raise SystemExit(1)
    return read_ledger(RunDirectory.open(str(folder / name))).judges["judge"].tokens


def computed(tokens: TokenCounts) -> int:
    """Tokens that went through the model."""
    return tokens.prompt - tokens.cached + tokens.generated


def prompts_of(folder: Path, name: str) -> dict[str, int]:
    """Tokens of each question's prompt."""
    rows = scan_judgments(RunDirectory.open(str(folder / name)))
    return dict(rows.select("item_id", "prompt_tokens").unique().collect().iter_rows())


def main() -> int:
    """Measure all ways and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=6)
    parser.add_argument("--undecided", type=float, default=5e-3)
    parser.add_argument("--out", type=Path, default=Path("runs/exact-tokens"))
    asked = parser.parse_args()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    items, measured = write_items(out, asked.questions)
    exact = 'mode = "exact"\nexact = {{ forced = {}, undecided = {} }}\n'
    ways = {
        name: tokens_of(out, name, items, exact.format(forced, asked.undecided))
        for name, forced in (("forced", "true"), ("unforced", "false"))
    }
    ways["cached"] = tokens_of(out, "cached", items, f"{SAMPLED}early_stop = true\n")
    off = "engine_options = { enable_prefix_caching = false }"
    plain = tokens_of(out, "plain", measured, SAMPLED, off)
    prompts, (one,) = prompts_of(out, "cached"), prompts_of(out, "plain").values()
    n_requests = len(TEMPERATURES) * REPLICATIONS
    if plain.cached or plain.prompt != n_requests * one or min(prompts.values()) < LEAST_PROMPT:
        print(f"not what was to be measured: {plain}, prompts {sorted(prompts.values())}")
        return 1
    whole = computed(plain) * sum(prompts.values()) / one
    print(
        f"{len(prompts)} prompts of {min(prompts.values()):,} to {max(prompts.values()):,} tokens"
    )
    print(
        f"plain: {computed(plain):,} tokens computed for one question of {one:,} "
        f"({plain.generated / n_requests:.1f} new ones a reply), {whole:,.0f} in proportion for all"
    )
    for name, tokens in ways.items():
        print(f"{name}: {computed(tokens):,} tokens computed, 1/{whole / computed(tokens):,.0f}")
    for name in ("forced", "unforced"):
        table = read_distributions(RunDirectory.open(str(out / name)))
        left = (
            table.group_by("item_id", "temperature").agg(left=1 - pl.col("low").sum())["left"].max()
        )
        print(f"{name}: at most {left:.2g} undecided at any temperature")
    return int(max(computed(ways[name]) for name in ("forced", "unforced")) > MARK * whole)


if __name__ == "__main__":
    raise SystemExit(main())
