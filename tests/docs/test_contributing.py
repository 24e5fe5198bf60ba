"""CONTRIBUTING.md and the recipes: files exist, and code does what they promise."""

from __future__ import annotations

import asyncio
import doctest
import importlib.util
import inspect
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args

import pytest

import judgerel_ray
from judgerel_ray.asking.plan import resolve
from judgerel_ray.benchmarks import LOADERS, load_items
from judgerel_ray.blocks import words
from judgerel_ray.cli import main
from judgerel_ray.cli.parsing import commands
from judgerel_ray.config import sweep
from judgerel_ray.core import Ask, Condition, Message, SweepError, TokenCounts
from judgerel_ray.core.verb import VERBS
from judgerel_ray.engines import (
    ENGINES,
    EngineSpec,
    Fingerprint,
    judge_fingerprint,
    make_engine,
)
from judgerel_ray.engines.engine import Engine
from judgerel_ray.stats import COEFFICIENTS, agreement

ROOT = Path(__file__).resolve().parents[2]
SHORT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
PATHS = sorted(
    set(re.findall(r"`([\w.-]+(?:/[\w.-]+)*(?:/|\.(?:py|md|toml)))`", f"{SHORT}\n{PAGE}"))
)
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def module_of(path: Path) -> ModuleType:
    """A Python file, run as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"followed_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = module_of(ROOT / "docs" / "generate.py")


def code_of(section: str, place: int = 0) -> dict[str, object]:
    """What a Python block of a section defines."""
    blocks = re.findall(r"^```python\n(.*?)^```$", SECTIONS[section], re.DOTALL | re.MULTILINE)
    block = blocks[place]
    names: dict[str, object] = {}
    exec(block, names)
    return names


def as_its_example_says(function, code):
    """The function, whose example gives what stands below it."""
    (found,) = doctest.DocTestFinder(recurse=False).find(
        function, function.__name__, module=False, globs=code
    )
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0
    return function


def test_there_is_a_recipe_for_each_thing_that_is_added():
    assert {"Add a judge", "Add a benchmark", "Add a coefficient", "Add an analysis",
            "Add a protocol", "Add a log format", "Add an output"} <= set(SECTIONS)  # fmt: skip


def test_the_short_page_stays_short_and_names_no_file_that_the_recipes_leave_out():
    assert len(SHORT.encode()) <= 6000
    recipes = SHORT.partition("## Recipes")[2].partition("\n## ")[0]
    table = [row for row in recipes.splitlines() if row.startswith("| ")]
    named = {one for row in table for one in re.findall(r"`([\w./]+(?:/|\.py|\.toml))`", row)}
    assert len(named) >= 20
    assert [one for one in sorted(named) if f"`{one}" not in PAGE] == []


@pytest.mark.parametrize("path", [path for path in PATHS if "/" in path])
def test_its_files_are_there(path):
    assert (ROOT / path).exists()


def test_names_stand_in_the_files_where_it_says():
    flat = " ".join(f"{SHORT} {PAGE}".split())
    places = re.findall(r"((?:`\w+`(?:, | and | or ))*`\w+`)(?: and its defaults in (`\w+`))? in "
                        r"`([\w/]+\.py)`", flat)  # fmt: skip
    found = {(name, path) for names, more, path in places
             for name in re.findall(r"`(\w+)`", f"{names} {more}")}  # fmt: skip
    assert len(found) >= 12
    missing = [one for one in found if one[0] not in (ROOT / one[1]).read_text()]
    assert missing == []


def test_its_engine_keeps_the_protocol_and_needs_a_fingerprint_of_its_own(monkeypatch):
    monkeypatch.setitem(ENGINES, "parrot", code_of("Add a judge")["ParrotEngine"])
    spec = EngineSpec(name="polly", engine="parrot", model="[[A]]")
    engine = make_engine(spec)
    asked = {name for name, _ in inspect.getmembers(Engine, inspect.isfunction)
             if not name.startswith("_")}  # fmt: skip
    assert asked == {name for name in vars(type(engine)) if not name.startswith("_")}
    condition = Condition(
        condition_key="0" * 32, seed_base=7, judge="polly", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="best_of", stage="judge", role="judge",
        prompt=(Message(role="user", content="Which of the two?"),), template="default",
        temperature=1.0, top_k=50, top_p=1.0, max_tokens=8,
    )  # fmt: skip
    assert asyncio.run(engine.start()).engine == "parrot"
    prepared = engine.prepare(condition)
    found = asyncio.run(engine.complete(prepared, Ask(condition=condition, first=3, n=2)))
    assert [(one.replication, one.seed, one.text) for one in found] == [
        (3, 10, "[[A]]"), (4, 11, "[[A]]"),
    ]  # fmt: skip
    assert engine.counters() == TokenCounts(prompt=8, cached=0, generated=2)
    assert engine.is_alive()
    asyncio.run(engine.stop())
    assert not engine.is_alive()
    with pytest.raises(SweepError, match="must be a path or a hub id, got"):
        judge_fingerprint(spec)


@pytest.fixture
def parrots(monkeypatch):
    """The engine of the recipe, each of whose steps is done; sweeps forget it afterwards."""
    monkeypatch.setitem(ENGINES, "parrot", code_of("Add a judge")["ParrotEngine"])
    without = Literal[sweep.WithoutGpu, "parrot"]
    monkeypatch.setattr(sweep, "WithoutGpu", without)
    monkeypatch.setattr(sweep.Judge.model_fields["engine"], "annotation", Literal["vllm", without])
    print_ = Fingerprint(digest="polly", parts={"engine": "parrot"})
    monkeypatch.setattr(resolve, "judge_fingerprint", lambda *_args, **_known: print_)
    for table in (sweep.Judge, sweep.Sweep):
        table.model_rebuild(force=True)
    yield
    monkeypatch.undo()
    for table in (sweep.Judge, sweep.Sweep):
        table.model_rebuild(force=True)


@pytest.mark.usefixtures("parrots")
def test_a_judge_of_its_engine_is_planned_without_a_gpu(tmp_path, capsys):
    file = tmp_path / "sweep.toml"
    (tmp_path / "items.csv").write_text("item_id,question,option_a,option_b\n1,Which?,oak,elm\n")
    file.write_text(
        'name = "p"\n[[judge]]\nname = "polly"\nengine = "parrot"\nmodel = "[[A]]"\n'
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "trees"\npath = "items.csv"\n'
    )
    assert main(["plan", str(file)]) == 0
    told = capsys.readouterr().out
    assert "polly" in told
    assert "GPU" not in told
    assert "gpus = 0" in told


def test_sweeps_may_name_the_engines_that_are_made():
    assert set(get_args(sweep.EngineName)) == set(ENGINES)


@pytest.mark.slow
def test_its_analysis_is_a_verb_a_function_a_section_and_a_page_of_the_reference(
    tmp_path, monkeypatch, capsys
):
    code = code_of("Add an analysis")
    unanimity = as_its_example_says(code["unanimity"], code)
    said = code_of("Add an analysis", 1)
    for name, content in (("", {}), (".verb", code), (".tables", said)):
        module = ModuleType(f"judgerel_ray.analyses.unanimity{name}")
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(VERBS, "unanimity", VERBS.pop("unanimity"))
    VERBS["unanimity"].act.__module__ = "judgerel_ray.analyses.unanimity.verb"  # as in a file
    monkeypatch.setattr(judgerel_ray, "unanimity", unanimity, raising=False)
    monkeypatch.setattr(judgerel_ray, "__all__", [*judgerel_ray.__all__, "unanimity"])
    file, out = tmp_path / "judgments.csv", tmp_path / "shares.json"
    file.write_text("judge,item_id,replication,verdict\n" + "\n".join(
        f"{judge},q{unit},{time},{verdicts[time]}"
        for judge, units in (("a", ("XX", "XY")), ("b", ("XX", "YY", "X")))
        for unit, verdicts in enumerate(units) for time in range(len(verdicts))
    ))  # fmt: skip
    shares = [("a", 2, 0.5), ("b", 2, 1.0)]
    assert unanimity(str(file)).rows() == shares
    assert unanimity(str(file), at_least=1, by="judge").rows() == [shares[0], ("b", 3, 1.0)]
    assert main(["unanimity", str(file), "--format", "json,table", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    named = [dict(zip(("judge", "n_items", "unanimous"), row, strict=True)) for row in shares]
    assert json.loads(out.read_text()) == named
    assert '"unanimous": 0.5' in told
    page = tmp_path / "page.html"
    judgerel_ray.report(str(file), out=str(page))
    text = " ".join(re.sub(r"<[^>]+>", " ", page.read_text("utf-8")).split())
    assert re.search(r"Unanimity .*judge n_items unanimous a 2 0\.5\S* b 2 1", text), text
    assert text.index("What came back") < text.index("Unanimity") < text.index("All coefficients")
    assert "judge  n_items  unanimous" in told
    with pytest.raises(SystemExit):
        main(["unanimity", "--help"])
    assert "--at-least N" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "how many questions have one verdict only" in capsys.readouterr().out
    assert {option.name for option in commands()["unanimity"].params} >= {"by", "at_least", "out"}
    assert "at_least : int" in unanimity.__doc__
    assert "\n## judgerel unanimity\n" in generate.verbs_page()
    columns = generate.columns_page()
    assert "| `unanimous` | Share of them that have one verdict only (0 to 1). |" in columns
    assert set(said["TABLES"]["unanimity"][""].columns) == {"n_items", "unanimous"}
    assert ":: unanimity\n" in generate.api_page("judgerel_ray")


def test_its_benchmark_is_read_planned_and_refused_by_place(tmp_path, monkeypatch, capsys):
    code = code_of("Add a benchmark")
    monkeypatch.setitem(LOADERS, "riddles", as_its_example_says(code["load_riddles"], code))
    file = tmp_path / "riddles.jsonl"
    rows = [{"id": 1, "riddle": "What has keys?", "answer": "A piano"},
            {"id": 2, "riddle": "What runs?", "answer": "A river"}]  # fmt: skip
    file.write_text("\n".join(json.dumps(row) for row in rows))
    items = load_items("riddles", str(file))
    assert [(item.item_id, item.gold) for item in items] == [
        ("riddles:1", "A piano"), ("riddles:2", "A river"),
    ]  # fmt: skip
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'name = "r"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\n'
        '[[ask]]\nprotocol = "respond"\nbenchmark = "riddles"\npath = "riddles.jsonl"\n'
        "replications = 3\n"
    )
    assert main(["plan", str(sweep)]) == 0
    assert "6 requests" in capsys.readouterr().out
    file.write_text(json.dumps({"id": 1, "riddle": "What has keys?"}))
    with pytest.raises(SweepError, match=r"answer.*line=1"):
        load_items("riddles", str(file))
    entry = generate.benchmarks_page().partition("\n## `riddles`\n\n")[2]
    assert entry.splitlines() == [
        "Riddles, each with its answer.", "",
        "**`path`**: JSON Lines, CSV or Parquet with `id`, `riddle` and `answer`.", "",
        "**Items**: One a riddle; `item_id` is `riddles:<id>`, `gold` the answer.",
    ]  # fmt: skip


def test_its_coefficient_gets_interval_floor_and_name(tmp_path, monkeypatch, capsys):
    code = code_of("Add a coefficient")
    statistic = code["MAJORITY_SHARE"]
    function = as_its_example_says(code["majority_share"], code)
    assert function([[0, 0]]).undefined == "no_verdicts"
    module = agreement.agreement
    shares = module._agreement_coefficients
    monkeypatch.setattr(module, "_agreement_coefficients", lambda n: (*shares(n), statistic))
    monkeypatch.setitem(COEFFICIENTS, "majority_share", function)
    monkeypatch.setitem(words._NAMES, "majority_share", "majority share")
    # Of three verdicts the most frequent has 2, 3, 2, ...: mean (2/3 + 1) / 2 over six of each.
    rows = ["item_id,replication,verdict"]
    for unit in range(12):
        verdicts = "AAB" if unit % 2 else "BBB" if unit % 4 else "AAA"
        rows += [f"q{unit},{time},{verdict}" for time, verdict in enumerate(verdicts)]
    file = tmp_path / "judgments.csv"
    file.write_text("\n".join(rows))
    (row,) = judgerel_ray.reduce(str(file), coefficients="majority_share", missing="drop").rows(
        named=True
    )
    assert row["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert row["low"] < row["value"] < row["high"]
    assert 1 / 3 < row["noise_floor"] < row["value"]
    assert main(["reduce", str(file), "--coefficient", "majority_share"]) == 0
    assert "majority share" in capsys.readouterr().out


def by_position(path):
    """A file of a judge that names what was shown first, but now and then, in both orders."""
    rows = ["item_id,option_order,replication,verdict,label"]
    for item in range(20):
        for order in range(2):
            for time in range(4):
                place = int(time == item % 7 == order)
                rows.append(f"q{item},{order},{time},{'xy'[(order + place) % 2]},{'AB'[place]}")
    path.write_text("\n".join(rows))
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("states", [True, False])
def test_its_coefficient_passes_no_judge_of_position(states, tmp_path, monkeypatch):
    """Neither with what the recipe states of it, nor where nothing is stated."""
    code = code_of("Add a coefficient")
    statistic = code["MAJORITY_SHARE"]
    assert statistic.pooled
    assert statistic.monotone
    if not states:
        statistic = replace(statistic, pooled=False, monotone=False)
    module = agreement.agreement
    shares = module._agreement_coefficients
    monkeypatch.setattr(module, "_agreement_coefficients", lambda n: (*shares(n), statistic))
    monkeypatch.setitem(COEFFICIENTS, "majority_share", code["majority_share"])
    file = by_position(tmp_path / "judgments.csv")
    found = judgerel_ray.gate(file, require="majority_share >= .7").requirements
    assert found["verdict"].to_list() == ["FAIL" if states else "INCONCLUSIVE"]
    rows = judgerel_ray.reduce(file, coefficients="majority_share")
    kinds = ["reproducibility", "repeatability"] if states else ["repeatability"]
    assert rows["conditions"].to_list() == kinds
    assert (rows["flags"].list.contains("within_one_prompt").any()) is not states
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("item_id,replication,verdict\nq,0,x\nq,1,x\nq,2,\nr,0,y\nr,1,y\nr,2,y\n")
    (ends,) = (
        judgerel_ray.reduce(str(lacking), coefficients="majority_share", missing="bounds")
        .select("low", "high")
        .rows()
    )
    assert ends == (pytest.approx((5 / 6, 1.0)) if states else (None, None))


def plain_share(table):
    """The mean of each unit's largest share, by hand."""
    shares = [max(row) / sum(row) for row in table if sum(row) >= 2]
    return sum(shares) / len(shares) if shares else None


@pytest.mark.slow
def test_its_coefficient_is_asked_for_what_the_recipe_names_and_keeps_the_laws(monkeypatch):
    laws = {path.name: module_of(path) for path in (ROOT / "tests" / "laws").glob("test_*.py")}
    function = code_of("Add a coefficient")["majority_share"]
    monkeypatch.setitem(COEFFICIENTS, "majority_share", function)
    steps = SECTIONS["Add a coefficient"]
    declared = laws["test_coefficients.py"].LAWS, laws["test_independent.py"].PLAIN
    checks = [
        (file, check)
        for file, module in laws.items()
        for name, check in vars(module).items()
        if name.startswith("test_every_coefficient_") and not inspect.signature(check).parameters
    ]
    assert len(checks) >= len(declared)
    for file, check in checks:
        if fails(check):
            assert f"`tests/laws/{file}`" in steps
    for table, entry in zip(declared, ({"relabelling", "perfect"}, plain_share), strict=True):
        monkeypatch.setitem(table, "majority_share", entry)
    assert [file for file, check in checks if fails(check)] == []
    laws["test_independent.py"].test_coefficients_of_counts(name="majority_share")


def fails(check):
    """Whether a test fails."""
    try:
        check()
    except AssertionError:
        return True
    return False
