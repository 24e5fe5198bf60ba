"""The ready sweep of ratings asks what its first lines say."""

import re
from pathlib import Path

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import read_sweep
from judgerel_ray.core import Item, Option
from judgerel_ray.design import AskFrame, Voice, count_stages
from judgerel_ray.protocols import load_criterion, load_scale, load_template

SWEEP = Path(__file__).resolve().parents[2] / "jobs" / "lee2025__4-judges__1xgpu-each.toml"
PAIRS, SINGLE = ("one", "other"), ("only",)
OPTIONS = {"hh_rlhf": PAIRS, "truthfulqa_pairs": PAIRS, "lima": SINGLE, "mix": SINGLE}
RECORDED = {
    r"[^\"]*hh-rlhf[^\"]*": "items/hh_rlhf_harmless.parquet",
    r"[^\"]*/lima/[^\"]*": "nc/lima.parquet",
    r"[^\"]*TruthfulQA.csv": "items/truthfulqa.parquet",
}


def counted(sweep):
    """Requests of every ask, from as many items as it draws."""
    frames = []
    for index, ask in enumerate(sweep.ask):
        n = ask.sample.n if ask.sample else 1000  # the mix states its own
        items = tuple(
            Item(
                item_id=f"{ask.benchmark}-{i}",
                benchmark=ask.benchmark,
                category="all",
                question="?",
                options=tuple(Option(option_id=x, text=x) for x in OPTIONS[ask.benchmark]),
            )
            for i in range(n)
        )
        frames.append(
            AskFrame(
                index=index,
                ask=ask,
                items=items,
                templates=tuple(load_template("rating", name) for name in ask.templates),
                judges=tuple(Voice(name=j.name, fingerprint="0") for j in sweep.judges_of(index)),
                criteria=tuple(map(load_criterion, ask.criteria)),
                scales=tuple(map(load_scale, ask.scales)),
            )
        )
    return [sum(one.requests for one in count_stages([frame])) for frame in frames]


TEMPLATES = ("default", "lee2025")


@pytest.mark.slow
def test_the_grid_of_the_paper_is_960000_requests_a_template_and_its_header_says_so():
    *grid, ablation = counted(read_sweep(SWEEP))
    assert grid == [len(TEMPLATES) * 4 * 1000 * 3 * 4 * 5] * 4 == [480_000] * 4
    assert ablation == len(TEMPLATES) * 200 * 4 * 3 * 5 == 24_000
    assert sum(grid) == len(TEMPLATES) * 960_000
    header = " ".join(re.findall(r"(?m)^# (.*)", SWEEP.read_text().split("name =")[0]))
    for number in ("480,000", "1,920,000", "24,000", "960,000", "12,000"):
        assert number in header


def test_every_ask_of_the_grid_has_the_papers_scales_and_lengths():
    *grid, ablation = read_sweep(SWEEP).ask
    for ask in (*grid, ablation):
        assert ask.scales == ("points5", "points10", "likert5", "binary")
        assert (ask.first_replications, ask.top_k, ask.top_p) == (5, 0, 1.0)
        assert ask.templates == TEMPLATES
    assert {ask.definitions for ask in grid} == {("none", "short", "long")}
    assert {ask.temperatures for ask in grid} == {(1.0,)}
    assert 1.0 not in ablation.temperatures


@pytest.mark.slow
def test_recorded_items_plan_to_their_counts(recordings, tmp_path):
    """Recorded items in place of upstream's files, 20 of each source and 5 of each in the mix."""

    def local(text):
        for upstream, path in RECORDED.items():
            text = re.sub(f'"{upstream}"', f'"{(recordings / path).resolve()}"', text)
        return re.sub(r"\bn = \d+, seed", "n = 20, seed", text)

    mix = SWEEP.parent / "mixes" / "lee2025-conciseness.toml"
    (tmp_path / "mixes").mkdir()
    small = re.sub(r"(?m)^n = \d+$", "n = 5", local(mix.read_text()))
    (tmp_path / "mixes" / mix.name).write_text(small)
    file = tmp_path / "lee2025.toml"
    file.write_text(local(SWEEP.read_text()))
    plan = plan_resolved(resolve(read_sweep(file)))
    grid = (40 + 20 + 40 + 20) * 3 * 4 * 5
    assert plan.requests == len(TEMPLATES) * (4 * grid + 40 * 4 * 3 * 5) == 62_400
