"""Panels and cascades of a run: gold of its items, costs of all that answers stand on."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

import polars as pl
import pytest

from judgerel_ray.analyses.panels.from_run import cascade_of, open_voters, together_of
from judgerel_ray.analyses.panels.panels import panel_tables
from judgerel_ray.core import Item, Option, SweepError, TokenCounts, request_key
from judgerel_ray.store import RunDirectory, begin_session, land
from judgerel_ray.tables import Completions, Judgments, items_to_frame
from tests.opening import answers, snapshot

HEAD = 'name = "s"\n' + "".join(
    f'[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
    for name in ("ant", "bee")
)
ASK = '[[ask]]\nprotocol = "think_twice"\nbenchmark = "b"\npath = "i.jsonl"\n'
N = 12
RIGHT = {("ant", "responder"): 9, ("bee", "responder"): 6, ("ant", "participant"): 10}
TOKENS = {"ant": 100, "bee": 40}


def row(judge, role, stage, n, verdict):
    """A judgment of question n, at temperature 0."""
    key = request_key(f"{judge}{role}{stage}{n}", 0)
    return {
        "key": key, "judge": judge, "judge_fingerprint": "x", "benchmark": "b", "item_id": f"q{n}",
        "protocol": "think_twice", "stage": stage, "role": role, "template": "default",
        "temperature": 0.0, "top_k": 50, "top_p": 1.0, "replication": 0, "block": 0,
        "verdict": verdict, "label": "0,1" if stage == "select" else verdict,
        "outcome": None if stage == "select" else "scored",
        "confidence": None if stage == "select" else 0.9 if n % 4 == int(str(verdict)[1:]) else 0.6,
        "prompt_tokens": TOKENS[judge], "completion_tokens": 10, "finish_reason": "stop",
        "attempt": 1, "landed_at": datetime(2026, 1, 1, tzinfo=UTC),
    }  # fmt: skip


def landed(tmp_path, ask=ASK):
    """A run in which two models thought twice, and one of them judged both."""
    run = RunDirectory.create(str(tmp_path / "run"))
    run.write_text("sweep.toml", HEAD + ask)
    options = tuple(Option(option_id=f"o{k}", text=str(k)) for k in range(4))
    items = [
        Item(item_id=f"q{n}", benchmark="b", category="c", question="?", options=options,
             gold=f"o{n % 4}")
        for n in range(N)
    ]  # fmt: skip
    data = BytesIO()
    items_to_frame(items).write_parquet(data)
    run.write_bytes("items.parquet", data.getvalue())
    rows = []
    for (judge, role), n_right in RIGHT.items():
        for n in range(N):
            verdict = f"o{(n + (n >= n_right)) % 4}"
            if role == "responder":
                rows.append(row(judge, role, "select", n, None))
            rows.append(row(judge, role, "choose" if role == "responder" else "judge", n, verdict))
    session = begin_session(run).number
    frame = pl.DataFrame(rows, schema=Judgments.create_empty().schema)
    for number, judge in enumerate(TOKENS):
        mine = frame.filter(pl.col("judge") == judge)
        texts = [{"key": key, "text": "?"} for key in mine["key"]]
        asked = mine.select("judge", "role", "stage", "item_id").rows()
        assert land(
            run, session=session, lease=number, attempt=1, judge=judge, judgments=mine,
            completions=pl.DataFrame(texts, schema=Completions.create_empty().schema),
            conditions={f"{a}{b}{c}{d[1:]}": [(0, 1)] for a, b, c, d in asked},
            tokens=TokenCounts(), seconds=1.0,
        )  # fmt: skip
    return str(tmp_path / "run")


def test_a_run_knows_what_is_right_and_what_answers_stand_on(tmp_path):
    found = panel_tables(open_voters(answers(landed(tmp_path))))
    told = found.members.select("member", "accuracy", "cost", "cost_unit").rows()
    ant, bee = 2 * 110.0, 2 * 50.0
    assert told == [
        ("ant participant", 10 / N, 110 + ant + bee, "tokens"),
        ("ant responder", 9 / N, ant, "tokens"),
        ("bee responder", 6 / N, bee, "tokens"),
    ]
    best = found.best.filter(pl.col("limit") == 3).row(0, named=True)
    assert best["cost"] == 110 + ant + bee  # answers that are compared are paid for once


def test_a_cascade_asks_the_models_of_a_run(tmp_path):
    found = cascade_of(answers(landed(tmp_path)))
    assert found.stages["member"].to_list() == ["bee responder", "ant responder"]
    assert found.stages["cost"].to_list() == [100.0, 220.0]
    # Half of the answers of the first are unsure, and wrong.
    assert found.curve["in_sample"].to_list()[-1] == 9 / N
    assert found.curve["in_sample_cost"].to_list()[-1] == 100 + 220 / 2


def test_a_page_tells_both(tmp_path):
    found = together_of(snapshot(landed(tmp_path)))
    assert found is not None
    assert found.panels["members"].height == 3
    assert found.cascade["curve"].height == 10


def test_a_run_that_asked_a_cascade_has_no_panel(tmp_path):
    asked = ASK + 'responders = ["bee", "ant"]\ncascade = 0.8\n'
    path = landed(tmp_path, asked)
    with pytest.raises(SweepError, match="only the questions that the first ones passed on"):
        open_voters(answers(path))
    assert together_of(snapshot(path)) is None


def test_confidence_by_replications_is_bought_by_no_cascade(tmp_path):
    with pytest.raises(SweepError, match="which a cascade does not buy"):
        cascade_of(answers(landed(tmp_path)), confidence="agreement")
