"""Sweeps of judges behind an API against a server that fails by plan, on Ray and in one process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, read_errors, read_ledger, scan_judgments

# The cluster must be up before any of these: its processes were born without their variables.
pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("ray_local")]

ANYWHERE = pytest.mark.usefixtures("anywhere")

KEY = "sk-planted-4711"
SECRET = "planted-4711"
JUDGE = """
[[judge]]
name = "{name}"
engine = "openai"
model = "tiny"
base_url = "{url}"
replicas = {replicas}
limits = {{ {limits} }}
prices = {{ prompt = 1.0, completion = 10.0, cached_prompt = 0.1 }}
{more}
"""
ASK = """
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.csv"
top_k = 0
temperatures = [1.0]
replications = {replications}
{ask}
[fleet]
lease_seconds = 0.5
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a sweep of judges at a server, and its items."""

    def made(server: Any, *, judges: int = 1, n_items: int = 10, **given: Any) -> Path:
        rows = [f"q{i},Which of these is number {i}?,this {i},that {i},those {i}"
                for i in range(n_items)]  # fmt: skip
        head = "item_id,question,option_x,option_y,option_z"
        (tmp_path / "items.csv").write_text("\n".join([head, *rows]) + "\n")
        values = {"limits": "", "more": "", "ask": "", "replicas": 1, "replications": 4, **given}
        text = 'name = "served"\n'
        for i in range(judges):
            text += JUDGE.format(name=f"j{i}", url=server.url, **values)
        file = tmp_path / "sweep.toml"
        file.write_text(text + ASK.format(**values))
        return file

    return made


def rows_of(run: Path) -> pl.DataFrame:
    where = RunDirectory(url=str(run))
    return scan_judgments(where, ledger=read_ledger(where)).collect()


def texts_below(folder: Path) -> dict[Path, bytes]:
    """Every file of a folder that can be read, tables as the text that is in them."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    tables = [path for path in found if path.suffix == ".parquet"]
    for path in tables:
        found[path] += pl.read_parquet(path).write_json().encode()
    return found


def test_a_planted_key_is_nowhere_but_in_its_variable(
    ray_apart, fault_server, write, tmp_path, monkeypatch, capfd
):
    from ray._private import worker

    monkeypatch.setenv("PLANTED_KEY", KEY)
    ray_apart.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False)
    shares = {"429": 0.1, "500": 0.15, "400": 0.05, "json": 0.05, "half": 0.05, "hang": 0.03}
    limits = "timeout = 0.5, deadline = 5.0, retries = 1, concurrency = 20"
    run, page = tmp_path / "run", tmp_path / "report.html"
    with fault_server(key=KEY, says=f"Bearer {KEY}", shares=shares, retry_after="0.1") as server:
        file = write(server, limits=limits, more='api_key_env = "PLANTED_KEY"', replications=8)
        code = main(["run", str(file), "--out", str(run)])
        assert main(["report", str(run), "--out", str(page)]) == 0
        assert main(["status", str(run)]) == 0
        assert main(["plan", str(file)]) == 0
        commands = " ".join(
            " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
        )
    assert code in (0, 1)
    assert {seen.authorization for seen in server.asked} == {f"Bearer {KEY}"}
    rows, errors = rows_of(run), read_errors(RunDirectory(url=str(run)))
    assert rows.height + errors["key"].n_unique() >= 80
    assert (rows["outcome"] == "failed").any()  # a refusal that repeated the key
    session = Path(worker._global_node.get_session_dir_path())
    said = capfd.readouterr()
    kept = texts_below(run) | texts_below(session) | {page: page.read_bytes()}
    assert len(kept) > 30
    holding = [str(path) for path, content in kept.items() if SECRET.encode() in content]
    assert holding == []
    assert SECRET not in said.out + said.err + commands


@pytest.mark.parametrize(
    ("anywhere", "mode"),
    [
        ("ray", "error_at_cut"),
        ("process", "error_at_cut"),
        ("process", "fingerprint_surrogate"),
        ("process", "prompt_tokens_2_33"),
    ],
    indirect=["anywhere"],
)
@ANYWHERE
def test_a_reply_that_is_not_as_it_should_be_costs_itself_alone(
    fault_server, write, tmp_path, mode, capsys
):
    """And its neighbours land the first time, are asked once, and the next run asks the rest."""
    run = tmp_path / "run"
    with fault_server(mode=mode) as server:
        file = write(server, limits="retries = 0", replications=6)
        file.write_text(f"{file.read_text()}max_attempts = 1\n")
        server.picks = lambda body: "number 3?" in body["messages"][-1]["content"]
        code = main(["run", str(file), "--out", str(run)])
        is_whole = mode != "error_at_cut"
        assert code == (0 if is_whole else 1)
        assert rows_of(run).height == (60 if is_whole else 54)
        server.mode = None
        assert main(["run", str(file), "--out", str(run)]) == 0
    capsys.readouterr()
    assert rows_of(run)["key"].n_unique() == 60
    assert len(server.asked) == (60 if is_whole else 66)
    assert main(["verify", str(run)]) == 0


@ANYWHERE
def test_a_redirect_to_another_server_ends_its_judge_and_sends_nothing_there(
    fault_server, write, tmp_path, capsys
):
    with (
        fault_server() as other,
        fault_server(mode="redirect_other", elsewhere=other.url) as server,
    ):
        assert main(["run", str(write(server)), "--out", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert f"redirects to {other.url.removesuffix('/v1')}, which is not the server in" in message
    assert "base_url" in message
    assert other.asked == []


@ANYWHERE
def test_limits_of_a_provider_are_shared_by_all_actors_of_all_its_judges(
    fault_server, write, tmp_path
):
    limits = "concurrency = 6, requests_per_minute = 100"
    with fault_server(seconds=0.05, shares={"503": 0.03}, retry_after="0.1") as server:
        file = write(server, judges=2, replicas=2, limits=limits, n_items=10, replications=6)
        assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 0
    rows = rows_of(tmp_path / "run")
    assert rows.group_by("judge").len().sort("judge")["len"].to_list() == [60, 60]
    assert 1 < server.most_here <= 6  # how near to six depends on how busy the machine is
    assert server.most_within(60.0) <= 100
    assert len(server.asked) >= 120


@ANYWHERE
def test_what_an_outage_outlasts_is_pending_and_lands_with_the_next_run(
    fault_server, write, tmp_path, capsys
):
    run = tmp_path / "run"
    # Long enough for a true answer on a busy machine: what is late here must be what hangs. All
    # are there at once, and so all that hang are given up together. With no time left for another
    # try: one that has a moment may be answered too late.
    limits = "timeout = 15, deadline = 15, retries = 3, concurrency = 60"
    with fault_server(shares={"hang": 0.85}) as server:
        file = write(server, limits=limits, replications=6)
        file.write_text(f"{file.read_text()}max_attempts = 2\n")  # each takes the fifteen seconds
        assert main(["run", str(file), "--out", str(run)]) == 1
        landed = rows_of(run)
        errors = read_errors(RunDirectory(url=str(run)))
        assert 0 < landed.height < 60
        # Its items are nobody's poison: only requests failed.
        assert set(errors["kind"]) == {"request"}
        assert landed.height + errors["key"].n_unique() == 60
        assert landed.height == sum(seen.fault is None for seen in server.asked)
        assert "no answer in 15 s" in errors["message"][0]
        server.failing = False
        assert main(["run", str(file), "--out", str(run)]) == 0
    after = rows_of(run)
    assert after.height == after["key"].n_unique() == 60
    kept = after.join(landed.select("key"), on="key", how="semi").sort("key")
    assert kept.equals(landed.sort("key"))
    capsys.readouterr()


def test_an_actor_that_is_killed_leaves_no_item_suspected_and_no_limit_taken(
    fault_server, write, tmp_path
):
    run, codes = tmp_path / "run", []
    # What the dead one held would be waited for until its timeout: for longer than this test.
    limits = "concurrency = 8, timeout = 3600, deadline = 7200"
    with fault_server(seconds=0.2) as server:
        file = write(server, limits=limits, n_items=40, replications=5)
        running = threading.Thread(
            target=lambda: codes.append(main(["run", str(file), "--out", str(run)]))
        )
        running.start()
        while len(server.asked) < 60:
            assert running.is_alive()
            time.sleep(0.05)
        ours = psutil.Process().children(recursive=True)
        for process in ours:
            with suppress(psutil.NoSuchProcess):
                if "ray::JudgeActor" in " ".join(process.cmdline()):
                    process.kill()
        running.join(900)
    assert codes == [0]
    rows = rows_of(run)
    assert rows.height == rows["key"].n_unique() == 200
    assert read_errors(RunDirectory(url=str(run))).is_empty()
    assert server.most_here <= 8
    # Only what was at work when it died was asked again.
    assert 200 < len(server.asked) <= 200 + 2 * 8 * 4


@ANYWHERE
def test_a_provider_that_takes_no_more_ends_its_judge_and_keeps_what_landed(
    fault_server, write, tmp_path, capsys
):
    run = tmp_path / "run"
    with fault_server(spent_after=100, seconds=0.02) as server:
        file = write(server, limits="concurrency = 4", n_items=40, replications=6)
        assert main(["run", str(file), "--out", str(run)]) == 2
    said = capsys.readouterr().err
    assert "the server takes nothing of this judge: HTTP 429: no money left" in said
    assert "mend judge j0" in said
    assert len(server.asked) <= 100 + 4
    assert rows_of(run).height == 100


@ANYWHERE
def test_what_a_provider_declines_is_a_row_and_its_costs_are_the_providers(
    fault_server, write, tmp_path, capsys
):
    run = tmp_path / "run"
    with fault_server(shares={"filter": 0.3, "policy": 0.1, "usage": 0.1}) as server:
        file = write(server)
        assert main(["run", str(file), "--out", str(run)]) == 0
    capsys.readouterr()
    rows = rows_of(run)
    assert rows.height == len(server.asked) == 40
    faults = [seen.fault for seen in server.asked]
    declined = rows.filter(pl.col("outcome") == "refused")
    assert declined.height == sum(fault in ("filter", "policy") for fault in faults) > 0
    assert set(declined["finish_reason"]) == {"content_filter"}
    assert rows.filter(pl.col("completion_tokens").is_null()).height == faults.count("usage") > 0
    priced = rows.filter(pl.col("cost").is_not_null())
    prompt, cached = pl.col("prompt_tokens"), pl.col("cached_tokens")
    by_hand = ((prompt - cached) * 1.0 + cached * 0.1 + pl.col("completion_tokens") * 10.0) / 1e6
    assert priced.height == faults.count(None) + faults.count("filter")
    assert priced.select((pl.col("cost") - by_hand).abs().max()).item() < 1e-12
    assert main(["status", str(run), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["judges"][0]["cost"]
    assert told == pytest.approx(rows["cost"].sum())


def test_a_variable_that_only_the_driver_has_is_the_callers_mistake(
    fault_server, write, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    with fault_server() as server:
        file = write(server, more='api_key_env = "PLANTED_KEY"')
        other = JUDGE.format(
            name="free", url=server.url, replicas=1, limits="", more=""
        )  # a judge that needs no key is not asked before the other's is found missing
        file.write_text(file.read_text().replace("[[ask]]", f"{other}[[ask]]"))
        assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "environment variable PLANTED_KEY is not set" in said
    assert "[judge=j0]" in said
    assert server.asked == []


@ANYWHERE
def test_answers_of_responders_behind_an_api_are_judged_but_for_those_declined(
    fault_server, write, tmp_path
):
    run = tmp_path / "run"
    ask = 'responders = ["j1", "j2", "j3"]\nrespond = { top_k = 0 }\njudges = ["j0"]'
    with fault_server(shares={"filter": 0.3}) as server:
        file = write(server, judges=4, ask=ask, replications=3)
        assert main(["run", str(file), "--out", str(run)]) == 0
    rows = rows_of(run)
    answers = rows.filter(pl.col("role") == "responder")
    assert answers.height == 30
    declined = answers.filter(pl.col("outcome") == "refused")
    assert 0 < declined.height < 30, declined.height
    assert answers.filter(pl.col("outcome").is_null()).height == 30 - declined.height
    verdicts = rows.filter(pl.col("role") == "judge")
    assert verdicts.height == 30
    # A question that lacks an answer cannot be judged: its rows say so.
    failed = verdicts.filter(pl.col("outcome") == "failed")
    assert set(failed["item_id"]) == set(declined["item_id"])
    assert failed.height == 3 * declined["item_id"].n_unique()


def test_a_variable_that_is_not_set_is_one_line_before_anything_else(
    fault_server, write, tmp_path, capsys, monkeypatch
):
    monkeypatch.delenv("PLANTED_KEY", raising=False)
    with fault_server() as server:
        file = write(server, more='api_key_env = "PLANTED_KEY"')
        assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("judgerel: environment variable PLANTED_KEY is not set")
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()
    assert server.asked == []
