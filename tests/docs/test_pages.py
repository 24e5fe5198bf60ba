"""Every page does what it shows: commands, Python, sweep files, links; the schema is current."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from judgerel_ray.benchmarks import LOADERS
from judgerel_ray.cli.parsing import commands
from judgerel_ray.config import parse_sweep
from judgerel_ray.core.verb import all_verbs

VERBS = all_verbs()

_HERE = Path(__file__).parent


def _module(path: Path):
    spec = importlib.util.spec_from_file_location(f"documents_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


pages = _module(_HERE / "blocks.py")
ROOT: Path = pages.ROOT
generate = _module(ROOT / "docs" / "generate.py")
# `tests/e2e/test_own_templates.py` runs that page, which also shows a template that is wrong;
# `test_add_a_protocol.py` runs that one, whose protocol is registered first; `test_contributing.py`
# runs the examples of functions that recipes.md defines.
ELSEWHERE = {"own-templates.md", "add-a-protocol.md", "recipes.md"}
SHOWING = [page for page in pages.PAGES if page.name not in ELSEWHERE]
LONG = {"from-a-csv.md"}
"""Pages whose commands take seconds."""
ASKING = [page for page in SHOWING if "\n$ judgerel run" in page.read_text()]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _hold(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do all that a page shows, in a folder of its own."""
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copytree(ROOT / "docs" / "data", folder / "docs" / "data")
    for name, content in pages.files(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for command in pages.commands(text):
        if command.is_judgerel:
            printed = pages.called(command)
            assert pages.matches(command.shown, printed), (command.words, printed)
    assert pages.python_failures(text, page.name) == ""


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=_name(page), marks=pytest.mark.slow if page.name in LONG else ())
        for page in SHOWING
        if page not in ASKING
    ],
)
def test_a_page_shows_what_happens(page, tmp_path, monkeypatch):
    _hold(page, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("without_ray")
@pytest.mark.parametrize("page", ASKING, ids=_name)
def test_a_page_that_asks_shows_what_happens(page, tmp_path, monkeypatch):
    _hold(page, tmp_path, monkeypatch)


def test_the_pages_show_commands_of_most_verbs():
    shown = {c.words[1] for page in SHOWING for c in pages.commands(page.read_text())
             if c.is_judgerel}  # fmt: skip
    assert shown >= {"plan", "run", "reduce", "compare", "advise", "report", "import", "verify"}
    assert ASKING


def test_what_only_a_model_prints_is_held_with_the_demo():
    # `tests/e2e/test_vllm_sweep.py` holds the README's demo; nothing else may go unheld.
    unheld = [(page.name, c.words) for page in pages.PAGES
              for c in pages.commands(page.read_text()) if not c.is_judgerel]  # fmt: skip
    assert unheld == [("README.md", ("make", "demo"))]


@pytest.mark.alike(6)
@pytest.mark.parametrize("page", pages.PAGES, ids=_name)
def test_sweeps_on_pages_are_sweeps(page):
    judge = '[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\n'
    ask = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "p"\n'
    for block in pages.blocks(page.read_text(encoding="utf-8"), "toml"):
        keys = tomllib.loads(block)
        if not {"judge", "ask"} & set(keys):
            continue  # a template or a criterion
        text = block if "name" in keys else f'name = "shown"\n{block}'
        text += "" if "judge" in keys else f"\n{judge}"
        text += "" if "ask" in keys else f"\n{ask}"
        parse_sweep(text)
        jsonschema.validate(tomllib.loads(text), generate.schema())


@pytest.mark.parametrize("page", pages.PAGES, ids=_name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text)
    here = [one for one in targets if "://" not in one]
    lost = [one for one in here if "generated" in one or not (page.parent / one).exists()]
    assert lost == []  # git keeps nothing that docs/generate.py makes


def test_every_page_is_reached():
    contents = "\n".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    listed = {name for block in re.findall(r"```\{toctree\}\n(.*?)```", contents, re.DOTALL)
              for name in block.splitlines() if name and not name.startswith(":")}  # fmt: skip
    there = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert there <= listed


def test_the_page_of_rooms_names_the_analyses_that_lack_a_file():
    page = (ROOT / "docs" / "rooms.md").read_text("utf-8")
    analyses = ROOT / "judgerel_ray" / "analyses"
    folders = {path.parent.name for path in analyses.glob("*/__init__.py")}
    assert folders <= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    for file in ("from_run.py", "show.py", "verb.py"):
        (row,) = re.findall(rf"^\| `{file}` \|.*", page, re.MULTILINE)
        named = set(re.findall(r"`(\w+)` has none", row))
        assert named == {one for one in folders if not (analyses / one / file).exists()}


@pytest.mark.parametrize("page", pages.PAGES, ids=_name)
def test_pages_import_what_a_program_may(page):
    if page.name in ("recipes.md", "add-a-protocol.md"):  # of code inside the package
        return
    found = re.findall(
        r"^(?:>>> )?(?:from|import) (judgerel_ray[\w.]*)", page.read_text("utf-8"), re.MULTILINE
    )
    lasting = ("judgerel_ray", "judgerel_ray.stats", "judgerel_ray.papers")
    assert [one for one in found if not one.startswith(lasting[1:]) and one != lasting[0]] == []


def _verbs_named(page, before, after):
    """The verbs that a page lists between two texts."""
    text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
    return set(re.findall(r"`(\w+)`", text.partition(before)[2].partition(after)[0]))


def test_pages_list_the_verbs_that_have_what_they_tell_of():
    taken = {name: {one.name for one in command.params} for name, command in commands().items()}
    named = _verbs_named("what-leads.md", "several orders against each other: ", ". - ")
    assert named == {name for name, flags in taken.items() if "verdict_names" in flags}
    writing = {name for name, flags in taken.items() if {"out", "force"} <= flags}
    analyses = {name for name, one in VERBS.items() if one.group == "Analyse"}
    assert writing == analyses | _verbs_named("files-written.md", "`--out` of ", " and every verb")


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= 5000


@pytest.mark.slow
def test_the_schema_of_the_sweep_file_is_current():
    assert generate.SCHEMA.read_text(encoding="utf-8") == generate.schema_text(), "make docs"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "job", sorted(set((ROOT / "jobs").glob("*.toml")) - {ROOT / "jobs/nightly.toml"}), ids=_name
)
def test_ready_sweeps_keep_the_schema(job):
    jsonschema.validate(tomllib.loads(job.read_text()), json.loads(generate.SCHEMA.read_text()))


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('protocol = "bets_of"', "protocol"),
        ("replikations = 5", "replikations"),
        ('temperatures = ["hot"]', "temperatures"),
        ("option_orders = 0", "option_orders"),
    ],
)
def test_the_schema_refuses_what_a_sweep_would(line, place):
    keys = {"protocol": "best_of", "benchmark": "b", "path": "p", **tomllib.loads(line)}
    judge = {"name": "j", "model": "m"}
    with pytest.raises(jsonschema.ValidationError) as refused:
        jsonschema.validate({"name": "s", "judge": [judge], "ask": [keys]}, generate.schema())
    assert place in [*refused.value.absolute_path, *re.findall(r"'(\w+)'", refused.value.message)]


@pytest.mark.slow
def test_every_key_of_the_schema_says_what_it_means():
    whole = generate.schema()
    known = generate.tables()
    specs = {"Sweep": whole, **{n: s for n, s in whole["$defs"].items() if n in known}}
    keys = [(f"{name}.{key}", value) for name, spec in specs.items()
            for key, value in spec["properties"].items()]  # fmt: skip
    silent = [name for name, value in keys if not value.get("description")]
    assert silent == []


@pytest.mark.slow
def test_references_name_every_verb_and_every_public_function():
    verbs, sweep = generate.verbs_page(), generate.sweep_page()
    assert re.findall(r"\n## judgerel (\w+)", verbs) == list(VERBS)
    assert all(f"\n## `{one}`" in sweep for one in ("[[judge]]", "[[ask]]", "[fleet]"))
    assert ":: krippendorff_alpha\n" in generate.api_page("judgerel_ray.stats")


def test_references_name_every_result_and_its_tables():
    columns, front = generate.columns_page(), generate.api_page("judgerel_ray")
    made = [name for name, verb in VERBS.items() if verb.prints]
    assert re.findall(r"\n## judgerel (\w+)", columns) == made
    assert re.findall(r"columns\.md#judgerel-(\w+)", generate.verbs_page()) == made
    assert "### `guarantees`\n\nOne row per system and confidence. A threshold" in columns
    assert ":: judgerel_ray.analyses.selection.selection.Selection\n" in front
    assert [one.__name__ for one in generate.results()][:2] == ["Advice", "AgreementTables"]


def test_the_reference_of_benchmarks_says_of_each_what_it_reads_and_makes():
    _, *entries = re.split(r"^## ", generate.benchmarks_page(), flags=re.MULTILINE)
    assert [one.split("`")[1] for one in entries] == list(LOADERS)
    lacking = [one.split("`")[1] for one in entries if not {"path", "Items"} <= set(
        re.findall(r"^\*\*`?(\w+)`?\*\*: \S", one, re.MULTILINE))]  # fmt: skip
    assert lacking == []


def test_the_judgments_shown_are_what_their_script_makes():
    from bench.judges_in_a_file import written

    assert (ROOT / "docs/data/two-judges.csv").read_text() == written(1)


def test_a_block_that_is_wrong_is_found(tmp_path):
    page = tmp_path / "page.md"
    shown = "```console\n$ judgerel status no-such-run\n{}\n```\n"
    for told, right in (("judgerel: ...", True), ("judgerel: all is well", False)):
        page.write_text(shown.format(told))
        (command,) = pages.commands(page.read_text())
        assert pages.matches(command.shown, pages.called(command)) is right
    assert "Expected" in pages.python_failures("```python\n>>> 1 + 1\n3\n```\n", "page")
