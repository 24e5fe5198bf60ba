"""Verbs: the class of a verb's options makes its flags, its parameters and their documentation.

An options class is frozen; each field is one option, described by :func:`flag`. The command line
makes its flags of it, and :func:`verb` the signature and the docstring of the Python function.
Values by name are a mapping in Python and NAME=VALUE on the command line (:func:`by_name`). The
function returns a :class:`judgerel_ray.blocks.result.Result`, which both show or hand on.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from importlib import import_module
from os import PathLike, fspath
from shlex import quote
from textwrap import wrap
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, cast

from judgerel_ray.core.errors import SweepError

ValueT = TypeVar("ValueT")
TablesT = TypeVar("TablesT", covariant=True)
P = ParamSpec("P")
SourceT = TypeVar("SourceT")
Options = TypeVar("Options")
FoundT = TypeVar("FoundT")

Names: TypeAlias = "Sequence[str] | str | None"
"""One name or several; None is the default."""
VerbGroup = Literal["Ask", "Data", "Analyse", "Decide"]
GROUPS: tuple[VerbGroup, ...] = ("Ask", "Data", "Analyse", "Decide")
Prints = Literal["", "json", "plan", "format", "file", "gate"]
"""Flags of printing: none, ``--json``, ``--json --full``, ``--format``, ``--format --out``,
a gate's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionFlag:
    """How one option is spelled on a command line, and what it means."""

    # What it means, for `--help` and for the docstring, which begins it with a capital: so it
    # begins with no value that may be given.
    help: str
    # What stands for its value; of a positional argument its name, with `...` where it repeats.
    metavar: str | None = None
    # From the text given to the value; from all texts, where it repeats.
    read: Callable[[Any], object] | None = None
    repeats: bool = False  # Whether the flag may be given several times.
    choices: tuple[str, ...] = ()  # The allowed values, where there are no others.


def flag(
    help: str,
    metavar: str | None = None,
    *,
    read: Callable[[Any], object] | None = None,
    repeats: bool = False,
    choices: Sequence[str] = (),
) -> Mapping[str, OptionFlag]:
    """Describe an option: the ``metadata`` of its field; see :class:`OptionFlag`."""
    described = OptionFlag(
        help=help, metavar=metavar, read=read, repeats=repeats, choices=tuple(choices)
    )  # fmt: skip
    return {"flag": described}


def flag_of(option: Field[Any]) -> OptionFlag:
    """The flag that a field of an options class describes."""
    found: OptionFlag = option.metadata["flag"]
    return found


def spelled(option: Field[Any]) -> str:
    """The flag: the field's name with hyphens, singular where it may be given several times."""
    name = option.name.removesuffix("s") if flag_of(option).repeats else option.name
    return "--" + name.replace("_", "-")


def annotation(option: Field[Any]) -> str:
    """The type of a field as it is written, whether annotations are kept as text or not."""
    kind: object = option.type
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def default_shown(option: Field[Any]) -> str | float | tuple[str, ...] | None:
    """The default that is told beside what an option means; None where its meaning tells it."""
    mapping = option.default
    if isinstance(mapping, bool) or mapping in ("", ()):
        return None
    return mapping if isinstance(mapping, str | int | float | tuple) else None


def comma_names(text: str) -> tuple[str, ...]:
    """Names with commas between."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def split_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Names of a flag that repeats, each with commas between or not."""
    return comma_names(",".join(texts))


def names_of(names: Names) -> tuple[str, ...] | None:
    """One name or several as a tuple; None stays."""
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def check_choices(options: object) -> None:
    """Refuse a value that is none of its option's choices."""
    for one in fields(options):  # type: ignore[arg-type]
        known = flag_of(one).choices
        value = getattr(options, one.name)
        if known and value is not None and value not in known:
            raise SweepError(f"{one.name} must be one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Options of verbs that read files of judgments."""

    exact_values: bool = field(
        default=False,
        metadata=flag(
            "for a file: count every spelling as its own verdict (else PASS = pass, 1 = 1.0)"
        ),
    )
    leading_word: bool = field(
        default=False,
        metadata=flag(
            "for a file: read each verdict by the word it begins with (Yes, as ... is Yes)"
        ),
    )
    item_by_row: bool = field(
        default=False,
        metadata=flag("for a file: its k-th row is of the k-th item, which no column names"),
    )
    columns: Mapping[str, str | Sequence[str]] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "for a file: the column that holds NAME (item_id, verdict, judge, ...); a dotted name "
            "reaches into objects, * is every element of a list (votes.*.winner)",
            "NAME=COLUMN",
            repeats=True,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Written):
    """Options of verbs that hold verdicts against each other across orders of the options."""

    verdict_names: str | None = field(
        default=None,
        metadata=flag(
            "for a file with several option_orders and no column label: whether a verdict names "
            "the option or its place",
            "WHAT",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled(Named):
    """Options of verbs that tell right verdicts from wrong ones."""

    labels: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "a table of item_id, label: the right verdict of each item, as a column gold says it",
            "FILE",
        ),
    )


def command_on(name: str, source: object, reading: Written | None = None) -> str | None:
    """Write the command that does another verb on what was read, as it was read.

    None of a frame, of rows from a program, and of what was piped in; an option that the other verb
    lacks is left out.

    Examples
    --------
    >>> command_on("gate", "my log.csv", Labelled(columns={"item_id": "id"}, leading_word=True))
    "judgerel gate 'my log.csv' --leading-word --column item_id=id"
    """
    paths = [source] if isinstance(source, str | PathLike) else source
    if not isinstance(paths, list | tuple) or not all(isinstance(p, str | PathLike) for p in paths):
        return None
    words = [quote(fspath(path)) for path in paths]
    if "-" in words or not words:
        return None
    other = find_verb(name)
    assert other is not None, name
    known = {one.name for one in fields(other.options)}  # type: ignore[arg-type]
    carried = {"scale", *(one.name for one in fields(Labelled))} & known
    for one in fields(reading) if reading else ():
        if one.name not in carried:
            continue
        value = getattr(reading, one.name, None)
        if value is True:
            words.append(spelled(one))
        elif isinstance(value, str | PathLike):
            words += [spelled(one), quote(fspath(value))]
        elif value:
            pairs = value.items() if isinstance(value, Mapping) else [(text, "") for text in value]
            for before, after in pairs:
                joined = f"{before}={joined_names(after)}" if after else fspath(before)
                words += [spelled(one), quote(joined)]
    return " ".join(["judgerel", name, *words])


FORCE = flag(
    "replace the file of --out that is there with other content; input files and files of a run "
    "directory are never replaced, and no folder is made"
)
BY = flag("columns to group by; default those of judge, benchmark, ... that are there", "COLS",
          read=comma_names)  # fmt: skip


class VerbResult(Protocol[TablesT]):
    """What a verb's function returns: :class:`judgerel_ray.blocks.result.Result`."""

    def for_python(self) -> TablesT:
        """What a program is given, once it is warned of what that rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What the command line knows of a function."""

    name: str  # As `judgerel --help` lists it.
    help: str
    group: VerbGroup  # The heading it stands below there.
    options: Callable[..., Any]
    act: Callable[..., Any]  # From what is read and the options to the result.
    source: str  # What is read, as a usage line names it.
    prints: Prints  # Which flags of printing it has.
    examples: tuple[str, ...]  # Two commands on the shipped examples, without the program's name.
    file: str = ""  # Which of several tables `--out` writes; empty where there is one.
    # `module:function` that makes the page's sections, and what it adds to the first screen, from
    # what is measured for a page and what the page is asked of this verb; empty where the page has
    # none. It is imported when a page is made.
    section: str = ""
    # The same of probabilities that a run read, which a page without verdicts has, too: from the
    # judgments as they were opened, the texts of questions, and what the page is asked.
    probabilities: str = ""


VERBS: dict[str, Verb] = {}
"""Verbs whose modules are imported."""
_IMPORT = "import_judgments"
"""The function of `import`, a word that Python keeps for itself."""


def find_verb(name: str) -> Verb | None:
    """The verb of that name, None where there is none; its module alone is loaded.

    Examples
    --------
    >>> find_verb("reduce").group, find_verb("reducing")
    ('Analyse', None)
    """
    homes: dict[str, str] = import_module("judgerel_ray").HOMES
    function = _IMPORT if name == "import" else name
    if name not in VERBS and function in homes:
        import_module(homes[function])
    return VERBS.get(name)


def all_verbs() -> dict[str, Verb]:
    """Every verb by its name, in the order in which `judgerel --help` lists them.

    Examples
    --------
    >>> list(all_verbs())[:3]
    ['init', 'plan', 'run']
    """
    functions: list[str] = import_module("judgerel_ray").__all__
    named = ("import" if name == _IMPORT else name for name in functions)
    return {name: made for name in named if (made := find_verb(name)) is not None}


def verb(
    options: Callable[P, Options],
    *,
    group: VerbGroup,
    help: str,
    examples: tuple[str, ...] = (),
    source: str = "PATH",
    prints: Prints = "file",
    file: str = "",
    section: str = "",
    probabilities: str = "",
    name: str | None = None,
) -> Callable[
    [Callable[[SourceT, Options], VerbResult[FoundT]]], Callable[Concatenate[SourceT, P], FoundT]
]:
    """Make a verb of a function of what is read and of its options.

    The function that stays takes each option as a parameter of its own, and its docstring lists
    them.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Doubling:
    ...     times: int = field(default=1, metadata=flag("how often", "N"))
    >>> from judgerel_ray.blocks.result import Result
    >>> @verb(Doubling, group="Data", help="doubled", name="double-of-a-doctest")
    ... def double(number: int, asked: Doubling) -> Result[int]:
    ...     '''Double a number.'''
    ...     return Result(found=number * 2**asked.times)
    >>> double(3, times=2), VERBS.pop("double-of-a-doctest").source
    (12, 'PATH')
    """

    def made(
        act: Callable[[SourceT, Options], VerbResult[FoundT]],
    ) -> Callable[Concatenate[SourceT, P], FoundT]:
        signed = inspect.signature(act)
        first = next(iter(signed.parameters.values()))
        if source.startswith("["):  # what may be left out
            first = first.replace(default=None)
        asked = list(inspect.signature(options).parameters.values())
        gives = result_type(str(signed.return_annotation))
        signature = signed.replace(parameters=[first, *asked], return_annotation=gives)

        @wraps(act)
        def called(*args: Any, **named: Any) -> FoundT:
            try:
                bound = signature.bind(*args, **named)
            except TypeError as error:  # else it would name the class of the options
                raise TypeError(f"{act.__name__}(): {error}") from None
            bound.arguments.setdefault(first.name, first.default)
            read, *more = bound.args
            asked_for = options(*more, **bound.kwargs)
            return act(read, asked_for).for_python()

        called.__signature__ = signature  # type: ignore[attr-defined]
        called.__doc__ = _with_parameters(act.__doc__ or "", first.name, options)
        VERBS[name or act.__name__] = Verb(
            name=name or act.__name__, help=help, group=group, options=options, act=act,
            source=source, prints=prints, examples=examples, file=file, section=section,
            probabilities=probabilities,
        )  # fmt: skip
        return cast("Callable[Concatenate[SourceT, P], FoundT]", called)

    return made


def result_type(annotation: str) -> str:
    """What a program is given, as the annotation of a verb's function says it.

    Examples
    --------
    >>> result_type("Result[pl.DataFrame]")
    'pl.DataFrame'
    """
    found = re.fullmatch(r"Result\[(.*)\]", annotation)
    return found[1] if found else annotation


def _verb_option_kind_words(option: Field[Any]) -> str:
    """The allowed values and the default, as a docstring names them."""
    words = annotation(option).replace("Names", "str or sequence of str")
    words = words.replace("str | PathLike[str]", "str or path").removesuffix(" | None")
    if known := flag_of(option).choices:
        words = "{" + ", ".join(f'"{one}"' for one in known) + "}"
    mapping = default_shown(option)
    if isinstance(mapping, str):
        return f'{words}, default "{mapping}"'
    if mapping is not None:
        return f"{words}, default {mapping}".replace("'", '"')
    return f"{words}, optional" if option.default in (None, ()) else words


def _verb_option_meaning(option: Field[Any]) -> str:
    """What an option means, as a docstring says it: other options are parameters there."""
    text = re.sub(
        r"--([a-z][a-z-]*)",
        lambda named: f"`{named[1].replace('-', '_')}`",
        flag_of(option).help,
    )
    return f"{text[0].upper()}{text[1:]}."


def _with_parameters(text: str, first: str, options: Callable[..., object]) -> str:
    """A docstring with the options below its other parameters.

    Most verbs read a ``path`` as ``reduce`` does: where theirs is not described, this is said.
    """
    lines = []
    for one in fields(options):  # type: ignore[arg-type]
        lines += [f"    {one.name} : {_verb_option_kind_words(one)}"]
        lines += wrap(
            _verb_option_meaning(one), 100, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
    before, returns, after = text.partition("\n    Returns\n")
    if not returns or not lines:
        return text
    head = "" if "\n    Parameters\n" in before else "\n    Parameters\n    ----------\n"
    if head and first == "path":
        head += "    path : str, path or frame\n        As of :func:`judgerel_ray.reduce`.\n"
    joined = "\n".join(lines)
    return f"{before.rstrip()}\n{head}{joined}\n{returns}{after}"


def by_name(
    mapping: Mapping[str, Any] | Sequence[str] | None,
    flag: str,
    read: Callable[[Any], ValueT],
    *,
    form: str = "NAME=VALUE",
    cut: Callable[[str, str], tuple[str, str, str]] = str.partition,
) -> dict[str, ValueT] | None:
    """Read values by name, however they are given; None stays."""
    if mapping is None:
        return None
    is_text = not isinstance(mapping, Mapping)
    if isinstance(mapping, Mapping):
        pairs = [(name, "=", value) for name, value in mapping.items()]
    else:
        pairs = [cut(text, "=") for text in ([mapping] if isinstance(mapping, str) else mapping)]
    found: dict[str, ValueT] = {}
    for before, sign, value in pairs:
        name = before.strip()
        if not name or name in found or (is_text and not value):
            text = f"{before}{sign}{value}"
            raise SweepError(f"{flag} must be {form}, each name once, got {text!r}")
        try:
            found[name] = read(value)
        except ValueError as error:
            raise SweepError(f"{flag} must be {error}, got {value!r}") from None
    return found


def joined_names(value: object) -> str:
    """A column, or several with commas between, however they are given."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def read_number(value: object) -> float:
    """Read a finite number; underscores may part the digits of its text."""
    try:
        found = float(value.replace("_", "") if isinstance(value, str) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or isinstance(value, bool):
        raise ValueError("a number")
    return found


def check_reachable(name: str, value: float) -> None:
    """Refuse a tolerance that no coefficient can have.

    Examples
    --------
    >>> check_reachable("krippendorff_alpha", 2.0)
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: tolerance for 'krippendorff_alpha' must be at most 1, ...
    """
    if not abs(value) < float("inf"):
        raise SweepError(f"tolerance for {name!r} must be a finite number, got {value}")
    if value > 1:
        raise SweepError(
            f"tolerance for {name!r} must be at most 1, which is all it can be, got {value:g}",
            hint=f"{value / 100:g}, if {value:g} % was meant",
        )
