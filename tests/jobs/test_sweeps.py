"""Every ready sweep loads, and the counts in its first lines are true."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.plan.specs import engine_spec
from judgerel_ray.benchmarks import sample_items
from judgerel_ray.cli import main
from judgerel_ray.config import read_sweep
from judgerel_ray.config.series import load_series
from judgerel_ray.core import Item, Option
from judgerel_ray.design import AskFrame, Voice, count_stages
from judgerel_ray.engines.simulated.options import simulated_options
from judgerel_ray.protocols import load_template

JOBS = Path(__file__).resolve().parents[2] / "jobs"
SERIES = JOBS / "nightly.toml"
SWEEPS = sorted(set(JOBS.glob("*.toml")) - {SERIES})
PAPER = "schroeder2024__3-judges__1xgpu-each"
OWN = "schroeder2024-own-responses__5-responders-3-judges__1xgpu-each"
CATEGORIES = {"bbh": 27, "squad": 20, "mt_bench": 8}


def header(file):
    """The comment a sweep begins with."""
    lines = []
    for line in file.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)


def numbers(text):
    return {int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\d|\d", text)}


def stand_ins(benchmark, n, *, options="abcde"):
    """Items of the paper's shape: one a category, two turns in MT-Bench."""
    turns = ("One?", "Two?") if benchmark == "mt_bench" else ()
    return tuple(
        Item(
            item_id=f"{benchmark}-{i}",
            benchmark=benchmark,
            category=f"{benchmark}-{i}",
            question=f"Question {i}?",
            turns=turns,
            options=tuple(Option(option_id=one, text=one) for one in options),
        )
        for i in range(n)
    )


def counts_of(sweep, items_of):
    """Counts of a sweep whose items are given, not read."""
    frames = []
    for index, ask in enumerate(sweep.ask):
        responders = tuple(Voice(name=j.name, fingerprint="0") for j in sweep.responders_of(index))
        frames.append(
            AskFrame(
                index=index,
                ask=ask,
                items=items_of(ask),
                templates=tuple(load_template(ask.protocol, name) for name in ask.templates),
                judges=tuple(Voice(name=j.name, fingerprint="0") for j in sweep.judges_of(index)),
                responders=responders,
                respond=ask.respond if responders else None,
                respond_template=load_template("respond", "default") if responders else None,
            )
        )
    return count_stages(frames)


def test_there_are_ready_sweeps():
    assert {file.stem for file in SWEEPS} >= {PAPER, OWN, "demo__tiny-judge__cpu"}


@pytest.mark.parametrize("file", SWEEPS, ids=lambda file: file.stem)
def test_a_ready_sweep_loads_and_says_how_to_start_it(file):
    sweep = read_sweep(file)
    assert sweep.name == file.stem.split("__")[0]
    first = file.read_text().splitlines()[0]
    assert first.startswith("# ")
    assert f"jobs/{file.name}" in first
    assert len(numbers(header(file))) > 3


def test_the_ready_series_asks_of_a_simulated_judge_what_its_header_says():
    series = load_series(SERIES)
    assert series.name == SERIES.stem
    assert SERIES.read_text().startswith("# judgerel refresh jobs/nightly.toml\n")
    [(anchors, role)] = series.sweeps()
    assert (role, [judge.engine for judge in anchors.judge]) == ("anchor", ["simulated"])
    plan = plan_resolved(resolve(anchors))
    assert {16, 10, plan.requests} <= numbers(header(SERIES))
    assert {16, 10, plan.requests} <= numbers(header(Path(series.find(series.sweep[0].path))))


def test_the_grid_of_the_paper_is_66165_requests_and_its_header_says_so():
    sweep = read_sweep(JOBS / f"{PAPER}.toml")
    items = sum((stand_ins(name, n) for name, n in CATEGORIES.items()), ())
    counts = counts_of(sweep, lambda _: items)
    assert len(items) == 55
    assert sum(count.requests for count in counts) == 3 * 55 * 401 == 66_165
    assert {82_500, 66_165, 55, 100} <= numbers(header(JOBS / f"{PAPER}.toml"))
    assert 3 * 5 * 100 * 55 == 82_500


def test_the_paper_from_its_beginning_writes_315_answers():
    sweep = read_sweep(JOBS / f"{OWN}.toml")
    counts = counts_of(sweep, lambda a: stand_ins(a.benchmark, CATEGORIES[a.benchmark], options=""))
    answers = sum(count.requests for count in counts if count.role == "responder")
    first_turns = sum(count.requests for count in counts if count.stage == "turn1")
    judgments = sum(count.requests for count in counts if count.role == "judge")
    assert (answers, answers - first_turns, first_turns, judgments) == (315, 275, 40, 66_165)
    assert {315, 275, 40, 66_165, 27, 20, 8} <= numbers(header(JOBS / f"{OWN}.toml"))


def test_the_draws_of_its_asks_are_one_of_each_category():
    sweep = read_sweep(JOBS / f"{OWN}.toml")
    for ask in sweep.ask:
        draw = ask.sample
        assert draw is not None
        upstream = [
            replace(item, item_id=f"{item.item_id}-{i}")
            for i in range(3)
            for item in stand_ins(ask.benchmark, 48)
        ]
        drawn = sample_items(
            upstream, per=draw.per, n=draw.n, seed=draw.seed, categories=draw.categories
        )
        assert len(drawn) == (draw.categories or 48)
        assert len({item.category for item in drawn}) == len(drawn)


@pytest.mark.slow
def test_the_demo_plans_what_its_header_says(capsys):
    file = JOBS / "demo__tiny-judge__cpu.toml"
    plan = plan_resolved(resolve(read_sweep(file)))
    assert plan.requests == 5_760
    assert {(stage.items, stage.requests) for stage in plan.stages} == {(60, 2_880)}
    assert {judge.tokens_are for judge in plan.judges} == {"counted"}
    assert {5_760, 2_880, 60, 2, 3, 4} <= numbers(header(file))
    assert main(["plan", str(file)]) == 0
    assert capsys.readouterr().out.startswith("sweep demo: 5,760 requests\n")


def test_the_papers_own_questions_plan_to_66165(recordings, tmp_path):
    """The released questions and answers in place of the folder that the sweep names."""
    text = (JOBS / f"{PAPER}.toml").read_text()
    file = tmp_path / "schroeder2024.toml"
    file.write_text(text.replace("../data/schroeder2024", str(recordings / "seed000")))
    plan = plan_resolved(resolve(read_sweep(file)))
    assert plan.requests == 66_165
    assert [stage.items for stage in plan.stages] == [55, 55, 55]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["sweep.py", "reduce.py"])
def test_a_job_without_arguments_says_its_usage(script):
    found = subprocess.run(
        [sys.executable, JOBS / script], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.startswith(f"usage: python jobs/{script} ")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "file", [one for one in SWEEPS if "simulated" not in one.stem], ids=lambda file: file.stem
)
def test_a_ready_sweep_says_how_to_try_it_with_a_simulated_judge(file, tmp_path):
    """What its header says, done to its text."""
    said = re.search(r"(engine = \S+) and (model = \S+) in .*, and no (.*); verdicts", header(file))
    dropped = [*re.split(", | and ", said[3]), "engine"]
    text = re.sub(rf"(?m)^({'|'.join(dropped)}) = .*\n", "", file.read_text())
    text = re.sub(r"(?m)^model = .*", f"{said[1]}\n{said[2]}", text)
    (tmp_path / "try.toml").write_text(text)
    sweep = read_sweep(tmp_path / "try.toml")
    assert {(one.engine, one.model, one.gpus) for one in sweep.judge} == {
        ("simulated", "uniform", 0)
    }
    for judge in sweep.judge:
        simulated_options(engine_spec(sweep, judge))
