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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from demo.judge_design import JUDGE_FOLDER, LETTERS, design_record
from demo.judge_prompts import Lesson, draw_lesson
from demo.judge_tokenizer import BOS, END, OPEN, PAD, build_tokenizer, vocabulary

SEED = 20250
BATCH = 128


def draw_batch(rng: random.Random) -> list[Lesson]:
    """Draw the lessons of one step."""
    return [draw_lesson(rng) for _ in range(BATCH)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a judge is taught; by default what the demo's is.

    ``reply_tokens`` is the longest reply; ``decisive`` are the tokens right after which the law
    decides, and which therefore weigh more; ``begins_as`` is the folder of a judge taught before,
    whose tokens come first, or None for one that knows nothing; ``likened`` names further tokens
    that begin as one of that judge's; ``chat_templates`` are files to lie beside the tokenizer's.
    """

    vocabulary: Mapping[str, int] = field(default_factory=vocabulary)
    tokenizer: Callable[[], PreTrainedTokenizerFast] = build_tokenizer
    design: Callable[[], Mapping[str, object]] = design_record
    batch: Callable[[random.Random], list[Lesson]] = draw_batch
    reply_tokens: int = 9
    decisive: tuple[str, ...] = (OPEN,)
    steps: int = 1800
    peak_learning_rate: float = 3e-3
    verdict_weight: float = 4.0
    begins_as: Path | None = None
    likened: Mapping[str, str] = field(default_factory=dict)
    chat_templates: Mapping[str, str] = field(default_factory=dict)


def new_model(course: Course) -> LlamaForCausalLM:
    """Make the model to be trained: 2 layers, width 96, 3 heads of 32, tied embeddings."""
    vocab = course.vocabulary
    if course.begins_as is not None:
        model = LlamaForCausalLM.from_pretrained(course.begins_as, dtype=torch.float32)
        model.resize_token_embeddings(len(vocab), mean_resizing=False)
        embeddings = model.get_input_embeddings().weight
        with torch.no_grad():
            for token, known in course.likened.items():
                embeddings[vocab[token]] = embeddings[vocab[known]]
        return model
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


def batch_of(
    course: Course, lessons: Sequence[Lesson]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Lay lessons out as tensors.

    Returns
    -------
    tuple
        Token ids (batch, length), padded on the right where causal attention cannot see; the
        positions that predict the reply (batch, reply); the target distributions
        (batch, reply, vocab), zero where a reply is shorter.
    """
    vocab = course.vocabulary
    wholes = [[vocab[t] for t in (*lesson.prompt, *lesson.reply)] for lesson in lessons]
    length = max(map(len, wholes))
    ids = torch.tensor([whole + [vocab[PAD]] * (length - len(whole)) for whole in wholes])
    starts = torch.tensor([len(lesson.prompt) - 1 for lesson in lessons])
    places = (starts[:, None] + torch.arange(course.reply_tokens)).clamp(max=length - 1)
    cells = [
        (row, step, vocab[token], p)
        for row, lesson in enumerate(lessons)
        for step, target in enumerate(lesson.targets)
        for token, p in target.items()
    ]
    rows, steps, names, shares = zip(*cells, strict=True)
    targets = torch.zeros((len(lessons), course.reply_tokens, len(vocab)))
    targets[list(rows), list(steps), list(names)] = torch.tensor(shares)
    return ids, places, targets


def divergences(
    course: Course, model: LlamaForCausalLM, lessons: Sequence[Lesson]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute KL(design, model) in nats at the verdicts (their mean) and elsewhere (likewise)."""
    ids, places, targets = batch_of(course, lessons)
    hidden = model.model(input_ids=ids).last_hidden_state
    rows = torch.arange(len(ids))[:, None]
    logprobs = functional.log_softmax(model.lm_head(hidden[rows, places]), dim=-1)
    kl = (torch.special.xlogy(targets, targets) - targets * logprobs).sum(-1)
    is_reply = targets.sum(-1) > 0
    decisive = torch.tensor([course.vocabulary[token] for token in course.decisive])
    is_verdict = is_reply & torch.isin(ids[rows, places], decisive)
    return kl[is_verdict].mean(), kl[is_reply & ~is_verdict].mean()


def train(course: Course, model: LlamaForCausalLM, *, steps: int) -> None:
    """Train in place, printing the divergences of the batch now and then."""
    rng = random.Random(SEED)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=course.peak_learning_rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, course.peak_learning_rate, total_steps=steps, pct_start=0.15
    )
    started = time.monotonic()
    for step in range(1, steps + 1):
        at_verdict, elsewhere = divergences(course, model, course.batch(rng))
        optimizer.zero_grad()
        (course.verdict_weight * at_verdict + elsewhere).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % (steps // 12 or 1) == 0 or step == 1:
            print(
                f"step {step:5d}  KL at the verdict {at_verdict.item():.4f}  "
                f"elsewhere {elsewhere.item():.5f}  {time.monotonic() - started:.0f} s",
                flush=True,
            )


def evaluate(
    course: Course, model: LlamaForCausalLM, *, n_batches: int = 32
) -> tuple[float, float]:
    """Compute the divergences on lessons never trained on: (verdict, elsewhere) in nats."""
    rng = random.Random(SEED + 1)
    with torch.inference_mode():
        found = [divergences(course, model, course.batch(rng)) for _ in range(n_batches)]
    at_verdict, elsewhere = torch.tensor(found).mean(dim=0).tolist()
    return at_verdict, elsewhere


def save(course: Course, model: LlamaForCausalLM, folder: Path) -> None:
    """Write weights, tokenizer and design as a Hugging Face model folder."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    course.tokenizer().save_pretrained(folder)
    config = folder / "tokenizer_config.json"
    record = json.loads(config.read_text())
    record["tokenizer_class"] = "PreTrainedTokenizerFast"  # every transformers knows this name
    config.write_text(json.dumps(record, indent=2) + "\n")
    for name, template in course.chat_templates.items():
        (folder / name).write_text(template)
    (folder / "design.json").write_text(json.dumps(course.design(), indent=2) + "\n")


def teach(course: Course, folder: Path) -> None:
    """Train a judge from the command line, print how close it came to its design, and write it."""
    parser = argparse.ArgumentParser(description="Train a judge of known law.")
    parser.add_argument("--out", type=Path, default=folder)
    parser.add_argument("--steps", type=int, default=course.steps)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # threads wait for one another where others keep the cores busy
    torch.manual_seed(SEED)
    model = new_model(course)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, letters {LETTERS}")
    train(course, model, steps=arguments.steps)
    at_verdict, elsewhere = evaluate(course, model)
    print(f"held out: KL at the verdict {at_verdict:.4f} nats, elsewhere {elsewhere:.6f} nats")
    save(course, model, arguments.out)


if __name__ == "__main__":
    teach(Course(), JUDGE_FOLDER)
