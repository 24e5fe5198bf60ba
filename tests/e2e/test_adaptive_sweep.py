"""Adaptive replication on a local cluster: rounds are ordinary replications, asked where needed."""

import json

import numpy as np
import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.stats.intervals.stopping import StoppingRule, replay
from judgerel_ray.store import RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import read_settled

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("ray_local")]
ALONE = pytest.mark.usefixtures("without_ray")  # what settles is the same anywhere

JUDGE = (
    '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
    "engine_options = {{ {options} }}\n"
)
ASK = """
[[ask]]
protocol = "{protocol}"
benchmark = "mine"
path = "items.jsonl"
temperatures = {temperatures}
replications = {replications}
"""
ADAPTIVE = "{ adaptive = 0.05, first = 5, max = 60 }"
RULE = StoppingRule(delta=0.05, first=5, most=60, step=5)
CONDITION = ("judge", "item_id", "temperature")


def write(
    folder,
    replications,
    *,
    options="concentration = 2.0, unparsed = 0.1",
    judges=("one",),
    protocol="best_of",
    temperatures=(1.0, 0.5, 0.0),
    name="s.toml",
    n_items=12,
):
    items = [
        {
            "item_id": f"q{i}",
            "question": f"Question {i}?",
            "gold": "a",
            "options": [{"option_id": one, "text": f"{one} on {i}"} for one in "abc"],
        }
        for i in range(n_items)
    ]
    (folder / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    text = 'name = "s"\n' + "".join(JUDGE.format(name=j, options=options) for j in judges)
    text += ASK.format(
        protocol=protocol, replications=replications, temperatures=list(temperatures)
    )
    file = folder / name
    file.write_text(text)
    return str(file)


def judgments(out):
    frame = scan_judgments(RunDirectory.open(str(out))).collect()
    return frame.sort(*CONDITION, "replication")


def run(file, out):
    return main(["run", file, "--out", str(out)])


def drawn(frame, temperature, options="abc"):
    """Verdicts of every question in the order of their replications, none as one of its own."""
    rows = frame.filter(pl.col("temperature") == temperature)
    codes = pl.col("verdict").replace_strict({one: i for i, one in enumerate(options)}, default=3)
    return rows.with_columns(code=codes).group_by("item_id", maintain_order=True).agg("code")


def test_an_adaptive_run_is_a_prefix_of_the_whole_one_where_the_rule_stops(tmp_path, capsys):
    assert run(write(tmp_path, 60, name="whole.toml"), tmp_path / "whole") == 0
    assert run(write(tmp_path, ADAPTIVE), tmp_path / "run") == 0
    whole, adaptive = judgments(tmp_path / "whole"), judgments(tmp_path / "run")
    columns = ["key", "replication", "verdict", "outcome", "seed"]
    assert adaptive["key"].is_unique().all()
    same = whole.select(columns).join(
        adaptive.select(columns), on=columns, how="semi", nulls_equal=True
    )
    assert same.height == adaptive.height
    for temperature in (1.0, 0.5):
        every = drawn(whole, temperature)
        table = np.array(every["code"].to_list(), dtype=np.int64)
        expected = replay(table, 4, RULE).used_U
        used = drawn(adaptive, temperature)["code"].list.len().to_list()
        assert used == expected.tolist()
        assert min(used) < 60
    cold = adaptive.filter(temperature=0.0)
    assert cold.height == 12
    # The first block is what coefficients rest on, and every later round has a number of its own.
    block = pl.max_horizontal((pl.col("replication") - 5) // 5 + 1, 0)
    warm = adaptive.filter(pl.col("temperature") > 0).with_columns(expected=block)
    assert (warm["block"] == warm["expected"]).all()
    assert warm["block"].max() > 0
    capsys.readouterr()
    assert main(["status", str(tmp_path / "run"), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["state"] == "done"
    assert status["asked"] == status["landed"] == adaptive.height
    assert main(["verify", str(tmp_path / "run")]) == 0
    # Nothing more is wanted: a second run asks nothing.
    capsys.readouterr()
    assert run(str(tmp_path / "s.toml"), tmp_path / "run") == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out


@ALONE
def test_settled_verdicts_are_those_of_the_whole_run(tmp_path):
    assert run(write(tmp_path, 60, name="whole.toml"), tmp_path / "whole") == 0
    assert run(write(tmp_path, ADAPTIVE), tmp_path / "run") == 0
    table = read_settled(RunDirectory.open(str(tmp_path / "run")))
    assert table.height == 24
    whole = judgments(tmp_path / "whole").filter(pl.col("temperature") > 0)
    adaptive = judgments(tmp_path / "run").filter(pl.col("temperature") > 0)
    modes = {
        key: rows["verdict"].fill_null("none").value_counts(sort=True)
        for key, rows in whole.group_by("item_id", "temperature")
    }
    wrong = 0
    for row in table.iter_rows(named=True):
        key = (row["item_id"], row["temperature"])
        mine = adaptive.filter(item_id=row["item_id"], temperature=row["temperature"])
        assert row["replications"] == mine.height
        assert row["state"] in {"settled", "no_verdict", "unstable"}
        assert (row["state"] == "unstable") <= (row["replications"] == 60)
        if row["state"] == "settled":
            most = modes[key]["verdict"][0]
            wrong += most != row["verdict"]
            assert row["share"] == (mine["verdict"] == row["verdict"]).sum() / mine.height
            assert row["low"] <= row["share"] <= row["high"]
    assert wrong <= 2  # 24 questions at delta .05, and the mode of 60 is itself a guess
    assert table["state"].n_unique() > 1


def test_judges_of_one_engine_each_end_their_rounds_one_after_the_other(tmp_path):
    """Two judges, another protocol: each asked on while its own engine is up."""
    file = write(
        tmp_path,
        "{ adaptive = 0.1, first = 3, max = 20, step = 4 }",
        judges=("one", "two"),
        protocol="correctness",
        temperatures=(1.0,),
        n_items=4,
    )
    assert run(file, tmp_path / "run") == 0
    found = judgments(tmp_path / "run")
    per = found.group_by("judge", "item_id", "responder").len()
    assert per.height == 2 * 4 * 3
    assert set(per["len"]) <= {3, 7, 11, 15, 19, 20}
    assert per["len"].n_unique() > 1
    table = read_settled(RunDirectory.open(str(tmp_path / "run")))
    assert table.height == per.height
    assert table["replications"].sum() == found.height


@ALONE
def test_requests_that_fail_in_a_round_are_left_to_the_next_run(tmp_path, capsys):
    options = "concentration = 2.0, fails_on = [62, 63, 64, 65, 66, 67, 68, 69, 70]"
    file = write(tmp_path, ADAPTIVE, options=options, temperatures=(1.0,))
    text = (tmp_path / "s.toml").read_text() + "[fleet]\nmax_attempts = 1\n"
    (tmp_path / "s.toml").write_text(text)
    assert run(file, tmp_path / "run") == 1
    capsys.readouterr()
    assert main(["status", str(tmp_path / "run"), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["owed"] > 0
    assert status["state"] == "incomplete"
    # As the engine is a new one the same places fail again, but for others: in the end all land.
    for _ in range(6):
        if run(file, tmp_path / "run") == 0:
            break
    whole = tmp_path / "whole"
    assert (
        run(
            write(
                tmp_path,
                ADAPTIVE,
                options="concentration = 2.0",
                temperatures=(1.0,),
                name="w.toml",
            ),
            whole,
        )
        == 0
    )
    columns = ["item_id", "replication", "verdict", "block"]
    assert judgments(tmp_path / "run").select(columns).equals(judgments(whole).select(columns))


def test_an_engine_that_dies_while_it_asks_on_changes_nothing(tmp_path, capsys):
    died = tmp_path / "died"
    options = f'concentration = 2.0, dies_on = 200, dies = "exit", dies_once = "{died}"'
    assert run(write(tmp_path, ADAPTIVE, options=options), tmp_path / "run") == 0
    assert died.exists()
    whole = write(tmp_path, ADAPTIVE, options="concentration = 2.0", name="whole.toml")
    assert run(whole, tmp_path / "whole") == 0
    columns = ["item_id", "temperature", "replication", "verdict", "block"]
    one, other = (judgments(tmp_path / name).select(columns) for name in ("run", "whole"))
    assert one.equals(other)
    capsys.readouterr()
    assert main(["status", str(tmp_path / "run"), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["owed"], status["asked"]) == (0, one.height)
    assert main(["verify", str(tmp_path / "run")]) == 0


@ALONE
def test_what_settled_is_printed_and_on_the_page(tmp_path, capsys):
    assert run(write(tmp_path, ADAPTIVE, temperatures=(1.0,)), tmp_path / "run") == 0
    table = read_settled(RunDirectory.open(str(tmp_path / "run")))
    settled = (table["state"] == "settled").sum()
    capsys.readouterr()
    assert main(["distributions", "--full", str(tmp_path / "run"), "--view", "settled"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "no stable verdict" in text
    assert "Coefficients rest only on the first replications" in text
    assert (
        main(["distributions", str(tmp_path / "run"), "--view", "settled", "--format", "json"]) == 0
    )
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["conditions"], row["settled"]) == (12, settled)
    assert row["replications"] == judgments(tmp_path / "run").height
    assert row["low"] <= row["settled_share"] <= row["high"]
    out = str(tmp_path / "settled.csv")
    assert main(["distributions", str(tmp_path / "run"), "--view", "settled", "--out", out]) == 0
    assert pl.read_csv(out).height == 12
    # Coefficients count the first block alone.
    capsys.readouterr()
    assert main(["reduce", str(tmp_path / "run"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["n_replications"] for row in rows if row["missing"] == "category"} == {5}
    page = str(tmp_path / "page.html")
    assert main(["report", str(tmp_path / "run"), "--out", page]) == 0
    said = " ".join((tmp_path / "page.html").read_text("utf-8").split())
    assert "Stable verdicts" in said
    assert "then on until its verdict is settled (error 0.05" in said


@ALONE
def test_a_run_that_asked_nothing_adaptively_says_so(tmp_path, capsys):
    assert run(write(tmp_path, 2, temperatures=(1.0,), n_items=2), tmp_path / "run") == 0
    capsys.readouterr()
    assert main(["distributions", str(tmp_path / "run"), "--view", "settled"]) == 2
    assert "the run asked nothing adaptively" in capsys.readouterr().err
