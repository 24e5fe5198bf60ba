"""Replications with the probabilities at their verdicts, from judges of known truth."""

import json

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

S = 5.0
N_ITEMS = 30


def write(folder, *, more="verdict_logprobs = true", reasoning=S):
    folder.mkdir(exist_ok=True)
    items = [
        {"item_id": f"q{i}", "question": "?", "options": ["a", "b", "c"]} for i in range(N_ITEMS)
    ]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    told = f"seed = 3, concentration = 4.0, reasoning = {reasoning}"
    file = folder / "s.toml"
    file.write_text(
        'name = "s"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
        f'engine_options = {{ {told} }}\n[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\n'
        f'path = "items.jsonl"\ntemperatures = [1.0, 0.5]\nreplications = 60\n{more}\n'
    )
    return str(file)


@pytest.fixture(scope="module")
def reasoned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reasoned")
    assert main(["run", write(folder), "--out", str(folder / "run")]) == 0
    return RunDirectory.open(str(folder / "run"))


def test_the_split_is_the_truth(reasoned):
    split = judgerel_ray.distributions(reasoned.url, view="reasoning").rows
    assert split["temperature"].to_list() == [1.0, 0.5]
    for row in split.iter_rows(named=True):
        assert row["agreement"] + row["reasoning"] + row["verdict"] == pytest.approx(1)
        # A Dirichlet(s p) reasoning keeps 1 / (1 + s) of the variance of a letter.
        assert row["ratio"] == pytest.approx(1 / (1 + S), rel=0.15)
        assert row["ratio_low"] < 1 / (1 + S) < row["ratio_high"]
        # Sixty letters of thirty questions are this far from their mean at most.
        assert row["largest_shift"] < 0.3


def test_agreement_is_that_of_the_letters_with_less_noise(reasoned):
    split = judgerel_ray.distributions(reasoned.url, view="reasoning").rows.row(0, named=True)
    rows = judgerel_ray.reduce(reasoned.url, coefficients=["percent_agreement"])
    drawn = rows.filter(pl.col("temperature") == 1.0).row(0, named=True)
    assert split["agreement"] == pytest.approx(drawn["value"], abs=0.03)


def test_reading_probabilities_draws_the_same_verdicts(reasoned, tmp_path):
    plain = tmp_path / "run"
    assert main(["run", write(tmp_path, more=""), "--out", str(plain)]) == 0
    names = ["item_id", "temperature", "replication"]
    both = [
        scan_judgments(RunDirectory.open(str(run))).select(*names, "seed").sort(names).collect()
        for run in (reasoned.url, plain)
    ]
    assert both[0].equals(both[1])
    assert scan_completions(RunDirectory.open(str(plain))).collect()["logprobs"].null_count() > 0


def test_a_run_without_them_says_so(tmp_path, capsys):
    assert main(["run", write(tmp_path, more=""), "--out", str(tmp_path / "run")]) == 0
    assert main(["distributions", str(tmp_path / "run"), "--view", "reasoning"]) == 2
    assert "verdict_logprobs = true in an [[ask]]" in capsys.readouterr().err


def test_what_is_printed(reasoned, capsys):
    assert main(["distributions", "--full", reasoned.url, "--view", "reasoning"]) == 0
    printed = capsys.readouterr().out
    assert "j, b, temperature 1" in printed
    assert "agreement + reasoning + verdict = 1" in printed
