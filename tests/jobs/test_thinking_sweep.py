"""The ready sweep of models that think twice asks what its first lines say."""

import re
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import read_sweep
from judgerel_ray.core import Item, Option
from judgerel_ray.design import AskFrame, Voice, count_stages
from judgerel_ray.protocols import load_template

SWEEP = Path(__file__).resolve().parents[2] / "jobs" / "bergman2025__3-judges__1xgpu-each.toml"
N_QUESTIONS, N_MODELS, OPEN = 600, 3, "[[judge]]"


def counted(sweep):
    """Requests by stage and role, of as many questions as the sweep draws."""
    [ask] = sweep.ask
    items = tuple(
        Item(
            item_id=f"mmlu_pro:{i}",
            benchmark="mmlu_pro",
            category="all",
            question="?",
            options=tuple(Option(option_id=str(k), text=str(k)) for k in range(10)),
        )
        for i in range(ask.sample.n)
    )
    voices = tuple(Voice(name=judge.name, fingerprint="0") for judge in sweep.judge)
    frame = AskFrame(
        index=0,
        ask=ask,
        items=items,
        templates=tuple(load_template(ask.protocol, name) for name in ask.templates),
        judges=voices,
        responders=voices,
    )
    counts = {}
    for one in count_stages([frame]):
        key = one.stage, one.role
        counts[key] = counts.get(key, 0) + one.requests
    return counts


def with_apis(text):
    """The sweep with the judges that stand there as comments in place of the open ones."""
    before, *rest = text.split(f"\n{OPEN}")
    after = rest[-1].split("\n\n", 1)[1]
    return before + "\n" + re.sub(r"(?m)^#(?=\S)", "", after)


def test_its_counts_are_those_of_its_header():
    counts = counted(read_sweep(SWEEP))
    each = N_MODELS * N_QUESTIONS * (1 + 5)
    assert counts == {
        ("select", "responder"): each,
        ("choose", "responder"): each,
        ("judge", "participant"): each,
        ("judge", "evaluator_only"): each,
    }
    assert sum(counts.values()) == 43_200 == N_MODELS * 14_400
    assert N_MODELS * N_QUESTIONS * 4 == 7_200
    header = " ".join(re.findall(r"(?m)^# (.*)", SWEEP.read_text().split("name =")[0]))
    for number in ("600", "7,200", "14,400", "43,200"):
        assert number in header


def test_judges_compare_the_answers_of_temperature_0():
    [ask] = read_sweep(SWEEP).ask
    assert (ask.answer_temperature, ask.candidates, ask.top_k) == (0.0, 2, 0)
    assert ask.roles == ("participant", "evaluator_only")


def test_the_judges_behind_apis_stand_in_for_the_open_ones(tmp_path):
    file = tmp_path / SWEEP.name
    file.write_text(with_apis(SWEEP.read_text()))
    sweep = read_sweep(file)
    assert [judge.name for judge in sweep.judge] == [
        "claude-3.5-haiku",
        "gpt-4.1-nano",
        "gemini-2.0-flash",
    ]
    for judge in sweep.judge:
        assert (judge.engine, judge.gpus) == ("openai", 0)
        assert judge.base_url.startswith("https://")
        assert judge.api_key_env.endswith("_API_KEY")
        assert 0 < judge.prices.prompt < judge.prices.completion
        assert judge.limits.requests_per_minute
    assert sum(counted(sweep).values()) == 43_200


@pytest.mark.slow
@pytest.mark.parametrize("is_behind_apis", [False, True])
def test_recorded_questions_plan_to_their_counts(recordings, tmp_path, is_behind_apis):
    """Recorded questions in place of upstream's folder, a few of them."""
    text = SWEEP.read_text()
    text = with_apis(text) if is_behind_apis else text
    recorded = recordings / "seed004" / "monolithic_claude.parquet"
    pl.read_parquet(recorded)[:20].write_parquet(tmp_path / "some.parquet")
    text = text.replace('"mmlu_pro"', '"bergman2025"').replace("../data/mmlu_pro", "some.parquet")
    file = tmp_path / "s.toml"
    file.write_text(text.replace("n = 600", "n = 20"))
    plan = plan_resolved(resolve(read_sweep(file)))
    assert plan.requests == 20 * N_MODELS * 6 * 4
