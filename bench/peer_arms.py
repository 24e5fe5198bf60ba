"""One arm of bench/peers.py: starts its engine, does the work, leaves what it did as JSON."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.peers import GO, READY, Cell, least_prompt_tokens, rows_of
from judgerel_ray.core import request_key

Texts = dict[str, str]


def cells_of(sweep: Path) -> tuple[list[Cell], dict[str, Any]]:
    """What the sweep asks, and the engine of each judge."""
    from transformers import AutoTokenizer

    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.config import read_sweep
    from judgerel_ray.design import build_wave

    resolved = resolve(read_sweep(sweep))
    frame, cells = resolved.frames[0], []
    for voice in frame.judges:
        tokenizer = AutoTokenizer.from_pretrained(resolved.specs[voice.name].model)
        for ask in (ask for work in build_wave(frame, 0, voice, {}) for ask in work.asks):
            asked = ask.condition
            chat = [{"role": m.role, "content": m.content} for m in asked.prompt]
            text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
            cells.append(
                Cell(
                    key=asked.condition_key,
                    judge=voice.name,
                    chat=tuple((m.role, m.content) for m in asked.prompt),
                    ids=tuple(tokenizer.encode(text, add_special_tokens=False)),
                    temperature=asked.temperature,
                    seed=asked.seed_base,
                    n=ask.n,
                    max_tokens=asked.max_tokens,
                    top_k=asked.top_k,
                    stop=tuple(asked.stop),
                )
            )
    return cells, dict(resolved.specs)


def for_peers(cells: Iterable[Cell], *, stopped: bool) -> list[Cell]:
    """The same cells as others ask them: temperature 0 as often as any, replies to their end."""
    cells = list(cells)
    most = max(cell.n for cell in cells)
    return [replace(cell, n=most, stop=cell.stop if stopped else ()) for cell in cells]


class Raw:
    """One engine behind LLM.generate."""

    def __init__(self, spec: Any) -> None:
        from judgerel_ray.engines.vllm.arguments import engine_arguments, environment

        os.environ.update(environment(spec, os.environ))
        from vllm import LLM

        self.llm = LLM(**engine_arguments(spec))

    def counted(self) -> list[int]:
        """Prompt tokens, those of them cached, and new ones so far, of all engines there were."""
        names = ("vllm:prompt_tokens", "vllm:prompt_tokens_cached", "vllm:generation_tokens")
        found = self.llm.get_metrics()
        return [sum(int(one.value) for one in found if one.name == name) for name in names]

    def ask(self, wanted: list[tuple[Cell, int, int]]) -> Texts:
        """One call for (cell, first replication, how many)."""
        from vllm import SamplingParams, TokensPrompt

        prompts = [TokensPrompt(prompt_token_ids=list(cell.ids)) for cell, _, _ in wanted]
        parameters = [SamplingParams(n=n, **cell.sampling(r)) for cell, r, n in wanted]
        answers = self.llm.generate(prompts, parameters, use_tqdm=False)
        return {
            request_key(cell.key, r + output.index): output.text
            for (cell, r, _), answer in zip(wanted, answers, strict=True)
            for output in answer.outputs
        }


def raw_calls(arm: str, cells: list[Cell]) -> list[list[tuple[Cell, int, int]]]:
    """The calls of LLM.generate an arm makes, each a list of (cell, first, how many).

    A greedy request may ask for one reply only, so at temperature 0 there is a row for each.
    """
    rows = [(cell, r, 1) for cell, r in rows_of(cells)]
    if arm == "raw":
        whole = [(cell, 0, cell.n) for cell in cells if cell.temperature]
        return [whole + [row for row in rows if not row[0].temperature]]
    if arm == "raw-rows":
        random.Random(0).shuffle(rows)
        return [rows]
    temperatures = dict.fromkeys(cell.temperature for cell in cells)
    return [[row for row in rows if row[0].temperature == one] for one in temperatures]


def wait_to_begin(folder: Path) -> None:
    """Say that the engine is up, and wait until told to begin."""
    (folder / READY).touch()
    while not (folder / GO).exists():
        time.sleep(0.05)


def run_raw(arm: str, cells: list[Cell], spec: Any, waits_in: Path | None) -> dict[str, Any]:
    """One judge through LLM.generate."""
    engine, texts = Raw(spec), {}
    if waits_in:
        wait_to_begin(waits_in)
    before, began = engine.counted(), time.time()
    for call in raw_calls(arm, cells):
        engine.llm.reset_prefix_cache()
        texts |= engine.ask(call)
    ended = time.time()
    prompt, cached, new = (now - was for now, was in zip(engine.counted(), before, strict=True))
    engine.llm.llm_engine.engine_core.shutdown()
    return {"texts": texts, "prompt": prompt, "cached": cached, "new": new, "span": (began, ended)}


def ray_data_options(spec: Any, *, tuned: bool) -> dict[str, Any]:
    """What Ray Data LLM is told: the engine's arguments, and its own."""
    from judgerel_ray.engines.vllm.arguments import engine_arguments

    engine = {name: one for name, one in engine_arguments(spec).items() if one is not None}
    del engine["model"]
    options: dict[str, Any] = {"model_source": str(spec.model), "concurrency": 1}
    options["log_engine_metrics"] = False
    if not spec.gpus:
        options["placement_group_config"] = {"bundles": [{"CPU": 1}]}
    if tuned:
        stages = ("chat_template_stage", "tokenize_stage", "detokenize_stage")
        sizes = {"batch_size": 64, "max_concurrent_batches": 16}
        return options | dict.fromkeys(stages, False) | sizes | {"engine_kwargs": engine}
    # What the engine needs to live, on a CPU, and nothing that makes it fast.
    needed = ["dtype", "max_model_len", "seed", "generation_config", "enforce_eager"]
    if not spec.gpus:
        needed += ["enable_chunked_prefill", "max_num_batched_tokens"]
    return options | {"engine_kwargs": {name: engine[name] for name in needed if name in engine}}


def run_ray_data(arm: str, cells: list[Cell], spec: Any, folder: Path) -> dict[str, Any]:
    """One judge through Ray Data LLM, its rows landed as Parquet."""
    import polars as pl
    import ray
    from ray.data.llm import build_processor, vLLMEngineProcessorConfig
    from ray.llm._internal.batch.stages.vllm_engine_stage import vLLMEngineStageUDF

    from judgerel_ray.engines.vllm.arguments import environment

    os.environ.update(environment(spec, os.environ))
    if not ray.is_initialized():
        # CPUs are counted, not taken: with its default stages a pipeline needs more than two.
        ray.init(address="local", num_cpus=8, include_dashboard=False, log_to_driver=False)

    class Counted(vLLMEngineStageUDF):  # type: ignore[misc]
        """The engine's stage; rows say when they came and how much of their prompt was cached."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.cached: dict[int, int] = {}
            answer = self.llm._generate_async

            async def counted(request: Any) -> Any:
                output = await answer(request)
                self.cached[request.request_id] = output.num_cached_tokens or 0
                return output

            self.llm._generate_async = counted

        async def _generate_with_error_handling(self, row: Any, batch: Any) -> Any:
            came = time.time()
            made = await super()._generate_with_error_handling(row, batch)
            return made | {"cached": self.cached.pop(made["request_id"]), "came": came}

    tuned = arm != "ray-data"
    config = vLLMEngineProcessorConfig(**ray_data_options(spec, tuned=tuned))

    def prepare(row: dict[str, Any]) -> dict[str, Any]:
        asked = cells[row["cell"]]
        prompt: dict[str, Any] = {"tokenized_prompt": list(asked.ids)}
        if not tuned:
            prompt = {"messages": [{"role": r, "content": c} for r, c in asked.chat]}
        return prompt | {
            "sampling_params": asked.sampling(row["replication"]),
            "key": request_key(asked.key, row["replication"]),
        }

    def keep(row: dict[str, Any]) -> dict[str, Any]:
        kept = ("key", "generated_text", "num_input_tokens", "num_generated_tokens")
        return {name: row[name] for name in (*kept, "cached", "came")}

    processor = build_processor(config, preprocess=prepare, postprocess=keep)
    # Not by assignment: the stage would be validated anew, without its placement, and want a GPU.
    processor.get_stage_by_name("vLLMEngineStage").__dict__["fn"] = Counted
    places = {cell.key: index for index, cell in enumerate(cells)}
    rows = [{"cell": places[cell.key], "replication": r} for cell, r in rows_of(cells)]
    landed = folder / spec.name
    processor(ray.data.from_items(rows)).write_parquet(str(landed))
    ended = time.time()
    found = pl.read_parquet(landed / "*.parquet")
    return {
        "texts": dict(zip(found["key"], found["generated_text"], strict=True)),
        "prompt": int(found["num_input_tokens"].sum()),
        "cached": int(found["cached"].sum()),
        "new": int(found["num_generated_tokens"].sum()),
        "span": (float(found["came"].min()), ended),  # type: ignore[arg-type]
    }


def run_sequential(cells: list[Cell], spec: Any, device: str) -> dict[str, Any]:
    """One judge through transformers, a reply at a time, as the paper's loop."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(spec.model)
    model = AutoModelForCausalLM.from_pretrained(spec.model).to(device)
    began, new, rows = time.time(), 0, rows_of(cells)
    for cell, replication in rows:
        torch.manual_seed((cell.seed + replication) % 2**63)
        ids = torch.tensor([cell.ids], device=device)
        sampled = {"do_sample": True, "temperature": cell.temperature, "top_k": cell.top_k}
        made = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=cell.max_tokens,
            pad_token_id=tokenizer.pad_token_id,
            **(sampled if cell.temperature else {"do_sample": False}),
        )
        tokenizer.decode(made[0, len(cell.ids) :], skip_special_tokens=True)
        new += made.shape[1] - len(cell.ids)
    prompt = sum(len(cell.ids) for cell, _ in rows)
    span = (began, time.time())
    # Its random numbers are torch's own: no text can equal the engine's.
    return {"texts": {}, "prompt": prompt, "cached": 0, "new": new, "span": span}


def run_judgerel(sweep: Path, folder: Path) -> list[dict[str, Any]]:
    """The sweep by `judgerel run`, judge after judge; from the first lease to the last commit."""
    import ray

    from judgerel_ray.cli import main
    from judgerel_ray.store import RunDirectory, read_ledger, scan_completions

    # One CPU is one engine at a time: their starts can be told from their work.
    ray.init(
        address="local",
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    if main(["run", str(sweep), "--out", str(folder / "run")]):
        raise SystemExit("judgerel run failed")
    directory = RunDirectory.open(str(folder / "run"))
    landed = scan_completions(directory).select("key", "text").collect()
    texts = dict(zip(landed["key"], landed["text"], strict=True))
    found = []
    commits = read_ledger(directory).commits
    for judge in dict.fromkeys(commit.judge for commit in commits):
        own = [commit for commit in commits if commit.judge == judge]
        written = [datetime.fromisoformat(commit.written_at).timestamp() for commit in own]
        first = min(at - commit.seconds for at, commit in zip(written, own, strict=True))
        found.append(
            {
                "texts": texts,
                "prompt": sum(commit.tokens.prompt for commit in own),
                "cached": sum(commit.tokens.cached for commit in own),
                "new": sum(commit.tokens.generated for commit in own),
                "span": (first, max(written)),
            }
        )
        texts = {}
    return found


def digest(texts: Texts) -> str:
    """The same for the same texts under the same keys, however they came about."""
    pairs = json.dumps(sorted(texts.items())).encode()
    return hashlib.sha256(pairs).hexdigest()[:12] if texts else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arm")
    parser.add_argument("case")
    parser.add_argument("sweep", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sequential", type=int, default=4)
    parser.add_argument(
        "--waits", action="store_true", help="begins when told, once its engine is up"
    )
    given = parser.parse_args()
    cells, specs = cells_of(given.sweep)
    own = given.arm == "judgerel"
    if not own:
        cells = for_peers(cells, stopped=given.arm == "ray-data-stopped")
    if given.arm == "sequential":
        cells = [replace(cell, n=min(cell.n, given.sequential)) for cell in cells]
    found = run_judgerel(given.sweep, given.folder) if own else []
    for name, spec in ({} if own else specs).items():
        of_judge = [cell for cell in cells if cell.judge == name]
        if given.arm.startswith("ray-data"):
            found.append(run_ray_data(given.arm, of_judge, spec, given.folder))
        elif given.arm == "sequential":
            found.append(run_sequential(of_judge, spec, given.device))
        else:
            waits_in = given.folder if given.waits else None
            found.append(run_raw(given.arm, of_judge, spec, waits_in))
    texts = {key: text for one in found for key, text in one["texts"].items()}
    prompt, cached = (sum(one[name] for one in found) for name in ("prompt", "cached"))
    cost = {
        "requests": sum(cell.n for cell in cells),
        "prompt": prompt,
        "computed": prompt - cached,
        "least": least_prompt_tokens(cells, 16 if given.device == "cuda" else 32),
        "new": sum(one["new"] for one in found),
        "digest": digest(texts),
        "spans": [one["span"] for one in found],
    }
    (given.folder / "cost.json").write_text(json.dumps(cost))


if __name__ == "__main__":
    main()
