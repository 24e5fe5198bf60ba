"""Confusion, replications and distributions of a sweep on one page: the numbers of reduce."""

import json
import re
import shutil
from html import unescape

import pytest

from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
from judgerel_ray.blocks.words import number
from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.counting.snapshot import open_run
from judgerel_ray.engines import EngineSpec
from tests.truth import true_distribution

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

SIZES = {"grades": ("1", "2", "3"), "truth": ("yes", "no")}
N_ITEMS = 24
JUDGES = {
    "firm": {"seed": 1, "concentration": 0.6, "suggestibility": 0.5},
    "swayed": {"seed": 1, "concentration": 0.6, "suggestibility": 2.5, "refuse": 0.1},
}
JUDGE = (
    '[[judge]]\nname = "{}"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
    "engine_options = {{ {} }}\n"
)


def write_items(folder):
    """Gold is the likeliest option of the judges' own truth in two of three items."""
    for name, options in SIZES.items():
        truth = {key: JUDGES["firm"][key] for key in ("seed", "concentration")}
        spec = EngineSpec(name="firm", engine="simulated", model="dirichlet", engine_options=truth)
        menu = Menu(labels=options, option_ids=options, form="best_response")
        lines = []
        for n in range(N_ITEMS):
            item = f"{name}{n}"
            shares = true_distribution(spec, item_id=item, menu=menu)
            best = max(range(len(options)), key=lambda place, shares=shares: shares[place])
            right = options[best if n % 3 else (best + 1) % len(options)]
            lines.append(
                json.dumps(
                    {"item_id": item, "benchmark": name, "criterion": ("fit", "flow")[n % 2],
                     "question": "?", "text": f"{item}.", "options": list(options),
                     "labels": [right, right, options[0]]}
                )
            )  # fmt: skip
        (folder / f"{name}.jsonl").write_text("\n".join(lines))


def write_sweep(folder, *, said=""):
    def ask(name, more):
        return f'[[ask]]\nbenchmark = "criterion"\npath = "{name}.jsonl"\n{more}\n'

    judges = "".join(
        JUDGE.format(name, ", ".join(f"{key} = {value}" for key, value in options.items()))
        for name, options in JUDGES.items()
    )
    confusion = f'protocol = "confusion"\ntemperatures = [1.0]\n{said}'
    asks = [ask(name, confusion) for name in SIZES]
    asks.append(ask("truth", 'protocol = "best_of"\nreplications = 4'))
    asks.append(ask("grades", 'protocol = "best_of"\nmode = "exact"\ntemperatures = [1.0, 0.5]'))
    file = folder / "s.toml"
    file.write_text(f'name = "s"\n{judges}{"".join(asks)}')
    return str(file)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncertain")
    write_items(folder)
    assert main(["run", write_sweep(folder), "--out", str(folder / "run")]) == 0
    return folder


def page_of(folder, name="r.html"):
    assert main(["report", str(folder / "run"), "--out", str(folder / name)]) == 0
    page = (folder / name).read_text().replace("\u00a0", " ")
    text = unescape(re.sub(r"<[^>]+>", " ", page.split("</style>")[1]))
    return page, " ".join(text.split())


@pytest.fixture(scope="module")
def shown(run):
    """The page of the run and its text; made once."""
    return page_of(run)


@pytest.fixture(scope="module")
def scores(run):
    """Every score of the run; computed once."""
    return run_uncertainty_tables(open_run(str(run / "run"))).scores


def test_the_page_has_the_numbers_of_reduce(run, shown, capsys):
    page, text = shown
    capsys.readouterr()
    assert main(["uncertainty", str(run / "run"), "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert set(tables) == {"worth", "scores", "labels", "transfer", "people", "against_people"}
    worth = [row for row in tables["worth"] if row["value"] is not None and row["low"] is not None]
    assert len(worth) > 40
    for row in worth:
        assert f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]" in text
    for row in tables["labels"]:
        if row["kind"] != "in-sample":
            ends = f"[{number(row['share_from'])}, {number(row['share_to'])}]"
            assert f"{number(row['share'])} {ends} of {row['n_share']}" in text
    assert {row["across"] for row in tables["transfer"]} == {"benchmark", "judge", "criterion"}
    assert (
        page.count("<figure>") == 1 + 2 + 2 + 2 + 4 + 4 + 2
    )  # first screen to limits of two judges
    assert "swayed grades assessments 72" in text
    assert "assessments are" not in text


def test_replications_stand_beside_matrices_at_their_cost(shown, scores):
    plain = scores.filter(of_replications=4, drawn_at=1.0)
    assert set(plain["benchmark"]) == {"truth"}
    assert plain["score"].to_list().count("share_of_replications") == 2
    for judge in JUDGES:
        mine = scores.filter(judge=judge, benchmark="truth")
        cost = dict(mine.select("score", "tokens").iter_rows())
        assert cost["share_of_replications"] <= cost["margin"]
    assert (plain["n"] <= N_ITEMS).all()
    for words in ("share", "entropy"):
        assert f"{words} of 4 replications at temperature 1 " in shown[1]


def test_the_verdicts_own_probability_stands_beside_and_limits_have_a_section(shown, scores):
    own = scores.filter(score="probability_of_verdict")
    assert own.select("judge", "benchmark").rows() == [("firm", "grades"), ("swayed", "grades")]
    assert (own["n"] > 0).all()
    assert own["mean"].is_between(0, 1).all()
    _, text = shown
    assert "Infinitely many replications" in text
    assert "How certain the distributions are" in text
    assert "the probability of every verdict at temperature 1, 0.5, nothing sampled" in text


def test_confusion_verdicts_are_no_part_of_agreement(shown):
    _, text = shown
    # Replications are of best_of alone: 4 of each of the 24 questions.
    assert "best_of" in text
    assert "every question was asked once" not in text
    assert "the judge's own verdict, an assessment for every option" in text


def test_thresholds_may_be_stated_later_and_ask_nothing(run, tmp_path, capsys):
    run = shutil.copytree(run, tmp_path / "again")
    file = write_sweep(run, said="thresholds = [0.7, 0.55]")
    assert main(["run", file, "--out", str(run / "run")]) == 0
    assert "0 in this session" in capsys.readouterr().out
    page, text = page_of(run, "stated.html")
    assert (
        sum(group.count("<line") for group in re.findall(r'<g class="stated">.*?</g>', page))
        == 2 * 4
    )
    assert "a threshold the sweep states" in text
    assert main(["uncertainty", "--full", str(run / "run")]) == 0
    printed = capsys.readouterr().out
    tables = run_uncertainty_tables(open_run(str(run / "run")))
    stated = tables.worth.filter(quantity="accuracy_low", threshold=0.7)
    assert stated.height == 4
    for row in stated.iter_rows(named=True):
        if row["value"] is not None:
            assert f"[{row['low']:.3f}, {row['high']:.3f}]" in printed
    assert "accuracy low at 0.55" in printed
