"""From a sweep file to coefficients on a local cluster, with judges whose truth is known."""

import json
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.fleet import cluster

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("ray_local")]
ALONE = pytest.mark.usefixtures("without_ray")  # what is asked and lands is the same anywhere

JUDGE = '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "{model}"\ngpus = 0\n{more}\n'
ASK = '[[ask]]\nprotocol = "{protocol}"\nbenchmark = "mine"\npath = "items.jsonl"\n{more}\n'


def judge(name, model="uniform", **keys):
    options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    return JUDGE.format(name=name, model=model, more=f"engine_options = {{ {options} }}")


def ask(more="", protocol="best_of"):
    return ASK.format(protocol=protocol, more=more)


def item(i, *, options="abcde", dialogue=False):
    """An item with one option a letter, one of them right."""
    gold = options[i % len(options)] if options else "right"
    whole = {"item_id": f"q{i}", "question": f"Question {i}?", "gold": gold, "category": "c"}
    if options:
        whole["options"] = [{"option_id": one, "text": f"{one} on {i}"} for one in options]
    if dialogue:
        whole["turns"] = [f"Question {i}?", f"And then {i}?"]
    return json.dumps(whole)


def write(folder, *parts, items, name="s.toml"):
    """A sweep file with its items beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "items.jsonl").write_text("\n".join(items))
    file = folder / name
    file.write_text('name = "s"\n' + "".join(parts))
    return str(file)


def run(file, out):
    return main(["run", file, "--out", str(out)])


def judgments(out):
    from judgerel_ray.store import RunDirectory, scan_judgments

    return scan_judgments(RunDirectory.open(str(out))).collect()


def status(out, capsys):
    capsys.readouterr()
    assert main(["status", str(out), "--json"]) == 0
    printed = capsys.readouterr().out
    # A run in a thread of this process may say its last line at any moment.
    return json.JSONDecoder().raw_decode(printed[printed.index("{") :])[0]


# ---- one sweep, looked at from all sides --------------------------------------------------------

PEOPLE = [judge("noise"), judge("known", "dirichlet", concentration=1.0, seed=3)]
GRID = ask("temperatures = [1.0, 0.0]\nreplications = 40\nmax_tokens = 12\n")
N_ITEMS = 60


@pytest.fixture(scope="module")
def landed(tmp_path_factory, ray_local):
    """A run of two judges that has landed whole."""
    assert ray_local.is_initialized()
    folder = tmp_path_factory.mktemp("landed")
    file = write(folder, *PEOPLE, GRID, items=[item(i) for i in range(N_ITEMS)])
    assert run(file, folder / "run") == 0
    return SimpleNamespace(folder=folder, file=file, out=str(folder / "run"))


def test_every_request_landed_once_with_a_verdict_on_the_menu(landed):
    rows = judgments(landed.out)
    assert rows.height == rows["key"].n_unique() == 2 * N_ITEMS * 41
    cells = rows.group_by("judge", "item_id", "temperature").agg(
        pl.len(), pl.col("replication").n_unique().alias("n"), pl.col("option_order").n_unique()
    )
    assert set(cells["option_order"]) == {1}
    for temperature, n in ((1.0, 40), (0.0, 1)):
        mine = cells.filter(pl.col("temperature") == temperature)
        assert (mine.height, set(mine["len"]), set(mine["n"])) == (2 * N_ITEMS, {n}, {n})
    assert set(rows["outcome"]) == {"scored"}
    assert set(rows["verdict"]) == set("abcde")
    assert rows.filter(pl.col("temperature") == 0)["seed"].null_count() == 2 * N_ITEMS


def test_the_run_says_how_it_stands(landed, capsys):
    found = status(landed.out, capsys)
    total = 2 * N_ITEMS * 41
    facts = {key: found[key] for key in ("sweep", "state", "live", "asked", "landed", "owed")}
    assert facts == {
        "sweep": "s",
        "state": "done",
        "live": None,
        "asked": total,
        "landed": total,
        "owed": 0,
    }
    assert (found["failed"], found["outcomes"], found["broken_commits"]) == (
        0,
        {"scored": total},
        [],
    )
    tokens = found["tokens"]
    assert tokens["prompt"] == tokens["cached"] + tokens["computed"] > 0
    assert tokens["generated"] > 0
    assert [one["judge"] for one in found["judges"]] == ["noise", "known"]
    assert {one["state"] for one in found["judges"]} == {"done"}
    assert main(["status", landed.out]) == 0
    assert capsys.readouterr().out.startswith(f"s: done, landed {total:,} of {total:,} (session")


def test_a_second_run_asks_nothing_whatever_the_order_of_its_judges(landed, capsys, outside):
    before = judgments(landed.out)
    outside(make_actor=lambda *_, **__: pytest.fail("an engine"))
    turned = write(
        landed.folder, *PEOPLE[::-1], GRID, items=[item(i) for i in range(N_ITEMS)][::-1]
    )
    for file in (landed.file, turned):
        assert run(file, landed.out) == 0
        assert "(0 in this session, 0 pending)" in capsys.readouterr().out
    assert judgments(landed.out).sort("key").equals(before.sort("key"))


@pytest.mark.parametrize(
    ("people", "grid", "keys"),
    [
        (PEOPLE, GRID.replace("= 40", "= 41"), ["ask[0].replications: expected 40, got 41"]),
        (
            [judge("noise"), judge("known", "dirichlet", concentration=2.0, seed=3)],
            GRID.replace("max_tokens = 12", "max_tokens = 13"),
            ["judge.known.engine_options.concentration", "ask[0].max_tokens: expected 12, got 13"],
        ),
        (PEOPLE[:1], GRID, ["judge.known.engine", "ask[0].judges"]),
    ],
)
def test_another_sweep_is_refused_and_the_keys_that_differ_are_named(
    landed, capsys, people, grid, keys
):
    items = [item(i) for i in range(N_ITEMS)]
    other = write(landed.folder, *people, grid, items=items, name="other.toml")
    capsys.readouterr()
    assert run(other, landed.out) == 2
    err = capsys.readouterr().err
    assert err.startswith("judgerel: the run directory is of another sweep: ")
    assert err.count("\n") == 1
    assert [key for key in keys if key not in err] == []


def test_reliability_is_what_it_is_known_to_be(landed):
    """Verdicts from Dirichlet(s pi) have alpha 1 / (1 + s); those of a coin have none."""
    found = judgerel_ray.reduce(Path(landed.out)).filter(
        (pl.col("coefficient") == "krippendorff_alpha") & (pl.col("temperature") == 1.0)
    )
    rows = {row["judge"]: row for row in found.iter_rows(named=True)}
    known, noise = rows["known"], rows["noise"]
    assert known["value"] == pytest.approx(0.5, abs=0.12)
    assert known["low"] < 0.5 < known["high"]
    assert known["noise"] is False
    assert noise["value"] == pytest.approx(0.0, abs=0.02)
    assert noise["noise"] is True
    assert (known["n_items"], known["n_replications"]) == (N_ITEMS, 40)


def test_coefficients_know_the_options_that_were_declared(landed, capsys):
    flags = ["--coefficient", "brennan_prediger", "--by", "judge,temperature", "--format", "json"]
    capsys.readouterr()
    assert main(["reduce", landed.out, *flags]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["n_categories"] for row in rows} == {5}
    greedy = [row for row in rows if row["temperature"] == 0.0]
    assert {row["undefined"] for row in greedy} == {"single_replication"}
    assert {row["value"] for row in greedy} == {None}


def test_accuracy_of_a_run_is_of_its_items_gold(landed, capsys):
    names = ["accuracy", "majority_accuracy", "agreement_right", "agreement_wrong"]
    flags = ["--coefficient", ",".join(["percent_agreement", *names]), "--format", "json"]
    capsys.readouterr()
    assert main(["reduce", landed.out, *flags]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {(row["judge"], row["temperature"], row["coefficient"]): row for row in rows}
    assert len(found) == 2 * 2 * 5
    gold = {f"q{i}": "abcde"[i % 5] for i in range(N_ITEMS)}
    right = judgments(landed.out).with_columns(
        right=pl.col("verdict") == pl.col("item_id").replace_strict(gold)
    )
    for (judge_, temperature), mine in right.group_by("judge", "temperature"):
        row = found[judge_, temperature, "accuracy"]
        assert row["value"] == pytest.approx(mine["right"].mean(), abs=1e-12)
        assert row["low"] < row["value"] < row["high"]
    coin = {name: found["noise", 1.0, name]["value"] for name in ["percent_agreement", *names]}
    assert coin["accuracy"] == pytest.approx(0.2, abs=0.03)
    both = coin["agreement_right"] + coin["agreement_wrong"]
    assert both == pytest.approx(coin["percent_agreement"], abs=1e-12)
    assert found["noise", 0.0, "majority_accuracy"]["n_replications"] == 1


def test_every_question_of_a_run_has_its_accuracy(landed, capsys):
    capsys.readouterr()
    assert main(["questions", landed.out, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 2 * 2 * N_ITEMS
    warm = [row for row in rows if row["temperature"] == 1.0]
    assert {row["n_judgments"] for row in warm} == {40}
    assert {row["undefined"] for row in warm} == {None}
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in rows)
    assert {row["undefined"] for row in rows if row["temperature"] == 0} == {"single_replication"}
    assert main(["questions", "--full", landed.out]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * 2 * N_ITEMS + 2  # what agreement is of
    assert "same prompt (repeatability)" in lines[-2]


def test_tolerances_of_the_sweep_are_judged(landed, tmp_path, capsys):
    """Set after the run: nothing is asked again; accuracy is computed because it has one."""
    out = tmp_path / "run"
    shutil.copytree(landed.out, out)
    wanted = "[tolerance]\nkrippendorff_alpha = 0.2\naccuracy = 0.9\nflip_rate = 0.9\n"
    file = write(tmp_path, *PEOPLE, GRID, wanted, items=[item(i) for i in range(N_ITEMS)])
    assert run(file, out) == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out
    assert main(["reduce", str(out), "--format", "json"]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if row["temperature"] == 1.0]
    found = {(row["judge"], row["coefficient"]): row["standing"] for row in rows}
    assert found["known", "krippendorff_alpha"] == "meets"
    assert found["noise", "krippendorff_alpha"] == "fails"
    assert found["noise", "accuracy"] == "fails"
    assert found["noise", "flip_rate"] == "meets"
    assert found["noise", "gwet_ac1"] is None
    assert main(["reduce", str(out)]) == 0
    text = capsys.readouterr().out
    assert "Tolerances of the run's sweep.toml. The whole confidence interval decides" in text
    assert main(["reduce", str(out), "--coefficient", "gwet_ac1"]) == 0
    assert "Tolerances" not in capsys.readouterr().out
    assert main(["reduce", str(out), "--tolerance", "gwet_ac1=0.9"]) == 0
    text = capsys.readouterr().out
    assert "Tolerances of --tolerance. The whole confidence interval decides" in text
    assert "0.2  " not in text[text.index("Tolerances") :]
    assert main(["report", str(out), "--out", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert "alpha at least 0.2, as sweep.toml asks, by the whole confidence interval. " in page
    assert "known, temperature 1: meets" in page
    assert "flip rate at most 0.9, as sweep.toml asks" in page


@ALONE
def test_protocols_of_one_benchmark_keep_menus_of_their_own(tmp_path, capsys):
    items = tmp_path / "items.jsonl"
    options = [{"option_id": f"m{i}", "text": f"answer {i}"} for i in range(5)]
    lines = [
        {"item_id": f"q{i}", "question": "?", "options": options, "gold": "answer 1"}
        for i in range(4)
    ]
    items.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ask = '[[ask]]\nprotocol = "{0}"\nbenchmark = "b"\npath = "items.jsonl"\nreplications = 4\n'
    sweep = tmp_path / "two.toml"
    sweep.write_text(
        'name = "two"\n[[judge]]\nname = "coin"\nengine = "simulated"\nmodel = "uniform"\n'
        + ask.format("best_of")
        + ask.format("correctness")
    )
    assert main(["run", str(sweep), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    flags = ["--coefficient", "brennan_prediger", "--format", "json"]
    assert main(["reduce", str(tmp_path / "run"), *flags]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["protocol"]: row["n_categories"] for row in rows} == {
        "best_of": 5,
        "correctness": 2,
    }


def test_the_report_and_the_check_pass(landed, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", landed.out, "--out", str(page)]) == 0
    text = page.read_text()
    assert "<html" in text
    assert "not a judge" in text  # a simulated one is never passed off as one
    assert main(["verify", landed.out]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 errors"


def test_by_may_be_one_column(landed):
    one = judgerel_ray.reduce(landed.out, by="judge")
    assert one.equals(judgerel_ray.reduce(landed.out, by=["judge"]))
    assert set(one["judge"]) == {"noise", "known"}


def test_the_run_keeps_its_sweep_its_items_and_its_plan(landed):
    out = Path(landed.out)
    assert (out / "sweep.toml").read_text().startswith('name = "s"\n')
    assert pl.read_parquet(out / "items.parquet").height == N_ITEMS
    assert json.loads((out / "plan.json").read_text())["requests"] == 2 * N_ITEMS * 41
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["fingerprints"].keys() == {"noise", "known"}
    assert manifest["packages"].keys() >= {"ray", "polars"}


# ---- answers first ------------------------------------------------------------------------------


@ALONE
def test_answers_are_written_once_and_judged_by_two_asks(tmp_path, capsys):
    who = 'responders = ["x", "y"]\nrespond = { max_tokens = 20 }\nreplications = 3\n'
    file = write(
        tmp_path,
        judge("x", seed=1),
        judge("y", seed=2),
        judge("j"),
        ask(who + 'option_orders = 2\ntemplates = ["default", "paraphrase"]\n'),
        ask(who, protocol="correctness"),
        items=[item(0, options=""), item(1, options="", dialogue=True)],
    )
    frame = judgerel_ray.run(file, out=tmp_path / "run")
    stages = dict(frame.group_by("stage").len().iter_rows())
    assert stages == {"answer": 2, "turn1": 2, "turn2": 2, "judge": 2 * 2 * 2 * 3 + 2 * 2 * 3}
    answers = frame.filter(pl.col("role") == "responder")
    assert answers["verdict"].null_count() == answers["outcome"].null_count() == 6
    best = frame.filter(pl.col("protocol") == "best_of")
    assert set(best["verdict"]) == {"x", "y"}
    held = best.group_by("item_id", "option_order", "label").agg(pl.col("verdict").n_unique())
    assert set(held["verdict"]) == {1}
    right = frame.filter(pl.col("protocol") == "correctness")
    assert set(right["verdict"]) == {"correct", "incorrect"}
    assert set(right["responder"]) == {"x", "y"}
    assert status(tmp_path / "run", capsys)["state"] == "done"
    assert main(["verify", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert run(file, tmp_path / "run") == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out


@ALONE
def test_an_answer_that_can_never_be_had_lands_as_failed_down_the_line(tmp_path, capsys):
    """Responder y has no room for any prompt; of the judge's own prompts one is too long."""
    short = judge("y").replace("gpus = 0", "gpus = 0\nmax_model_len = 16")
    judging = judge("j").replace("gpus = 0", "gpus = 0\nmax_model_len = 700")
    long = json.loads(item(9, options="abc")) | {"question": "long " * 900}
    own = 'templates = ["default", "paraphrase"]\nreplications = 3\nmax_tokens = 12\n'
    file = write(
        tmp_path,
        judge("x"),
        short,
        judging,
        ask('responders = ["x", "y"]\n' + own),
        ask(own.replace("= 3", "= 4") + "temperatures = [0.5]\n"),
        items=[item(0, dialogue=True), item(1), json.dumps(long)],
    )
    assert run(file, tmp_path / "run") == 1
    told = "30 of 50 requests failed and never can succeed: never sent, an earlier stage has no "
    assert f"{told}text for them (19), prompt_too_long (11)\n" in capsys.readouterr().err
    rows = judgments(tmp_path / "run")
    lost = rows.filter(pl.col("judge") == "y")
    assert dict(lost.group_by("stage").len().iter_rows()) == {"answer": 2, "turn1": 1, "turn2": 1}
    assert set(lost["outcome"]) == {"failed"}
    reasons = dict(lost.select("stage", "finish_reason").iter_rows())
    assert reasons["answer"].startswith("refused: prompt_too_long: ")
    assert reasons["turn2"] == "refused: its first turn failed"
    judged = rows.filter(pl.col("role") == "judge")
    assert judged.height == 3 * 2 * 3 + 3 * 2 * 4
    # What stands on answers that can never be had stands on what landed: nothing is asked again.
    assert run(file, tmp_path / "run") == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out
    dead = judged.filter(pl.col("outcome") == "failed")
    assert dead.filter(pl.col("finish_reason") == "refused: no answer of y").height == 3 * 2 * 3
    too_long = dead.filter(pl.col("finish_reason").str.contains("prompt_too_long"))
    assert (too_long.height, set(too_long["item_id"])) == (8, {"q9"})
    assert dead.height == 18 + 8
    assert dead["verdict"].null_count() == dead["label"].null_count() == dead.height
    found = status(tmp_path / "run", capsys)
    assert (found["state"], found["owed"], found["failed"]) == ("done", 0, 0)
    # scored: 2 items x 2 templates x 4; failed: 26 judgments and 4 answers of y
    assert found["outcomes"] == {"failed": 26 + 4, "scored": 16}
    assert main(["verify", str(tmp_path / "run")]) == 0
    assert main(["reduce", str(tmp_path / "run")]) == 0


def test_what_failed_on_the_way_is_recorded_pending_and_asked_by_the_next_run(tmp_path, capsys):
    """Every request of responder y fails in transport: it stays pending, and what hangs on it."""
    items = [item(i, options="") for i in range(2)]
    asked = ask('responders = ["x", "y"]\nreplications = 3\n')
    limits = "[fleet]\nmax_attempts = 2\n"
    broken = judge("y", fails_on=list(range(1, 200)))
    file = write(tmp_path, judge("x"), broken, judge("j"), asked, limits, items=items)
    assert run(file, tmp_path / "run") == 1
    out, err = capsys.readouterr()
    assert "2 of 10 requests landed" in out
    assert "2 requests failed and are recorded in errors/, 8 are pending. Try: run again" in err
    found = status(tmp_path / "run", capsys)
    assert (found["state"], found["landed"], found["owed"]) == ("incomplete", 2, 8)
    assert {one["judge"]: one["failed"] for one in found["judges"]} == {"x": 0, "y": 2, "j": 0}
    # How a simulated engine fails is no part of who it is.
    write(tmp_path, judge("x"), judge("y"), judge("j"), asked, limits, items=items)
    assert run(file, tmp_path / "run") == 0
    assert "10 of 10 requests landed" in capsys.readouterr().out
    assert judgments(tmp_path / "run").filter(pl.col("outcome") == "failed").height == 0
    found = status(tmp_path / "run", capsys)
    assert (found["state"], found["failed"], found["session"]) == ("done", 0, 2)


# ---- mistakes and ends --------------------------------------------------------------------------


def test_an_engine_that_never_comes_up_is_exit_3_or_leaves_the_others(tmp_path, capsys):
    items = [item(i) for i in range(2)]
    dead = judge("dead", fails_start=True)
    file = write(tmp_path / "all", dead, ask(), items=items)
    assert run(file, tmp_path / "all" / "run") == 3
    err = capsys.readouterr().err
    assert "judgerel: engine did not start" in err
    assert "Traceback" not in err
    file = write(tmp_path / "one", dead, judge("alive"), ask(), items=items)
    assert run(file, tmp_path / "one" / "run") == 1
    out, err = capsys.readouterr()
    assert "10 of 20 requests landed" in out
    assert "judgerel: judge dead was given up: engine did not start" in err
    found = status(tmp_path / "one" / "run", capsys)
    states = {one["judge"]: (one["state"], one["owed"]) for one in found["judges"]}
    assert states == {"dead": ("failed", 10), "alive": ("done", 0)}


def test_a_judge_that_needs_a_gpu_where_there_is_none_is_exit_2_and_no_directory(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(cluster, "is_connected", lambda: False)
    file = write(tmp_path, judge("j").replace("gpus = 0", "gpus = 1"), ask(), items=[item(0)])
    assert run(file, tmp_path / "run") == 2
    out, err = capsys.readouterr()
    assert "judge needs 1 GPU, this machine has 0" in err
    assert (out, err.count("\n")) == ("", 1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_place_that_is_something_else_is_exit_2(tmp_path, capsys, kind):
    file = write(tmp_path, judge("j"), ask(), items=[item(0)])
    other = tmp_path / "other"
    if kind == "file":
        other.write_text("mine")
    else:
        other.mkdir()
        (other / "thesis.tex").write_text("mine")
    assert run(file, other) == 2
    err = capsys.readouterr().err
    assert err.startswith("judgerel: ")
    assert err.count("\n") == 1


def test_a_run_says_how_it_stands_while_it_goes_on(command, tmp_path, capsys, hold_leases):
    looked = threading.Event()  # half-way the run waits until it has been looked at
    hold_leases(lambda _, board: board.judges["slow"].landed > 0 and not looked.is_set())
    file = write(
        tmp_path,
        judge("slow", latency_ms=150),
        ask("replications = 80\n"),
        "[fleet]\nreplications_per_request = 1\nlease_seconds = 0.5\n",
        items=[item(i) for i in range(30)],
    )
    ended = []
    driver = threading.Thread(target=lambda: ended.append(run(file, tmp_path / "run")))
    driver.start()
    seen, second = [], None
    while driver.is_alive():
        if (tmp_path / "run" / "progress.json").exists():
            seen.append(status(tmp_path / "run", capsys))
            second = second or command("run", file, "--out", str(tmp_path / "run"))
        if seen and seen[-1]["landed"] > 0:
            looked.set()
        time.sleep(0.2)
    driver.join()
    assert ended == [0]
    assert second.returncode == 2
    assert second.stderr.startswith("judgerel: a run is writing here: session 1, process ")
    assert second.stderr.count("\n") == 1
    running = [one for one in seen if one["state"] == "running"]
    assert running
    assert all(one["landed"] + one["owed"] == one["asked"] == 2400 for one in seen)
    assert [one["landed"] for one in seen] == sorted(one["landed"] for one in seen)
    assert status(tmp_path / "run", capsys)["state"] == "done"
