"""Templates of one's own on a local cluster, each with another form; and the page that shows it."""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.store import RunDirectory, scan_judgments
from tests.opening import snapshot
from tests.truth import true_distribution

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

PAGE = Path(__file__).parents[2] / "docs" / "own-templates.md"
JUDGE = '[[judge]]\nname = "one"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
ASK = '[[ask]]\nprotocol = "{protocol}"\nbenchmark = "{name}"\npath = "items.jsonl"\n'
ASK += 'templates = ["{name}"]\nreplications = 6\n{more}\n'
TEXTS = {
    "best_of": "{question}\n{responses}",
    "correctness": "{question} {ground_truth} {prediction}",
}
FORMS = {
    "brackets": (
        "best_of",
        "pattern = '\\[\\[(?P<verdict>[A-Z])\\]\\]'\n"
        "example = 'One is short. [[{verdict}]]'\ntie = 'C'",
    ),
    "answer": (
        "best_of",
        "pattern = '(?m)^Answer: (?P<verdict>.+)$'\n"
        'example = """<think>Answer: B?</think>\nIt is short.\nAnswer: {verdict}"""\n'
        "options = [['first', '1st'], ['second', '2nd']]",
    ),
    "json": (
        "best_of",
        "json = 'result.winner'\noptions = 'numbers'\ntie = 0\n"
        'example = \'\'\'```json\n{"why": "short", "result": {"winner": {verdict}}}\n```\'\'\'',
    ),
    "texts": (
        "best_of",
        "json = 'winner'\noptions = 'texts'\nexample = '{\"winner\": \"{verdict}\"}'",
    ),
    "right": (
        "correctness",
        "json = 'right'\noptions = [true, false]\nexample = '{\"right\": {verdict}}'",
    ),
    "score": ("rating", "json = 'score'\nexample = '{\"score\": {verdict}}'"),
}
OPTIONS = [
    {"option_id": "x", "text": 'Say "yes" {now}'},
    {"option_id": "y", "text": "No. [B] is\nwrong"},
]


def write_template(folder, form, protocol):
    folder.mkdir()
    (folder / "template.toml").write_text(f'verdict = "last"\n[form]\n{form}\n')
    if protocol == "rating":
        shipped = Path(main.__code__.co_filename).parents[1] / "protocols/rating/templates/default"
        for text in shipped.glob("*.txt"):
            (folder / text.name).write_text(text.read_text())
    else:
        (folder / "question.txt").write_text(TEXTS[protocol])


@pytest.fixture(scope="module")
def landed(tmp_path_factory):
    """The folder of one run of every form."""
    folder = tmp_path_factory.mktemp("own")
    items = [
        {"item_id": f"q{i}", "question": f"{i}?", "gold": "x", "options": OPTIONS} for i in range(6)
    ]
    (folder / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    text = 'name = "own"\n' + JUDGE
    for name, (protocol, form) in FORMS.items():
        write_template(folder / name, form, protocol)
        more = 'option_orders = 2\nreader = "last"' if protocol == "best_of" else ""
        more = 'criteria = ["kind"]' if protocol == "rating" else more
        text += ASK.format(protocol=protocol, name=name, more=more)
    (folder / "s.toml").write_text(text)
    criterion = 'name = "Kindness to users"\nquestion = "Is it kind?"\n[definitions]\n'
    (folder / "kind.toml").write_text(criterion + 'short = "Kind."\nlong = "Kind, truly."\n')
    assert main(["run", str(folder / "s.toml"), "--out", str(folder / "run")]) == 0
    return folder


def rows(landed, name):
    run = RunDirectory.open(str(landed / "run"))
    return scan_judgments(run).filter(pl.col("benchmark") == name).collect()


@pytest.mark.parametrize("name", FORMS)
def test_every_reply_in_a_declared_form_lands_its_verdict(landed, name):
    found = rows(landed, name)
    assert found.height >= 6 * 6
    assert found["outcome"].unique().to_list() == ["scored"]
    assert found["verdict"].n_unique() > 1


@pytest.mark.parametrize(("name", "ids"), [("brackets", "xyt"), ("answer", "xy"), ("json", "xyt"),
                                           ("texts", "xy")])  # fmt: skip
def test_words_lead_to_the_options_that_were_meant(landed, name, ids):
    found = rows(landed, name)
    names = {"x": "x", "y": "y", "t": "tie"}
    ids = tuple(names[one] for one in ids)
    assert set(found["verdict"]) == set(ids)
    # A place is of one option in an order, and of the other in the other; a tie is of none.
    seen = found.group_by("option_order", "item_id").agg(pl.struct("label", "verdict").unique())
    for order, item, pairs in seen.iter_rows():
        shown = {one["label"]: one["verdict"] for one in pairs}
        assert len(set(shown.values())) == len(shown), (order, item)
        assert ("tie" in shown) == ("tie" in shown.values())
    # As often as the judge's truth has it: 72 verdicts, so shares are within 4 errors.
    spec = EngineSpec(name="one", engine="simulated", model="dirichlet")
    labels = (*"AB", "tie")[: len(ids)]
    menu = Menu(labels=labels, option_ids=ids, form="own")
    truth = [true_distribution(spec, item_id=f"q{i}", menu=menu) for i in range(6)]
    for place, option in enumerate(ids):
        share = sum(one[place] for one in truth) / 6
        assert abs((found["verdict"] == option).mean() - share) < 4 * (0.25 / found.height) ** 0.5


def test_a_tie_is_a_category_and_no_option(landed):
    judged = snapshot(str(landed / "run"))
    assert {name: n for menu in judged.menus.values() for name, n in menu.items()} == {
        "brackets": 3, "json": 3, "answer": 2, "texts": 2, "right": 2,
    }  # fmt: skip
    assert judged.shown["best_of"]["brackets"] == 2
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["reduce", str(landed / "run"), "--format", "json"]) == 0
    found = [row for row in json.loads(out.getvalue()) if row["coefficient"] == "gwet_ac1"]
    assert {row["benchmark"]: row["n_categories"] for row in found} == {
        "brackets": 3, "json": 3, "answer": 2, "texts": 2, "right": 2, "score": 5,
    }  # fmt: skip


def test_a_criterion_of_ones_own_shows_its_name(landed, tmp_path):
    assert rows(landed, "score")["criterion"].unique().to_list() == ["Kindness to users"]
    page = tmp_path / "page.html"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["reduce", str(landed / "run")]) == 0
        assert main(["report", str(landed / "run"), "--out", str(page)]) == 0
    assert "Kindness to users" in out.getvalue()
    assert "Kindness to users" in page.read_text()


def test_another_form_does_not_go_on_with_the_run(landed, capsys):
    settings = landed / "brackets" / "template.toml"
    before = settings.read_text()
    settings.write_text(before.replace("[A-Z]", "[A-F]"))
    assert main(["run", str(landed / "s.toml"), "--out", str(landed / "run")]) == 2
    assert "forms" in capsys.readouterr().err
    settings.write_text(before)
    assert main(["run", str(landed / "s.toml"), "--out", str(landed / "run")]) == 0


@pytest.mark.parametrize("name", ["brackets", "json"])
def test_exact_distributions_and_adaptive_replication_know_a_tie(landed, name, tmp_path):
    text = 'name = "own"\n' + JUDGE
    form = FORMS[name][1]
    write_template(tmp_path / name, form, "best_of")
    (tmp_path / "items.jsonl").write_text((landed / "items.jsonl").read_text())
    ask = ASK.format(protocol="best_of", name=name, more="")
    exact = ask.replace("replications = 6", 'mode = "exact"')
    adaptive = ask.replace("= 6", "= { adaptive = 0.05, first = 5, max = 20 }")
    (tmp_path / "e.toml").write_text(text + exact)
    sure = text.replace('"dirichlet"', '"always"\nengine_options = { label = "tie" }')
    (tmp_path / "a.toml").write_text(sure + adaptive)
    for one in "ea":
        assert main(["run", str(tmp_path / f"{one}.toml"), "--out", str(tmp_path / one)]) == 0
    shares = pl.read_parquet(tmp_path / "e" / "distributions" / "*.parquet")
    assert set(shares["verdict"].drop_nulls()) == {"x", "y", "tie"}
    settled = pl.read_parquet(tmp_path / "a" / "settled" / "settled.parquet")
    assert settled["verdict"].to_list() == ["tie"] * 6


def test_the_pages_example_does_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    page = PAGE.read_text(encoding="utf-8")
    files = dict(re.findall(r"\n`([\w./]+)`:\n\n```\w+\n(.*?\n)```", page, re.DOTALL))
    assert set(files) == {"pairs/template.toml", "pairs/question.txt", "items.jsonl", "sweep.toml"}
    for name, text in files.items():
        for path in (Path(name), Path(name.replace("pairs/", "wrong/").replace("sweep", "wrong"))):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    wrong = Path("wrong/template.toml")
    wrong.write_text(wrong.read_text().replace("[[{verdict}]]", "[{verdict}]"))
    Path("wrong.toml").write_text(files["sweep.toml"].replace('["pairs"]', '["wrong"]'))
    consoles = re.findall(r"```console\n\$ judgerel (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert len(consoles) == 4
    for command, shown in consoles:
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(out),
        ):
            main(shlex.split(command))
        pattern = re.escape(shown).replace(r"\.\.\.", ".*")
        assert re.fullmatch(pattern, out.getvalue().strip(), re.DOTALL), (command, out.getvalue())
    ((code, told),) = re.findall(r"```python\n((?:>>> [^\n]*\n)+)(.*?)\n```", page, re.DOTALL)
    *steps, last = [line.removeprefix(">>> ") for line in code.splitlines()]
    names: dict[str, object] = {}
    exec("\n".join(steps), names)
    assert repr(eval(last, names)) == " ".join(told.split())
