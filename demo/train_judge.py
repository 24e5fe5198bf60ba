"""Train the demo's judge and write its folder: ``python -m demo.train_judge`` (minutes on 2 cores).

The judge is a Llama of 0.19 M parameters in the Hugging Face layout, so that vLLM serves it like
any other model. It is trained on the designed distributions themselves (:mod:`demo.judge_design`)
and not on letters drawn from them: the same truth, with less noise.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM

from demo.judge_design import JUDGE_FOLDER, LETTERS, design_record
from demo.judge_prompts import Lesson, draw_lesson
from demo.judge_tokenizer import BOS, END, OPEN, PAD, build_tokenizer, vocabulary

SEED = 20250
BATCH = 128
PEAK_LEARNING_RATE = 3e-3
REPLY_TOKENS = 9
VERDICT_WEIGHT = 4.0


def new_model() -> LlamaForCausalLM:
    """Make the untrained model: 2 layers, width 96, 3 heads of 32, tied embeddings."""
    vocab = vocabulary()
    config = LlamaConfig(
        vocab_size=len(vocab),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=3,
        num_key_value_heads=3,
        head_dim=32,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=vocab[BOS],
        eos_token_id=vocab[END],
        pad_token_id=vocab[PAD],
    )
    return LlamaForCausalLM(config)


def batch_of(lessons: Sequence[Lesson]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Lay lessons out as tensors.

    Returns
    -------
    tuple
        Token ids (batch, length), padded on the right where causal attention cannot see; the
        positions that predict the reply (batch, 9); the target distributions (batch, 9, vocab),
        zero where a reply is shorter.
    """
    vocab = vocabulary()
    wholes = [[vocab[t] for t in (*lesson.prompt, *lesson.reply)] for lesson in lessons]
    length = max(map(len, wholes))
    ids = torch.tensor([whole + [vocab[PAD]] * (length - len(whole)) for whole in wholes])
    starts = torch.tensor([len(lesson.prompt) - 1 for lesson in lessons])
    places = (starts[:, None] + torch.arange(REPLY_TOKENS)).clamp(max=length - 1)
    cells = [
        (row, step, vocab[token], p)
        for row, lesson in enumerate(lessons)
        for step, target in enumerate(lesson.targets)
        for token, p in target.items()
    ]
    rows, steps, names, shares = zip(*cells, strict=True)
    targets = torch.zeros((len(lessons), REPLY_TOKENS, len(vocab)))
    targets[list(rows), list(steps), list(names)] = torch.tensor(shares)
    return ids, places, targets


def divergences(
    model: LlamaForCausalLM, ids: torch.Tensor, places: torch.Tensor, targets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute KL(design, model) in nats at the verdicts (their mean) and elsewhere (likewise)."""
    hidden = model.model(input_ids=ids).last_hidden_state
    rows = torch.arange(len(ids))[:, None]
    logprobs = functional.log_softmax(model.lm_head(hidden[rows, places]), dim=-1)
    kl = (torch.special.xlogy(targets, targets) - targets * logprobs).sum(-1)
    is_reply = targets.sum(-1) > 0
    is_verdict = is_reply & (ids[rows, places] == vocabulary()[OPEN])
    return kl[is_verdict].mean(), kl[is_reply & ~is_verdict].mean()


def train(model: LlamaForCausalLM, *, steps: int) -> None:
    """Train in place, printing the divergences of the batch now and then."""
    rng = random.Random(SEED)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=PEAK_LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.0
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=steps, pct_start=0.15
    )
    started = time.monotonic()
    for step in range(1, steps + 1):
        at_verdict, elsewhere = divergences(
            model, *batch_of([draw_lesson(rng) for _ in range(BATCH)])
        )
        optimizer.zero_grad()
        (VERDICT_WEIGHT * at_verdict + elsewhere).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == 1:
            print(
                f"step {step:5d}  KL at the verdict {at_verdict.item():.4f}  "
                f"elsewhere {elsewhere.item():.5f}  {time.monotonic() - started:.0f} s",
                flush=True,
            )


def evaluate(model: LlamaForCausalLM, *, n_lessons: int = 4096) -> tuple[float, float]:
    """Compute the divergences on lessons never trained on: (verdict, elsewhere) in nats."""
    rng = random.Random(SEED + 1)
    with torch.inference_mode():
        at_verdict, elsewhere = divergences(
            model, *batch_of([draw_lesson(rng) for _ in range(n_lessons)])
        )
    return at_verdict.item(), elsewhere.item()


def save(model: LlamaForCausalLM, folder: Path) -> None:
    """Write weights, tokenizer and design as a Hugging Face model folder."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    config = folder / "tokenizer_config.json"
    record = json.loads(config.read_text())
    record["tokenizer_class"] = "PreTrainedTokenizerFast"  # every transformers knows this name
    config.write_text(json.dumps(record, indent=2) + "\n")
    (folder / "design.json").write_text(json.dumps(design_record(), indent=2) + "\n")


def main() -> None:
    """Train, print how close the judge came to its design, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=JUDGE_FOLDER)
    parser.add_argument("--steps", type=int, default=1800)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    model = new_model()
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, letters {LETTERS}")
    train(model, steps=arguments.steps)
    at_verdict, elsewhere = evaluate(model)
    print(f"held out: KL at the verdict {at_verdict:.4f} nats, elsewhere {elsewhere:.6f} nats")
    save(model, arguments.out)


if __name__ == "__main__":
    main()
