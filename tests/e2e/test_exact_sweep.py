"""Verdict distributions from a sweep file to limits, with judges of known truth."""

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.distributions.from_run import run_limits
from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.counting.snapshot import open_run
from judgerel_ray.engines import EngineSpec
from judgerel_ray.store import RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import read_distributions
from tests.truth import true_distribution

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

OPTIONS = ("a", "b", "c")
N_ITEMS = 12
TEMPERATURES = (1.0, 0.5, 0.0)
JUDGE = {"seed": 5, "concentration": 1.5, "refuse": 0.1}


def write(folder, more=""):
    folder.mkdir(exist_ok=True)
    options = [{"option_id": name, "text": name} for name in OPTIONS]
    lines = [
        json.dumps({"item_id": f"q{i}", "question": f"Q {i}?", "options": options})
        for i in range(N_ITEMS)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines))
    told = ", ".join(f"{k} = {json.dumps(v)}" for k, v in JUDGE.items())
    file = folder / "s.toml"
    file.write_text(
        'name = "s"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
        f'engine_options = {{ {told} }}\n[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\n'
        f'path = "items.jsonl"\ntemperatures = {list(TEMPERATURES)}\n{more}\n'
    )
    return str(file)


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    # As it samples: the verb leaves out what only sampling has.
    file = write(folder, "replications = 100\nearly_stop = true")
    assert main(["exact", file, "--out", str(folder / "run")]) == 0
    return RunDirectory.open(str(folder / "run"))


def test_distributions_are_the_truth_at_every_temperature(explored):
    table = read_distributions(explored)
    assert table.height == N_ITEMS * len(TEMPERATURES) * 4
    spec = EngineSpec(name="j", engine="simulated", model="dirichlet", engine_options=JUDGE)
    menu = Menu(labels=("A", "B", "C"), option_ids=OPTIONS, form="best_response")
    for (item, temperature), rows in table.group_by("item_id", "temperature"):
        found = dict(rows.select("verdict", "probability").iter_rows())
        true = true_distribution(spec, item_id=item, menu=menu, temperature=temperature)
        spoken = 1.0 if temperature == 0 else 0.9
        for name, share in zip(OPTIONS, true, strict=True):
            assert found[name] == pytest.approx(share * spoken, abs=1e-9)


def test_one_request_a_prompt(explored):
    rows = scan_judgments(explored).collect()
    assert rows.height == N_ITEMS
    assert set(rows["stage"]) == {"exact"}
    assert main(["run", f"{explored.url}/../s.toml", "--out", explored.url]) == 2


def test_limits_are_those_of_the_distributions(explored):
    limits = run_limits(open_run(explored.url))
    table = read_distributions(explored).filter(pl.col("temperature") == 1.0)
    matrix = np.array([rows["probability"].to_list() for _, rows in table.group_by("item_id")])
    agreement = (matrix**2).sum(axis=1).mean()
    row = limits.filter(
        (pl.col("temperature") == 1.0) & (pl.col("coefficient") == "percent_agreement")
    )
    assert row["value"].item() == pytest.approx(agreement, abs=1e-9)
    assert row["low"].item() < agreement < row["high"].item()


def test_what_the_verb_prints_is_what_reduce_prints(explored, capsys):
    assert main(["distributions", "--full", explored.url, "--view", "limits"]) == 0
    printed = capsys.readouterr().out
    assert "Krippendorff's alpha" in printed
    assert f"{N_ITEMS} questions, 4 categories" in printed
    assert main(["distributions", explored.url, "--view", "limits", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == run_limits(open_run(explored.url)).height
    assert judgerel_ray.distributions(explored.url).rows.equals(run_limits(open_run(explored.url)))
    assert main(["reduce", explored.url]) == 2
    hint = f"Try: judgerel distributions {explored.url}: the run has verdict distributions"
    assert hint in capsys.readouterr().err


def test_a_sweep_without_verdicts_has_nothing_to_find(tmp_path, capsys):
    file = write(tmp_path)
    text = (tmp_path / "s.toml").read_text().replace("best_of", "respond")
    (tmp_path / "s.toml").write_text(text)
    assert main(["exact", file, "--out", str(tmp_path / "run")]) == 2
    assert "no ask of the sweep has a distribution to find" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
