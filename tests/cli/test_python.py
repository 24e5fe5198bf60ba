"""Python has a function for every verb, with its options and its result."""

import doctest
import inspect
import json
import re
import sys
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.blocks.blocks import Laid
from judgerel_ray.blocks.result import Result
from judgerel_ray.cli import main
from judgerel_ray.cli.parsing import commands
from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import VERBS, Written, flag, flag_of, verb

ASKED = {
    "by": (["--by", "template"], {"by": "template"}),
    "measurement": (
        ["--measurement", "nominal,interval"],
        {"measurement": ["nominal", "interval"]},
    ),
    "items": (["--items", "template"], {"items": "template"}),
    "missing": (["--missing", "bounds"], {"missing": "bounds"}),
    "nuisance": (["--nuisance", "stage"], {"nuisance": "stage"}),
    "verdict_names": (["--verdict-names", "option"], {"verdict_names": "option"}),
    "coefficient": (
        ["--coefficient", "icc1", "--coefficient", "flip_rate"],
        {"coefficients": ["icc1", "flip_rate"]},
    ),
    "block": (["--block", "all"], {"block": "all"}),
    "tolerance": (["--tolerance", "valid_rate=0.5"], {"tolerance": {"valid_rate": 0.5}}),
    "interval": (["--interval", "bootstrap"], {"interval": "bootstrap"}),
    "resamples": (
        ["--interval", "bootstrap", "--resamples", "50"],
        {"interval": "bootstrap", "resamples": 50},
    ),
    "exact_values": (["--exact-values"], {"exact_values": True}),
    "leading_word": (["--leading-word"], {"leading_word": True}),
    "item_by_row": (["--item-by-row"], {"item_by_row": True}),
    "columns": (["--column", "judge=template"], {"columns": {"judge": "template"}}),
    "labels": (
        ["--labels", "LABELS.csv", "--coefficient", "accuracy"],
        {"labels": "LABELS.csv", "coefficients": "accuracy"},
    ),
    "seed": (["--interval", "bootstrap", "--seed", "7"], {"interval": "bootstrap", "seed": 7}),
}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    lines = ["item_id,template,stage,replication,block,score,verdict,outcome"]
    for i in range(40):
        kind, score = ("refused", "") if i % 9 == 5 else ("scored", (i * 7 + i // 4) % 5)
        lines.append(
            f"q{i // 4},{'ab'[i % 2]},{'st'[i % 2]},{i // 2 % 2},{int(i >= 36)},{score},"
            f"{score and 'vV'[i // 2 % 2]}{score},{kind}"
        )
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    path = tmp_path_factory.mktemp("orders") / "orders.csv"
    lines = [f"q{i // 4},{i % 4 // 2},{i % 2},{'AB'[i % 5 < 2]}" for i in range(24)]
    path.write_text("\n".join(["item_id,option_order,replication,verdict", *lines]))
    return str(path)


def test_every_option_has_a_case():
    known = inspect.signature(judgerel_ray.reduce).parameters
    assert {name for _, keywords in ASKED.values() for name in keywords} == set(known) - {"path"}


FUNCTIONS = {"import": "import_judgments"}
"""What a verb is called in Python, where its name is a word of the language."""


@pytest.fixture(scope="module")
def without_options():
    """Rows of a file that nothing is said of, reduced once."""
    return cache(judgerel_ray.reduce)


@pytest.mark.alike(3)
@pytest.mark.parametrize("verb", commands())
def test_every_verb_is_a_function_with_its_flags_as_parameters(verb):
    function = getattr(judgerel_ray, FUNCTIONS.get(verb, verb))
    assert function.__name__ in judgerel_ray.__all__
    parameters = list(inspect.signature(function).parameters.values())
    printing = {"json", "raw_cells", "full"}
    printing |= {"format", "out", "force", "md", "explain"} if "format" in _names(verb) else set()
    assert {one.name for one in parameters[1:]} == _names(verb) - printing - {"read", "help"}
    for one in parameters:
        assert f"\n    {one.name} : " in function.__doc__, one.name


@pytest.mark.parametrize("verb", commands())
def test_docstrings_tell_defaults_and_no_value_otherwise_than_it_is_typed(verb):
    function = getattr(judgerel_ray, FUNCTIONS.get(verb, verb))
    parameters = function.__doc__.partition("\n    Returns\n")[0] + "\n"
    defaults = {
        one.name: re.search(r"\(default ([^)]*)\)$", getattr(one, "help", None) or "")
        for one in commands()[verb].params
    }
    for option in fields(VERBS[verb].options):
        found = re.search(rf"\n    {option.name} : (.*)\n((?: {{8}}.*\n)+)", parameters)
        kind, meaning = found[1], " ".join(found[2].split())
        assert not re.match(r"\w+(,| \(|:|;)", meaning), f"a value with a capital: {meaning}"
        assert "--" not in meaning, meaning
        if told := defaults[option.name]:
            assert all(one in kind for one in ["default", *told[1].split(",")]), kind
        for choice in flag_of(option).choices:
            assert f'"{choice}"' in kind


def _meaning(verb, option):
    """What ``--help`` says of an option."""
    return next(one.help for one in commands()[verb].params if one.name == option)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_the_default_coefficients_are_named_where_they_may_be_chosen(scores):
    files = (scores, judgerel_ray.example("judgments.csv"))
    found = {name for one in files for name in judgerel_ray.reduce(one)["coefficient"]}
    assert {"icc1", "krippendorff_alpha"} < found
    named = set(re.findall(r"\w+", _meaning("reduce", "coefficients")))
    assert {name.partition(":")[0].strip() for name in found} <= named


def test_a_verb_says_what_an_option_does_there():
    assert "the next is asked" in _meaning("cascade", "confidence")
    assert "the next" not in _meaning("panels", "confidence")
    assert "three judges" in _meaning("correct", "labels")  # a page does not compare them
    assert "three judges" not in _meaning("report", "labels")


def _names(verb):
    """Names of what a verb's command takes."""
    return {one.name for one in commands()[verb].params}


@pytest.mark.parametrize("name", sorted({*judgerel_ray.__all__} - {"__version__"}))
def test_every_function_has_an_example_that_is_run_with_its_module(name):
    function = getattr(judgerel_ray, name)
    module = sys.modules[function.__module__]
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    (example,) = [one for one in found if one.name == f"{module.__name__}.{function.__name__}"]
    assert example.examples
    assert Path(example.filename).is_relative_to(Path(judgerel_ray.__file__).parent)


@pytest.mark.parametrize("verb", commands())
def test_the_example_of_every_verb_shows_a_result_on_what_is_shipped(verb):
    function = getattr(judgerel_ray, FUNCTIONS.get(verb, verb))
    (found,) = doctest.DocTestFinder().find(function, verb)
    assert any("example(" in one.source for one in found.examples)
    assert all(one.exc_msg is None for one in found.examples)
    assert found.examples[-1].want


@pytest.mark.alike(9)
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
@pytest.mark.parametrize("option", ASKED)
def test_an_option_gives_the_rows_that_the_command_prints(
    option, scores, orders, without_options, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    labels = "".join(f"q{item},{'AB'[item % 2]}\n" for item in range(10))
    Path("LABELS.csv").write_text(f"item_id,label\n{labels}")
    arguments, keywords = ASKED[option]
    scores = orders if option in ("verdict_names", "labels") else scores
    if option == "item_by_row":
        scores = str(tmp_path / "bare.csv")
        Path(scores).write_text("question,run,verdict\nq,0,x\nq,1,y\nr,0,y\nr,1,y\n")
    if option == "leading_word":
        verdicts = enumerate(("Yes", "Yes, it is", "No", "No: never", "Yes.", "No"))
        rows = "".join(f'q{n // 2},{n % 2},"{text}"\n' for n, text in verdicts)
        scores = str(tmp_path / "reasons.csv")
        Path(scores).write_text(f"item_id,replication,verdict\n{rows}")
    assert main(["reduce", scores, *arguments, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = judgerel_ray.reduce(scores, **keywords)
    assert printed == json.loads(json.dumps(found.to_dicts()))
    assert not found.equals(without_options(scores))


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_mistakes_are_one_line(scores):
    with pytest.raises(SweepError, match="block must be 0 or all, got '1'"):
        judgerel_ray.reduce(scores, block=1)
    with pytest.raises(SweepError, match="unknown coefficient 'alpha'"):
        judgerel_ray.reduce(scores, coefficients="alpha")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingRequest(Written):
    least: int = field(default=0, metadata=flag("rows that there must be", "N"))


def test_a_function_under_the_decorator_is_a_verb_with_all_that_goes_with_it(scores, capsys):
    @verb(CountingRequest, group="Analyse", help="rows, counted", name="counted")
    def counted(path, asked):
        """Count rows."""
        n = pl.read_csv(str(path)).height
        if n < asked.least:
            raise SweepError(f"expected {asked.least} rows, got {n}")
        found = pl.DataFrame({"n": [n]})
        return Result(found=found, tables=found, full=lambda: [Laid(f"{found.height} row")])

    try:
        assert counted(scores, least=3)["n"].to_list() == [40]
        assert main(["counted", scores, "--format", "json,table"]) == 0
        out, err = capsys.readouterr()
        assert (out, err) == ('[\n {"n": 40}\n]\n1 row\n', "")
        assert main(["counted", scores, "--least", "41"]) == 2
        assert capsys.readouterr().err == "judgerel: expected 41 rows, got 40\n"
        with pytest.raises(SystemExit):
            main(["counted", "--help"])
        assert "--least N" in capsys.readouterr().out
        assert counted(path=scores).height == 1
        with pytest.raises(TypeError, match=r"counted\(\): got an unexpected .* 'most'"):
            counted(scores, most=3)
        with pytest.raises(TypeError, match=r"counted\(\): missing a required argument: 'path'"):
            counted(least=3)
    finally:
        VERBS.pop("counted")
