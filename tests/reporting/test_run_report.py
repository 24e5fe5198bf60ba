"""Reports of run directories: done, unfinished, and of answers alone."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from judgerel_ray.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]


def sweep(folder, judges: str, ask: str) -> str:
    options = [{"option_id": one, "text": f"answer {one}"} for one in "abc"]
    lines = [{"item_id": f"q{i}", "question": f"{i}?", "options": options} for i in range(6)]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    file = folder / "s.toml"
    file.write_text(
        f'name = "s"\n{judges}\n[[ask]]\nbenchmark = "mine"\npath = "items.jsonl"\n{ask}'
    )
    return str(file)


def judge(name: str, model: str = "uniform", options: str = "") -> str:
    return (
        f'[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "{model}"\ngpus = 0\n'
        f"engine_options = {{ {options} }}\n"
    )


def reported(folder, capsys) -> tuple[str, str]:
    """The page as text with single spaces, and what the command said."""
    capsys.readouterr()
    assert main(["report", str(folder / "run"), "--out", str(folder / "r.html")]) == 0
    page = (folder / "r.html").read_text().replace("\u00a0", " ")
    text = unescape(re.sub(r"<[^>]+>", " ", page.split("</style>")[1]))
    return " ".join(text.split()), capsys.readouterr().out


def test_a_judge_that_always_says_a_is_not_praised(tmp_path, capsys):
    ask = 'protocol = "best_of"\ntemperatures = [0.0]\nrepeat_greedy = 3\n'
    file = sweep(tmp_path, judge("stuck", "always", 'label = "A"'), ask)
    assert main(["run", file, "--out", str(tmp_path / "run")]) == 0
    text, _ = reported(tmp_path, capsys)
    assert "this judge answers A whatever the options are (18 of 18 verdicts" in text
    assert (
        "best_of on mine: each prompt 3 times at temperature 0 (greedy: repeats show the serving's "
        "noise only). Prompts: 1 template (default), 1 order of the options: every repeat has the "
        "same prompt, same order" in text
    )
    assert "gives the same verdict 100 %" not in text
    assert "This run is" not in text


def test_orders_and_templates_that_were_crossed_are_named(tmp_path, capsys):
    ask = (
        'protocol = "best_of"\nreplications = 2\noption_orders = 3\n'
        'templates = ["default", "paraphrase"]\n'
    )
    bias = judge("swayed", "position", "position_bias = [4.0, 0.0, 0.0], quality_sd = 0.1")
    assert main(["run", sweep(tmp_path, bias, ask), "--out", str(tmp_path / "run")]) == 0
    text, _ = reported(tmp_path, capsys)
    assert (
        "each prompt 2 times at temperature 1. Prompts: 2 templates (default, paraphrase)" in text
    )
    assert "in 3 orders of the options" in text
    assert "this judge follows the place more than the option" in text
    assert "same place in another order" in text
    # Of the six orders of three declared options; templates as many as there are.
    assert main(["advise", "--full", str(tmp_path / "run"), "--facet-size", "template=fixed"]) == 0
    advice = " ".join(capsys.readouterr().out.split())
    assert "option order error" in advice
    assert "3 of 6" in advice
    assert "drawn at random (reproducibility)" in advice
    assert "[too few levels]" not in advice


def test_an_unfinished_run_says_what_of_whom_is_pending_why_and_how_to_go_on(tmp_path, capsys):
    ask = 'protocol = "best_of"\nreplications = 2\n[fleet]\nmax_attempts = 2\n'
    broken = ", ".join(map(str, range(1, 200)))
    judges = judge("fine") + judge("torn", options=f"fails_on = [{broken}]")
    judges += judge("dead", options="fails_start = true")
    assert main(["run", sweep(tmp_path, judges, ask), "--out", str(tmp_path / "run")]) == 1
    text, _ = reported(tmp_path, capsys)
    assert "This run is unfinished: 12 of 36 requests landed, 24 are pending" in text
    assert "fine 12 12 0 0 0" in text
    assert "torn 12 0 12 12 0" in text
    assert "torn: 12 requests failed (request): simulated request failed To go on" in text
    assert "dead: engine did not start: told not to" in text
    assert f"judgerel run SWEEP.toml --out {tmp_path / 'run'}" in text
    # With what landed so far below it.
    assert "Asked" not in text.split("To go on")[0]
    assert "same verdict" in text


@pytest.mark.parametrize("fails", [False, True])
def test_a_run_without_verdicts_has_a_page_that_says_so(tmp_path, capsys, fails):
    ask = 'protocol = "respond"\nreplications = 2\n[fleet]\nmax_attempts = 1\n'
    judges = judge("x") + judge("y", options="fails_start = true" if fails else "")
    assert main(["run", sweep(tmp_path, judges, ask), "--out", str(tmp_path / "run")]) == fails
    text, said = reported(tmp_path, capsys)
    n = 12 if fails else 24
    assert f"There are no verdicts here, so nothing is measured. {n} candidate answers" in text
    assert f"no verdicts. {n} candidate answers landed; this sweep asks for answers only" in said
    assert "Candidate answers" in text
    assert re.search(r"x (mine answer 0.75 )?6 12 5\.0", text)
    assert ("This run is unfinished" in text) is fails


@pytest.mark.parametrize("ask", ['protocol = "confusion"', 'protocol = "best_of"\nmode = "exact"'])
def test_a_run_that_reads_probabilities_and_has_none_says_so(tmp_path, capsys, ask):
    file = sweep(tmp_path, judge("dead", "dirichlet", options="fails_start = true"), ask)
    assert main(["run", file, "--out", str(tmp_path / "run")]) in (1, 3)
    text, said = reported(tmp_path, capsys)
    assert "This sweep reads probabilities; their tables are written when the run ends" in text
    assert "no verdicts" in said


def test_a_run_of_which_nothing_landed_has_a_page(tmp_path, capsys):
    ask = 'protocol = "best_of"\nreplications = 2\n'
    file = sweep(tmp_path, judge("dead", options="fails_start = true"), ask)
    assert main(["run", file, "--out", str(tmp_path / "run")]) in (1, 3)
    text, said = reported(tmp_path, capsys)
    assert "This run is unfinished: 0 of 12 requests landed, 12 are pending" in text
    assert "0 candidate answers landed, and no judgment yet" in text
    assert "no verdicts" in said
