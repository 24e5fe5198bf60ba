"""Thinking twice end to end, with models whose truth is known: what is asked, lost and resumed."""

import json

import polars as pl
import pytest

from judgerel_ray.asking.run import running
from judgerel_ray.cli import main
from judgerel_ray.counting.groups.grouping import count_judgments
from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("ray_local")]
ALONE = pytest.mark.usefixtures("without_ray")  # what stages ask is the same anywhere

N_ITEMS, NAMES = 6, ("ant", "bee", "cat")
MODEL = (
    '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "dirichlet"\n'
    "engine_options = {{ {options} }}\n"
)
ASK = (
    '[[ask]]\nprotocol = "think_twice"\nbenchmark = "mine"\npath = "items.jsonl"\n'
    "temperatures = [1.0, 0.0]\nreplications = 3\n{more}\n"
)


def sweep(folder, *, more="", options=None, n_options=5):
    """A sweep file of three models with its items beside it."""
    told = options or {}
    folder.mkdir(exist_ok=True)
    made = [
        {
            "item_id": f"q{i}", "question": f"Question {i}?", "category": "c",
            "options": [{"option_id": f"o{k}", "text": f"{k} on {i}"} for k in range(n_options)],
            "gold": f"o{i % n_options}" if n_options else None,
        }
        for i in range(N_ITEMS)
    ]  # fmt: skip
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, made)))
    models = [
        MODEL.format(name=name, options=f"seed = {place}, {told.get(name, '')}".rstrip(", "))
        for place, name in enumerate(NAMES)
    ]
    file = folder / "s.toml"
    file.write_text('name = "s"\n' + "".join(models) + ASK.format(more=more))
    return str(file)


def rows_of(out):
    return scan_judgments(RunDirectory.open(str(out))).collect()


def test_every_stage_lands_once_and_a_second_run_asks_nothing(tmp_path, capsys):
    file, out = sweep(tmp_path / "s", more="option_orders = 2"), tmp_path / "run"
    assert main(["run", file, "--out", str(out)]) == 0
    rows = rows_of(out)
    planned = json.loads((out / "plan.json").read_text())["requests"]
    # 3 models x 6 items x (3 + 1) replications; judges in two roles and two orders.
    assert planned == 3 * N_ITEMS * 4 * (1 + 1 + 2 * 2)
    assert rows.height == rows["key"].n_unique() == planned
    stages = dict(rows.group_by("stage").len().iter_rows())
    assert stages == {"select": 72, "choose": 72, "judge": 288}
    judged = rows.filter(stage="judge")
    assert set(judged["role"]) == {"participant", "evaluator_only"}
    assert set(judged["option_order"]) == {0, 1}
    assert judged["confidence"].is_between(0, 1).all()
    assert rows.filter(stage="choose")["verdict"].null_count() == 0
    assert rows.filter(stage="select")["label"].str.count_matches(",").unique().to_list() == [1]
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    assert main(["run", file, "--out", str(out)]) == 0
    assert "0 in this session" in capsys.readouterr().out


@pytest.fixture(scope="module")
def thought(tmp_path_factory):
    """A run finished in this process."""
    folder = tmp_path_factory.mktemp("thought")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "is_connected", lambda: False)
        assert main(["run", sweep(folder / "s"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_judges_were_shown_what_the_models_wrote(thought):
    texts = scan_completions(RunDirectory.open(str(thought))).collect()
    by_key = dict(zip(texts["key"], texts["text"], strict=True))
    rows = rows_of(thought)
    selected = rows.filter(stage="select", replication=0, temperature=1.0)
    key = rows.filter(role="participant")["key"][0]
    item = rows.filter(key=key)["item_id"][0]
    shown = {by_key[one] for one in selected.filter(item_id=item)["key"]}
    assert len(shown) > 1
    # What a model chose is among what it had selected.
    chosen = rows.filter(stage="choose").join(
        rows.filter(stage="select"), on=["judge", "item_id", "temperature", "replication"]
    )
    assert chosen.height == 72
    assert all(
        mine in theirs.split(",")
        for mine, theirs in chosen.select("label", "label_right").iter_rows()
    )


def test_roles_are_groups_of_their_own(thought, capsys):
    counted = count_judgments(scan_judgments(RunDirectory.open(str(thought))))
    assert counted.groups == ("judge", "benchmark", "protocol", "role", "temperature")
    capsys.readouterr()
    wanted = ["--coefficient", "krippendorff_alpha", "--format", "json"]
    assert main(["reduce", str(thought), *wanted]) == 0
    printed = pl.DataFrame(json.loads(capsys.readouterr().out), infer_schema_length=None)
    assert set(printed["role"]) == {"responder", "participant", "evaluator_only"}
    warm = printed.filter(pl.col("temperature") == 1.0)
    assert warm.height == 9
    assert warm["unit"].unique().to_list() == ["item_id"]


@ALONE
def test_a_model_that_cannot_be_read_costs_its_rows_and_nothing_else(tmp_path, capsys):
    file = sweep(tmp_path / "s", options={"bee": "unparsed = 1.0"})
    assert main(["run", file, "--out", str(tmp_path / "run")]) == 0
    assert "0 pending" in capsys.readouterr().out
    rows = rows_of(tmp_path / "run")
    assert rows.height == 3 * N_ITEMS * 4 * 4
    bad = rows.filter(pl.col("outcome").is_not_null() & (pl.col("outcome") != "scored"))
    assert set(bad["judge"]) == {"bee"}
    assert set(bad["outcome"]) == {"unparsed"}
    assert bad.height == rows.filter(judge="bee").height
    others = rows.filter((pl.col("judge") != "bee") & (pl.col("stage") != "select"))
    assert set(others["outcome"]) == {"scored"}


@ALONE
def test_a_model_whose_prompts_can_never_be_sent_is_left_out_of_what_is_compared(tmp_path):
    file = sweep(tmp_path / "s")
    text = (tmp_path / "s" / "s.toml").read_text()
    short = text.replace('name = "bee"\n', 'name = "bee"\nmax_model_len = 520\n', 1)
    (tmp_path / "s" / "s.toml").write_text(short)
    assert main(["run", file, "--out", str(tmp_path / "run")]) == 1
    rows = rows_of(tmp_path / "run")
    assert rows.height == 3 * N_ITEMS * 4 * 4
    lost = rows.filter(outcome="failed")
    assert set(lost["judge"]) == {"bee"}
    reasons = set(rows.filter(judge="bee", role="participant")["finish_reason"])
    assert reasons == {"refused: no answer of its own"}
    others = rows.filter(pl.col("judge") != "bee")
    assert set(others.filter(stage="judge")["outcome"]) == {"scored"}


@ALONE
def test_open_questions_are_judged_by_model(tmp_path):
    file, out = sweep(tmp_path / "s", n_options=0), tmp_path / "run"
    assert main(["run", file, "--out", str(out)]) == 0
    judged = rows_of(out).filter(stage="judge")
    assert set(judged["verdict"]) == set(NAMES)
    own = judged.filter(pl.col("role") == "evaluator_only")
    assert not (own["verdict"] == own["judge"]).any()


def cascade(folder, *, threshold=0.6, **keys):
    """As :func:`sweep`, each model asked only where those before it were not sure."""
    more = f'responders = ["cat", "ant", "bee"]\ncascade = {threshold}'
    return sweep(folder, more=more, **keys)


def fell_short(rows, judge, threshold=0.6):
    """Where a model's verdict is not there, or not sure enough, by item and replication."""
    mine = rows.filter(judge=judge, stage="choose")
    sure = pl.col("confidence").fill_null(-1) >= threshold
    short = mine.filter(~sure | pl.col("verdict").is_null())
    return set(short.select("item_id", "temperature", "replication").iter_rows())


def asked_of(rows, judge):
    mine = rows.filter(judge=judge, stage="choose")
    return set(mine.select("item_id", "temperature", "replication").iter_rows())


@ALONE
def test_a_cascade_asks_the_next_model_only_where_the_one_before_was_not_sure(tmp_path, capsys):
    file, out = cascade(tmp_path / "s", options={"ant": "unparsed = 0.5"}), tmp_path / "run"
    assert main(["plan", file, "--full"]) == 0
    assert "a cascade, so counts are of cat" in capsys.readouterr().out
    assert main(["run", file, "--out", str(out)]) == 0
    assert "0 pending" in capsys.readouterr().out
    rows = rows_of(out)
    assert asked_of(rows, "cat") == {
        (f"q{i}", t, r) for i in range(N_ITEMS) for t, n in ((1.0, 3), (0.0, 1)) for r in range(n)
    }
    assert asked_of(rows, "ant") == fell_short(rows, "cat")
    assert asked_of(rows, "bee") == fell_short(rows, "cat") & fell_short(rows, "ant")
    assert 0 < len(asked_of(rows, "bee")) < len(asked_of(rows, "ant")) < len(asked_of(rows, "cat"))
    blocks = dict(rows.group_by("judge").agg(pl.col("block").unique()).iter_rows())
    assert blocks == {"cat": [0], "ant": [1], "bee": [1]}
    assert rows["key"].n_unique() == rows.height
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    assert main(["status", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["asked"] == told["landed"] == rows.height
    assert main(["run", file, "--out", str(out)]) == 0
    assert "0 in this session" in capsys.readouterr().out
    assert main(["report", str(out), "--out", str(tmp_path / "r.html")]) == 0
    assert "What the cascade did" in (tmp_path / "r.html").read_text()
    capsys.readouterr()
    assert main(["cascade", str(out), "--format", "json"]) == 0
    did = {
        (row["asked"], row["temperature"]): row
        for row in json.loads(capsys.readouterr().out)["cascaded"]
    }
    sure = rows.filter(pl.col("stage") == "choose", pl.col("confidence") >= 0.6)
    for name in ("cat", "ant", "bee"):
        mine = sure.filter(judge=name, temperature=1.0)
        assert did[name, 1.0]["n_answered"] == mine.height
    assert did["all of it", 1.0]["n_asked"] == 3 * N_ITEMS
    left = did["a person", 1.0]["n_asked"]
    assert did["all of it", 1.0]["n_answered"] == 3 * N_ITEMS - left


def test_a_cascade_that_was_cut_off_ends_as_one_that_was_not(tmp_path, capsys):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    file = cascade(tmp_path / "s")
    with pytest.MonkeyPatch.context() as patch:  # asks the same in this process
        patch.setattr(running, "is_connected", lambda: False)
        assert main(["run", file, "--out", str(whole)]) == 0
    died = {"ant": f'dies_on = 3, dies = "raise", dies_once = "{tmp_path}/died"'}
    file = cascade(tmp_path / "s2", options=died)
    text = (tmp_path / "s2" / "s.toml").read_text()
    (tmp_path / "s2" / "s.toml").write_text(text)
    assert main(["run", file, "--out", str(cut)]) in (0, 1, 3)
    capsys.readouterr()
    assert main(["run", file, "--out", str(cut)]) == 0
    columns = ["judge", "item_id", "stage", "temperature", "replication"]
    assert rows_of(cut).select(columns).sort(columns).equals(
        rows_of(whole).select(columns).sort(columns)
    )  # fmt: skip


@pytest.mark.parametrize("more", ['roles = ["participant"]', 'judges = ["ant"]'])
def test_a_cascade_has_no_judges(tmp_path, capsys, more):
    file = sweep(tmp_path / "s", more=f'responders = ["ant", "bee"]\ncascade = 0.5\n{more}')
    assert main(["plan", file]) == 2
    assert "cascade has no judges" in capsys.readouterr().err
