"""Judgments of models that think twice and judges of them, of a law that is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

OPTIONS = tuple("0123")


@pytest.fixture(scope="session")
def thinking():
    """Write judgments: three models alone, then each as judge in both roles."""

    def write(
        n=120,
        *,
        seed=0,
        replications=2,
        loyal=0.0,
        skills=(0.1, 0.0, -0.1),
        silent=0.0,
        temperatures=(0.7,),
        tokens=True,
    ):
        """A judge takes its own answer with chance `loyal`, else the right one of those shown."""
        rng = np.random.default_rng(seed)
        models, rows = ("ada", "bob", "cyd"), []
        gold = rng.choice(OPTIONS, size=n)
        ease = rng.random(n)
        for heat in temperatures:
            shared = {"benchmark": "quiz", "protocol": "think_twice", "temperature": heat,
                      "template": "default", "block": 0}  # fmt: skip
            answers = {}
            for model, skill in zip(models, skills, strict=True):
                for q in range(n):
                    chance = float(np.clip(0.25 + 0.55 * ease[q] + skill, 0.02, 0.98))
                    for r in range(replications):
                        said = gold[q] if rng.random() < chance else rng.choice(OPTIONS)
                        lost = rng.random() < silent
                        stated = round(float(np.clip(chance + rng.normal(0, 0.1), 0, 1)), 1)
                        answers[model, q, r] = None if lost else said
                        name = {**shared, "judge": model, "role": "responder", "responder": model,
                                "item_id": f"q{q}", "replication": r, "gold": gold[q]}  # fmt: skip
                        spent = {"prompt_tokens": 100, "completion_tokens": 20} if tokens else {}
                        outcome = "unparsed" if lost else None
                        rows.append({**name, "stage": "select", "outcome": outcome, **spent})
                        if lost:
                            continue
                        spent = {"prompt_tokens": 150, "completion_tokens": 30} if tokens else {}
                        rows.append(
                            {**name, "stage": "choose", "verdict": said, "outcome": "scored",
                             "confidence": stated, **spent}
                        )  # fmt: skip
            for judge in models:
                for role in ("participant", "evaluator_only"):
                    for q in range(n):
                        shown = {
                            m: answers[m, q, 0]
                            for m in models
                            if answers[m, q, 0] is not None
                            and (role == "participant" or m != judge)
                        }
                        if not shown:
                            continue
                        for r in range(replications):
                            own = shown.get(judge)
                            right = gold[q] in shown.values()
                            picked = rng.choice(list(shown.values()))
                            if own is not None and rng.random() < loyal:
                                picked = own
                            elif right and rng.random() < 0.7:
                                picked = gold[q]
                            spent = {"prompt_tokens": 400, "completion_tokens": 40}
                            rows.append(
                                {**shared, "judge": judge, "role": role, "responder": None,
                                 "stage": "judge", "item_id": f"q{q}", "replication": r,
                                 "gold": gold[q], "verdict": picked, "outcome": "scored",
                                 "confidence": round(0.5 + 0.4 * (picked == gold[q])
                                                     + 0.1 * rng.random(), 1),
                                 **(spent if tokens else {})}
                            )  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)

    return write
