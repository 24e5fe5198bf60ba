"""Serving noise of run directories: texts read by key, and what tells two runs' engines apart."""

import json
import re
import shutil
from dataclasses import replace
from functools import partial

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, StoreError, SweepError
from judgerel_ray.measuring.reliability import ReduceOptions
from judgerel_ray.measuring.serving import SERVING, serving_between
from judgerel_ray.reporting.standing import plan_text
from tests.opening import reduction, snapshot

ASK = "temperatures = [1.0, 0.0]\nreplications = 2\nrepeat_greedy = 3\n"
ONE_TURN = [f'{{"item_id": "q{i}", "question": "{i}?", "options": ["a", "b"]}}' for i in range(3)]


@pytest.fixture
def run_of(sweep, driver_of, tmp_path, monkeypatch):
    """Land a sweep in a directory of its own; `replies` says what differs from an answer A."""

    def run(name, replies=None, *, engine=None, judges=(("j", ""),), asks=(ASK,), **more):
        resolved = sweep(judges=judges, asks=asks, items=ONE_TURN, **more)
        driver = driver_of(resolved)
        driver.out = str(tmp_path / "runs" / name)
        words = type(driver).go.__globals__
        plain, land = words["completion"], words["land"]

        def completion(ask, replication, said):
            one = ask.condition
            text = (replies or {}).get(
                (one.item_id, one.temperature, replication), "Best Response: [[A]]"
            )
            seed = None if one.temperature == 0 else one.seed_base + replication
            return replace(plain(ask, replication, said), text=text, seed=seed)

        with monkeypatch.context() as patch:
            patch.setitem(words, "completion", completion)
            patch.setitem(words, "land", partial(land, engine=engine or {}))
            driver.go("")
        return driver.out

    return run


def between(a, b):
    return serving_between(snapshot(a), snapshot(b))


def told(shared):
    return {
        (row["temperature"], row["matched"], row["what"]): (row["n_differing"], row["n_requests"])
        for row in shared.rows.to_dicts()
    }


SAME_VERDICT = {("q0", 0.0, 1): "Best Response: [[A]] indeed"}
OTHER_VERDICT = {("q1", 0.0, 2): "Best Response: [[B]]", ("q1", 1.0, 0): "Best Response: [[B]]"}


def test_verdicts_and_texts_of_a_run_are_told_apart_from_its_sampling(run_of):
    rows = judgerel_ray.reduce(run_of("one", SAME_VERDICT | OTHER_VERDICT))
    noise = rows.filter(pl.col("coefficient").is_in(SERVING))
    assert set(noise["temperature"]) == {0.0}
    # Of three pairs two differ: in one question of three in verdict, in two of three in text.
    value = dict(noise.select("coefficient", "value").iter_rows())
    assert [value[name] for name in SERVING] == [
        pytest.approx(x) for x in (2 / 9, 1 / 3, 4 / 9, 2 / 3)
    ]
    assert noise["low"].null_count() == 0
    warm = rows.filter((pl.col("temperature") == 1) & (pl.col("coefficient") == "flip_rate"))
    assert warm["value"].to_list() == [pytest.approx(1 / 3)]


@pytest.mark.slow
def test_serving_noise_has_its_names(run_of):
    run = run_of("one", SAME_VERDICT)
    named = judgerel_ray.reduce(run, coefficients=["serving_noise_texts"])
    assert named.select("coefficient", "value").rows() == [
        ("serving_noise_texts", pytest.approx(2 / 9))
    ]
    both = judgerel_ray.reduce(run, coefficients=["flip_rate", "serving_noise"])
    assert both.select("coefficient", "temperature").rows() == [
        ("flip_rate", 0.0), ("flip_rate", 1.0), ("serving_noise", 0.0),
    ]  # fmt: skip
    assert set(judgerel_ray.reduce(run, coefficients="flip_rate")["coefficient"]) == {"flip_rate"}
    once = run_of("once", asks=("temperatures = [1.0, 0.0]\n",), folder="once")
    with pytest.raises(SweepError, match="asked more than once, which these judgments do not hold"):
        judgerel_ray.reduce(once, coefficients="serving_noise")


@pytest.mark.slow
def test_lost_texts_leave_the_verdicts(run_of, tmp_path):
    run, other = run_of("one", OTHER_VERDICT), run_of("two")
    shutil.rmtree(tmp_path / "runs" / "one" / "texts")
    with pytest.warns(ReadingWarning) as told:
        found = judgerel_ray.reduce(run).filter(pl.col("coefficient").is_in(SERVING))
    # What the terminal says before the numbers, a program is told, too.
    lost, damaged = sorted((str(one.message) for one in told), reverse=True)
    assert lost.startswith("texts of the run are gone: repeats at temperature 0")
    assert re.search(r"^damaged: .* is gone .* do not use them", damaged)
    assert found["coefficient"].to_list() == list(SERVING[:2])
    caution = reduction(run, ReduceOptions()).caution
    assert str(caution).startswith("texts of the run are gone: repeats at temperature 0")
    assert reduction(other, ReduceOptions()).caution is None
    assert {row["what"] for row in between(run, other).rows.to_dicts()} == {"verdicts"}


def test_damaged_texts_are_no_reason_to_leave_them_out(run_of, tmp_path):
    """Until they were checked, rows of serving noise were left out without a word."""
    run = run_of("one", OTHER_VERDICT)
    for file in (tmp_path / "runs" / "one" / "texts").glob("*/*.parquet"):
        data = file.read_bytes()
        file.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    with pytest.raises(StoreError, match="a file that landed is altered"):
        judgerel_ray.reduce(run)
    assert not judgerel_ray.reduce(run, coefficients="percent_agreement").is_empty()


@pytest.mark.slow
def test_the_same_sweep_twice_shares_every_request(run_of):
    one = run_of("one", engine={"max_num_seqs": 1, "kv_tokens": 7})
    two = run_of("two", SAME_VERDICT | OTHER_VERDICT, engine={"max_num_seqs": 64, "kv_tokens": 8})
    shared = between(one, two)
    assert told(shared) == {
        (0.0, "key", "verdicts"): (1, 9), (0.0, "key", "texts"): (2, 9),
        (1.0, "key", "verdicts"): (1, 6), (1.0, "key", "texts"): (1, 6),
    }  # fmt: skip
    assert shared.settings == {"j": ("max_num_seqs 1 against 64",)}
    assert told(between(one, one))[0.0, "key", "texts"] == (0, 9)
    assert between(one, one).settings == {"j": ()}


@pytest.mark.slow
def test_another_setting_of_the_same_weights_is_compared_at_0_alone(run_of):
    one = run_of("one")
    two = run_of("two", OTHER_VERDICT, judges=[("j", "max_model_len = 4096")], folder="two")
    shared = between(one, two)
    assert told(shared) == {(0.0, "prompt", "verdicts"): (1, 9), (0.0, "prompt", "texts"): (1, 9)}
    assert shared.settings == {"j": ("max_model_len null against 4096",)}
    fewer = run_of(
        "fewer",
        judges=[("j", "max_model_len = 4096")],
        asks=("temperatures = [0.0]\n",),
        folder="f",
    )
    assert told(between(one, fewer))[0.0, "prompt", "texts"] == (0, 3)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "other",
    [
        {"judges": [("k", "")]},
        {"judges": [("j", "max_model_len = 4096")], "asks": (ASK + "option_orders = 2\n",)},
        {
            "judges": [("j", "max_model_len = 4096")],
            "asks": (ASK + 'templates = ["paraphrase"]\n',),
        },
    ],
)
def test_other_judges_and_other_prompts_share_nothing(run_of, other):
    assert between(run_of("one"), run_of("two", folder="two", **other)) is None


# ---- what people see -----------------------------------------------------------------------------


@pytest.mark.slow
def test_reduce_prints_one_line_of_it_and_json_rows(run_of, capsys):
    run = run_of("one", SAME_VERDICT | OTHER_VERDICT)
    assert main(["reduce", run, "--full"]) == 0
    out = capsys.readouterr().out
    line = " ".join(out[out.index("Serving noise of j") :].split())
    assert line.startswith(
        "Serving noise of j (temperature 0, 3 questions asked up to 3 times): two replies to one "
        "prompt differ in verdict 22.2 % of the time ["
    )
    assert "questions that ever differ: 1 in verdict, 2 in text" in line
    assert "serving noise, not sampling: temperature 0 is greedy" in " ".join(out.split())
    assert main(["reduce", run, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    noise = [row for row in rows if row["coefficient"] in SERVING]
    assert [row["coefficient"] for row in noise] == list(SERVING)
    assert {frozenset(row) for row in rows} == {frozenset(rows[0])}
    assert main(["reduce", run, "--coefficient", "serving_noise"]) == 0
    assert capsys.readouterr().out.startswith("Serving noise of j")


@pytest.mark.slow
def test_reduce_without_repeats_says_nothing_of_it(run_of, capsys):
    run = run_of("one", asks=("temperatures = [1.0, 0.0]\n",))
    for form in ("table", "json"):
        assert main(["reduce", run, "--format", form]) == 0
        assert "erving" not in capsys.readouterr().out


@pytest.mark.slow
def test_compare_prints_shared_requests_below_its_differences(run_of, capsys):
    one = run_of("one", engine={"max_num_seqs": 1})
    two = run_of("two", SAME_VERDICT | OTHER_VERDICT, engine={"max_num_seqs": 8})
    assert main(["compare", "--full", one, two]) == 0
    out = capsys.readouterr().out
    packed = "".join(out.split())  # the names of the runs may be longer than a line
    assert f"Servingnoise:15requestsaskedinboth{one}and{two}" in packed
    assert "Engines of j differ in max_num_seqs 1 against 8." in " ".join(out.split())
    assert main(["compare", one, two, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    noise = [row for row in rows if row["coefficient"].startswith("serving")]
    assert [(row["coefficient"], row["temperature"]) for row in noise] == [
        ("serving_noise", 0.0), ("serving_noise_texts", 0.0),
        ("serving_noise", 1.0), ("serving_noise_texts", 1.0),
    ]  # fmt: skip
    assert noise[0]["difference"] == pytest.approx(1 / 9)
    assert "matched by key; serving noise, not sampling; engines differ in" in noise[0]["estimator"]


@pytest.mark.slow
def test_the_report_has_a_section_of_it_and_no_point_at_0(run_of, tmp_path, capsys):
    run = run_of("one", SAME_VERDICT | OTHER_VERDICT)
    assert main(["report", run, "--out", str(tmp_path / "r.html")]) == 0
    capsys.readouterr()
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>Serving noise</h2>" in page
    assert "questions that ever differ: 1 in verdict, 2 in text" in page
    assert "serving noise, not sampling" in page
    assert "Alpha against temperature" not in page  # of temperature 1 alone there is no curve


def test_a_plan_says_what_repeats_are_for(sweep):
    notes = plan_text(plan_resolved(sweep(asks=[ASK])).as_json(), {})
    assert "temperature 0 is asked 3 times: what differs is serving noise" in notes


def test_options_of_other_names_are_left_as_they_are(run_of):
    run = run_of("one")
    options = ReduceOptions(coefficients=("flip_rate",), by=("judge",))
    from tests.opening import coefficients as coefficients_of

    found = coefficients_of(run, options)
    assert found["n_judgments"].to_list() == [6]
    assert found["estimator"].str.contains("temperature 0 left out").all()
