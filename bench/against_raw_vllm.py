"""What the fleet costs over raw vLLM: the same prompts, seeds and tokens, engine start left out.

    python bench/against_raw_vllm.py [--replications 300] [--rounds 3] [--model DIR --gpus 1]

Anchor: one engine in this process asked through `LLM.generate`, one request of n = R for each
prompt and temperature. The package: `judgerel run` of the same sweep on local Ray, from the engine
being up to the last commit: leases, readers, Parquet, fsync and commits included. Prints requests/s
of each round, the ratio judgerel / raw of the medians, and that both computed the same texts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPERATURES = (1.0, 0.75, 0.5)
MAX_TOKENS = 24
SWEEP = """
name = "against-raw"
[[judge]]
name = "judge"
model = "{model}"
gpus = {gpus}
max_model_len = 1024
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{root}/judgerel_ray/demo/items.parquet"
temperatures = [1.0, 0.75, 0.5]
replications = {replications}
max_tokens = 24
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default=str(ROOT / "judgerel_ray/demo/judge"))
    parser.add_argument("--gpus", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Path(folder, "sweep.toml")
        sweep.write_text(
            SWEEP.format(
                model=given.model, gpus=given.gpus, root=ROOT, replications=given.replications
            )
        )
        landed, landed_texts = [], {}
        for index in range(given.rounds):
            rate, landed_texts = run_judgerel(sweep, Path(folder, f"run{index}"))
            landed.append(rate)
        raw, raw_texts = run_raw(sweep, given.rounds)
    same = sum(raw_texts.get(key) == text for key, text in landed_texts.items())
    print(f"raw LLM.generate: {[round(rate) for rate in raw]} requests/s")
    print(f"judgerel run:     {[round(rate) for rate in landed]} requests/s")
    print(f"ratio of medians: {statistics.median(landed) / statistics.median(raw):.2f}")
    print(f"equal texts: {same} of {len(landed_texts)}")


def run_judgerel(sweep: Path, run: Path) -> tuple[float, dict[str, str]]:
    """Requests/s from the engine being up to the last commit, and the texts by key."""
    from judgerel_ray.store import RunDirectory, read_ledger, scan_completions

    command = [sys.executable, "-m", "judgerel_ray", "run", str(sweep), "--out", str(run)]
    subprocess.run(command, check=True, capture_output=True)
    directory = RunDirectory.open(str(run))
    ledger = read_ledger(directory)
    written = [datetime.fromisoformat(commit.written_at).timestamp() for commit in ledger.commits]
    first = min(at - commit.seconds for at, commit in zip(written, ledger.commits, strict=True))
    texts = scan_completions(directory).select("key", "text").collect()
    rate = ledger.n_rows / (max(written) - first)
    return rate, dict(zip(texts["key"], texts["text"], strict=True))


def run_raw(sweep: Path, rounds: int) -> tuple[list[float], dict[str, str]]:
    """The same requests through LLM.generate."""
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    from vllm import LLM, SamplingParams, TokensPrompt

    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.config import load_sweep
    from judgerel_ray.core import request_key
    from judgerel_ray.design import build_wave
    from judgerel_ray.engines.vllm.arguments import engine_arguments

    resolved = resolve(load_sweep(sweep))
    frame = resolved.frames[0]
    asks = [ask for work in build_wave(frame, 0, frame.judges[0], {}) for ask in work.asks]
    engine = LLM(**engine_arguments(resolved.specs["judge"]))
    tokenizer = engine.get_tokenizer()
    prompts, parameters = [], []
    for ask in asks:
        chat = [{"role": m.role, "content": m.content} for m in ask.condition.prompt]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        ids = tokenizer.encode(text, add_special_tokens=False)
        prompts.append(TokensPrompt(prompt_token_ids=ids))
        parameters.append(
            SamplingParams(
                n=ask.n,
                temperature=ask.condition.temperature,
                top_k=ask.condition.top_k,
                seed=ask.condition.seed_base,
                max_tokens=MAX_TOKENS,
            )
        )
    rates, texts = [], {}
    for _ in range(rounds):
        engine.reset_prefix_cache()
        started = time.monotonic()
        answers = engine.generate(prompts, parameters, use_tqdm=False)
        rates.append(sum(ask.n for ask in asks) / (time.monotonic() - started))
        texts = {
            request_key(ask.condition.condition_key, output.index): output.text
            for ask, answer in zip(asks, answers, strict=True)
            for output in answer.outputs
        }
    return rates, texts


if __name__ == "__main__":
    main()
