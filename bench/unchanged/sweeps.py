"""Small sweeps of every protocol and mode, asked of simulated judges."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

ADAPTIVE = "{ adaptive = 0.05, first = 5, max = 40 }"
JSON_FORM = """verdict = "last"
[form]
json = 'result.winner'
options = 'numbers'
tie = 0
example = '{"why": "short", "result": {"winner": {verdict}}}'
"""
CRITERION = """name = "Kindness to users"
question = "Is it kind?"
[definitions]
short = "Kind."
long = "Kind, truly."
"""


def judge(name: str, model: str = "dirichlet", **options: object) -> str:
    """Write a ``[[judge]]``; options that are no engine's stand before them."""
    own = {key: options.pop(key) for key in ("max_model_len",) if key in options}
    lines = ["[[judge]]", f'name = "{name}"', 'engine = "simulated"', f'model = "{model}"',
             "gpus = 0", *(f"{key} = {value}" for key, value in own.items())]  # fmt: skip
    fields = ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
    return "\n".join([*lines, f"engine_options = {{ {fields} }}"]) + "\n"


def ask(protocol: str, benchmark: str, path: str, **keys: object) -> str:
    """Write an ``[[ask]]``; a text that opens a brace is TOML already."""
    lines = [
        "[[ask]]",
        f'protocol = "{protocol}"',
        f'benchmark = "{benchmark}"',
        f'path = "{path}"',
    ]
    for key, value in keys.items():
        plain = isinstance(value, str) and value.startswith("{")
        lines.append(f"{key} = {value if plain else json.dumps(value)}")
    return "\n".join(lines) + "\n"


STEADY = judge("steady", seed=1, concentration=0.4)
WAVERING = judge("wavering", seed=1, concentration=3.0, unparsed=0.08, refuse=0.05, reason_words=4)
PLACED = judge("placed", "position", seed=2, position_bias=[1.5, 0.2], quality_sd=0.8)
MODELS = "".join(
    judge(name, seed=seed, concentration=0.7, **more)
    for seed, (name, more) in enumerate({"ant": {}, "bee": {"unparsed": 0.1}, "cat": {}}.items())
)
RATERS = judge("fine", "latent", noise=0.08) + judge("coarse", "latent", noise=0.3, unparsed=0.1)
ON_SCALES = {
    "criteria": ["helpfulness"],
    "scales": ["points5", "likert5", "binary", "percent.toml"],
}
SWAYED = "".join(
    judge(name, seed=1, concentration=0.6, **more)
    for name, more in {
        "firm": {"suggestibility": 0.5},
        "swayed": {"suggestibility": 2.5, "refuse": 0.1},
    }.items()
)

SWEEPS: dict[str, str] = {
    "sampled": STEADY + WAVERING + PLACED + ask(
        "best_of", "mine", "choices.jsonl", temperatures=[1.0, 0.5, 0.0], replications=6,
        repeat_greedy=4, option_orders=2, templates=["default", "paraphrase"],
    ),
    "again": judge("steady", seed=1, concentration=1.2) + WAVERING + ask(
        "best_of", "mine", "choices.jsonl", temperatures=[1.0, 0.0], replications=6,
        repeat_greedy=4, option_orders=2,
    ),
    "written": judge("ant", seed=4) + judge("bee", seed=5) + STEADY + WAVERING
    + ask("best_of", "talks", "talks.jsonl", responders=["ant", "bee"], replications=5,
          respond="{ temperature = 0.7, max_tokens = 40 }", judges=["steady", "wavering"])
    + ask("correctness", "closed", "choices.jsonl", responders=["ant"], replications=5,
          temperatures=[1.0, 0.0], judges=["steady", "wavering"])
    + ask("respond", "closed", "choices.jsonl", judges=["ant"], replications=2),
    "correct": STEADY + WAVERING
    + ask("correctness", "mine", "choices.jsonl", replications=5, temperatures=[1.0, 0.0]),
    "own_template": STEADY + ask("best_of", "ties", "choices.jsonl", templates=["own"],
                                 option_orders=2, reader="last", replications=5),
    "confused": SWAYED
    + "".join(ask("confusion", "criterion", f"{name}.jsonl", temperatures=[1.0],
                  thresholds=[0.5, 0.8]) for name in ("grades", "truth"))
    + ask("best_of", "criterion", "truth.jsonl", replications=4)
    + ask("best_of", "criterion", "grades.jsonl", mode="exact", temperatures=[1.0, 0.5]),
    "confused_by_pairs": SWAYED
    + ask("confusion", "criterion", "grades.jsonl", mode="paper")
    + ask("confusion", "criterion", "truth.jsonl", mode="single", option_labels="ids",
          option_probability="last_token"),
    "rated": RATERS
    + ask("rating", "rated", "rated.jsonl", **ON_SCALES, judges=["coarse"], replications=4)
    + ask("rating", "rated", "rated.jsonl", criteria=["kind.toml"], scales=["points10"],
          definitions=["none", "short"], templates=["default", "terse"], temperatures=[0.4, 0.0],
          replications=4, repeat_greedy=3),
    "weighted": judge("fine", "latent", noise=0.08, unparsed=0.1)
    + ask("rating", "rated", "rated.jsonl", **ON_SCALES, replications=6)
    + ask("rating", "rated", "rated.jsonl", **ON_SCALES, mode="exact", temperatures=[1.0, 0.5]),
    "thought": MODELS + ask("think_twice", "mine", "five.jsonl", temperatures=[1.0, 0.0],
                            replications=3, option_orders=2),
    "thought_alone": MODELS + ask(
        "think_twice", "open", "five.jsonl", temperatures=[0.7], replications=2, candidates=3,
        roles=["participant"], templates=["paraphrase"], sample='{ per = "benchmark", n = 8 }'),
    "cascaded": MODELS + ask("think_twice", "mine", "five.jsonl", temperatures=[1.0, 0.0],
                             replications=3, responders=["bee", "ant", "cat"], cascade=0.7),
    "adaptive": STEADY + WAVERING
    + ask("best_of", "mine", "choices.jsonl", temperatures=[1.0, 0.5, 0.0], replications=ADAPTIVE)
    + ask("correctness", "mine", "choices.jsonl", replications=ADAPTIVE),
    "explored": judge("drawn", seed=5, concentration=1.5, refuse=0.1) + STEADY
    + ask("best_of", "mine", "choices.jsonl", temperatures=[1.0, 0.5, 0.0], option_orders=2,
          replications=100, early_stop=True, top_k=50)
    + ask("correctness", "mine", "choices.jsonl", temperatures=[1.0, 0.5]),
    "reasoned": judge("thinks", seed=3, concentration=4.0, reasoning=5.0, unparsed=0.05)
    + ask("best_of", "mine", "choices.jsonl", temperatures=[1.0, 0.5], replications=20,
          verdict_logprobs=True),
    "unfinished": STEADY + judge("absent", fails_start=True) + WAVERING
    + ask("best_of", "mine", "choices.jsonl", replications=4),
}  # fmt: skip
"""By name; `explored` is run by `exact`, which leaves out what only sampling has."""


def write_sweeps(folder: Path) -> None:
    """Write every sweep with what lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in SWEEPS.items():
        (folder / f"{name}.toml").write_text(f'name = "{name}"\n{text}', encoding="utf-8")
    rng = np.random.default_rng(9)
    benchmarks = {
        "choices": [_choice(i, "abc") for i in range(24)],
        "five": [_choice(i, "abcde") for i in range(20)],
        "talks": [_talk(i) for i in range(8)],
        "grades": [_labelled("grades", i, ("1", "2", "3")) for i in range(24)],
        "truth": [_labelled("truth", i, ("yes", "no")) for i in range(24)],
        "rated": [_rated(i, rng) for i in range(20)],
    }  # fmt: skip
    for name, items in benchmarks.items():
        text = "\n".join(json.dumps(item) for item in items)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "kind.toml").write_text(CRITERION, encoding="utf-8")
    percent = 'level = "interval"\nlowest = 0\nhighest = 100\n'
    (folder / "percent.toml").write_text(percent, encoding="utf-8")
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "template.toml").write_text(JSON_FORM, encoding="utf-8")
    (folder / "own" / "question.txt").write_text("{question}\n{responses}", encoding="utf-8")


def _choice(i: int, options: str) -> dict[str, object]:
    """An item with one option a letter, one of them right."""
    return {
        "item_id": f"q{i}", "category": f"c{i % 3}", "question": f"Question {i}?",
        "gold": options[i % len(options)],
        "options": [{"option_id": one, "text": f"{one} on {i}"} for one in options],
    }  # fmt: skip


def _talk(i: int) -> dict[str, object]:
    """A question without options, or a dialogue of two."""
    turns = [f"Question {i}?", f"And then {i}?"]
    talk = {"item_id": f"t{i}", "category": "talk", "question": turns[0]}
    return talk | ({"turns": turns} if i % 2 else {})


def _labelled(benchmark: str, i: int, options: tuple[str, ...]) -> dict[str, object]:
    """A text judged by a criterion, labelled by three people."""
    right = options[i % len(options)]
    return {
        "item_id": f"{benchmark}{i}", "benchmark": benchmark, "criterion": ("fit", "flow")[i % 2],
        "question": "Does it fit?", "text": f"Text {i}.", "options": list(options),
        "labels": [right, right, options[i // 4 % len(options)]],
    }  # fmt: skip


def _rated(i: int, rng: np.random.Generator) -> dict[str, object]:
    """Two responses, each rated by two people."""
    return {
        "item_id": f"q{i:02}", "category": f"c{i % 2}", "question": f"Question {i}?",
        "options": [{"option_id": one, "text": f"{one} on {i}"} for one in ("good", "bad")],
        "ratings": [
            {"rater": rater, "criterion": "helpfulness", "responder": one,
             "score": float(rng.integers(1, 6))}
            for rater in "ab" for one in ("good", "bad")
        ],
    }  # fmt: skip
