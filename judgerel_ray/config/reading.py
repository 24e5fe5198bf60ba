"""From the text of a sweep file to a frozen :class:`Sweep`, or one line that says what is wrong.

Also turns a sweep that samples verdicts into one that asks for their distributions, as
``judgerel exact`` does.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from judgerel_ray.config.asks import OTHERS_KEY
from judgerel_ray.config.sweep import Sweep
from judgerel_ray.core import SweepError, count_of, decoded
from judgerel_ray.core.files import read_regular
from judgerel_ray.core.text import nearest_name
from judgerel_ray.protocols.ask import NUMBER, TABLE, AskTable
from judgerel_ray.protocols.registry import protocol_named, protocol_names

TableT = TypeVar("TableT", bound=BaseModel)
KeyPath = Sequence[int | str]
PROGRAM_FIELDS = frozenset({"folder", "text"})  # of a Sweep, and no keys of its file
LONGEST_SHOWN = 80
_OF_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
OPTION_KINDS = frozenset({"dict", "list", "str", "bool", "int", "float", "none"})
BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
    "string_too_long": ("max_length", "a text, its length at most"),
    "too_short": ("min_length", "a list of tables, at least"),
}
KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_pattern_mismatch": "letters, digits and . _ : + - from a letter or digit on",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "finite_number": "a finite number",
    "invalid-json-value": "text, a number, true or false, a list or a table",
}


def read_sweep(path: str | Path) -> Sweep:
    """Read and check a sweep file.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    Sweep
        Frozen, with every default filled in.

    Raises
    ------
    SweepError
        If the file is missing, no TOML, or wrong; the message names the key.

    Examples
    --------
    >>> try:
    ...     read_sweep("no-such.toml")
    ... except SweepError as error:
    ...     print(error)
    no such sweep file [file=no-such.toml]. Try: name an existing .toml file
    """
    if Path(path).suffix.lower() in _OF_TABLES and Path(path).is_file():
        raise SweepError(
            "a table is no sweep file, which is TOML",
            where={"file": str(path)},
            hint=f"judgerel init {shlex.quote(str(path))}, which writes a sweep about it",
        )
    text = file_text(path, "sweep")
    return parse_sweep(text, source=str(path), folder=str(Path(path).resolve().parent))


def file_text(path: str | Path, kind: str) -> str:
    """The text of a sweep or series file."""
    try:
        content = read_regular(path)
    except FileNotFoundError:
        raise SweepError(
            f"no such {kind} file", where={"file": str(path)}, hint="name an existing .toml file"
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SweepError(
            f"cannot read the {kind} file: {(why or str(error)).lower()}",
            where={"file": str(path)}, hint="name an existing .toml file",
        ) from None  # fmt: skip
    return decoded(content, where={"file": str(path)}, lines=True)


def parse_sweep(text: str, *, source: str = "sweep.toml", folder: str = "") -> Sweep:
    """Check the text of a sweep file.

    Raises
    ------
    SweepError
        If the text is no TOML or no sweep.

    Examples
    --------
    >>> sweep = parse_sweep('''
    ... name = "s"
    ... [[judge]]
    ... name = "uniform"
    ... engine = "simulated"
    ... model = "uniform"
    ... gpus = 0
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "demo"
    ... path = "items.parquet"
    ... temperatures = [1.0, 2.2e-16]
    ... ''')
    >>> sweep.ask[0].temperatures
    (1.0, 0.0)
    """
    return checked_table(Sweep.current(), text, source=source, folder=folder)


def checked_table(table: type[TableT], text: str, *, source: str, folder: str) -> TableT:
    """Read a TOML text as one whole file of the given kind."""
    content = toml_content(text, source)
    for field_name in PROGRAM_FIELDS & set(content):
        raise SweepError(
            f"{field_name} is not a key of a {table.__name__.lower()}", where={"file": source}
        )
    try:
        return table.model_validate({**content, "folder": folder, "text": text})
    except ValidationError as error:
        raise first_problem(error, source, table) from None


def toml_content(text: str, source: str) -> dict[str, Any]:
    """What a TOML text holds.

    Examples
    --------
    >>> toml_content("a = 1", "s.toml")
    {'a': 1}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError(
            f"not TOML: {error}", where={"file": source}, hint="check quotes and brackets there"
        ) from None
    except RecursionError:
        raise SweepError("not TOML: nested too deeply", where={"file": source}) from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise SweepError("not TOML: a number is too long", where={"file": source}) from None


def first_problem(error: ValidationError, source: str, root: type[BaseModel]) -> SweepError:
    """The first problem of a file in words, and how many more there are; `root` is its table."""
    details = error.errors(include_url=False, include_context=True)
    for detail in details:
        # Which arm of a union was meant is no place in the file.
        place = tuple(part for part in detail["loc"] if part not in (NUMBER, TABLE))
        if place[:1] == ("ask",) and len(place) > 2:
            detail.setdefault("ctx", {})["protocol"] = place[2]
            place = (*place[:2], *place[3:])
        detail["loc"] = place
    # The arms of a union each complain of the same value: one problem, several things expected.
    problems: dict[str, list[ErrorDetails]] = {}
    for detail in details:
        if detail["type"] == "too_short" and detail["input"]:
            continue  # pydantic counts only the rows without problems of their own
        problems.setdefault(_dotted_sweep_key(detail["loc"], root) or detail["msg"], []).append(
            detail
        )
    # An unknown protocol explains unknown keys, and an unknown key the missing one beside it.
    first = min(problems.values(), key=lambda found: _sweep_file_problem_rank(found[0]))
    problem, hint = _sweep_file_problem_words(first, root)
    more = len(problems) - 1
    if more:
        problem = f"{problem} (and {count_of(more, 'more problem')})"
    return SweepError(problem, where={"file": source}, hint=hint)


def _sweep_file_problem_rank(detail: ErrorDetails) -> int:
    """Place of a problem among others."""
    if detail["type"] == "literal_error" and detail["loc"][-1] == "protocol":
        return 0
    return 1 if detail["type"] == "extra_forbidden" else 2


def _sweep_file_problem_words(
    details: Sequence[ErrorDetails], root: type[BaseModel]
) -> tuple[str, str | None]:
    """One problem as (what is wrong, what to try)."""
    detail = details[0]
    place = detail["loc"]
    key = _dotted_sweep_key(place, root)
    if detail["type"] == "extra_forbidden":
        known = _known_sweep_keys_at(place[:-1], detail.get("ctx", {}).get("protocol"), root)
        hint = nearest_name(str(place[-1]), known) or f"one of {', '.join(known)}"
        return f"{key} is not a key of {_table_at(place[:-1], root)}", hint
    if detail["type"] == OTHERS_KEY:
        context = detail["ctx"]
        return (
            f"{key}.{detail['msg']}",
            f"leave it out; {context['protocol']} takes {context['taken']}",
        )
    if detail["type"] == "missing":
        is_list = key in {"judge", "ask", "sweep"}
        return f"{key} is missing", f"add [[{key}]] there" if is_list else f"add {key} = ... there"
    if detail["type"] == "value_error":
        message = detail["msg"].removeprefix("Value error, ")
        return (f"{key}: {message}" if key else message), None
    expected = " or ".join(dict.fromkeys(_expected_sweep_key_value(each) for each in details))
    return (
        f"{key} must be {expected}, got {_shown_sweep_key_value(detail['input'])}",
        _sweep_key_hint(detail, root),
    )


def _expected_sweep_key_value(detail: ErrorDetails) -> str:
    """What a value should have been."""
    kind, limits = detail["type"], detail.get("ctx", {})
    if kind in BOUNDS:
        name, words = BOUNDS[kind]
        if kind == "too_short" and isinstance(detail["input"], dict):
            return "a table that is not empty"
        bound = limits[name]
        is_whole = isinstance(bound, float) and bound.is_integer()
        return f"{words} {int(bound) if is_whole else bound}"
    if kind == "literal_error":
        among = str(limits["expected"]).replace("'", '"')
        return f"one of {among}" if " or " in among else among
    message = detail["msg"].removeprefix("Input should ")
    return KINDS.get(kind, message[0].lower() + message[1:])


def _sweep_key_hint(detail: ErrorDetails, root: type[BaseModel]) -> str | None:
    """What was probably meant."""
    value = detail["input"]
    if detail["type"] == "literal_error" and isinstance(value, str):
        known = str(detail.get("ctx", {}).get("expected", "")).replace("'", "")
        return nearest_name(value, re.split(", | or ", known))
    name = _dotted_sweep_key(detail["loc"], root)
    if detail["type"] == "tuple_type" and isinstance(value, dict):
        return f"write [[{name}]]" if _model_at(detail["loc"], root) else None
    if detail["type"] == "model_type" and isinstance(value, list):
        return f"write [{name}]"
    return None


def _shown_sweep_key_value(value: object) -> str:
    """A value as short as a line allows, with the words of TOML."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def _dotted_sweep_key(place: KeyPath, root: type[BaseModel]) -> str:
    """A place as people write it: judge[0].model."""
    text = ""
    model: type[BaseModel] | None = root
    is_free = False
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        # Below a plain key pydantic names the kinds it tried; a table whose keys are no fields
        # names its own.
        if text and model is None and (not is_free or part in OPTION_KINDS):
            continue
        text += f".{part}" if text else part
        field = model.model_fields.get(part) if model else None
        model = _table_class(field.annotation) if field else None
        is_free = is_free or bool(field and _has_free_keys(field.annotation))
    return text


def _model_at(place: KeyPath, root: type[BaseModel]) -> type[BaseModel] | None:
    """The table class a place lies in."""
    model: type[BaseModel] | None = root
    for part in place:
        if isinstance(part, int) or model is None:
            continue
        field = model.model_fields.get(part)
        model = _table_class(field.annotation) if field else None
    return model


def _table_class(annotation: object) -> type[BaseModel] | None:
    """The table class inside an annotation such as ``tuple[Judge, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in {tuple, Union, UnionType, Annotated}:
        for part in get_args(annotation):
            found = _table_class(part)
            if found:
                return found
    return None


def _has_free_keys(annotation: object) -> bool:
    """Whether an annotation such as ``Mapping[str, float] | None`` holds a table of any keys."""
    return get_origin(annotation) in {dict, Mapping} or any(
        map(_has_free_keys, get_args(annotation))
    )


def _known_sweep_keys_at(place: KeyPath, protocol: str | None, root: type[BaseModel]) -> list[str]:
    """Keys known at a place, in an ask of a protocol."""
    if protocol in protocol_names() and len(place) == len(("ask", 0)):
        return sorted(protocol_named(protocol).table.taken())
    model = _model_at(place, root)
    return sorted(set(model.model_fields) - PROGRAM_FIELDS) if model else []


def _table_at(place: KeyPath, root: type[BaseModel]) -> str:
    """A place's table in words."""
    names = {"judge": "a judge", "ask": "an ask", "sweep": "a sweep"}
    words = [str(part) for part in place if not isinstance(part, int)]
    whole = root.model_config.get("title") or root.__name__.lower()
    return names.get(words[-1], words[-1]) if words else f"a {whole}"


SAMPLING_KEYS = ("replications", "repeat_greedy", "early_stop", "readable")
_SAMPLING_TABLES = tuple(f"ask.{key}" for key in SAMPLING_KEYS)  # replications may be one
_TABLE = re.compile(r"\s*\[\[?\s*([\w.\-]+)\s*\]\]?\s*(?:#.*)?$")


def _sweep_ask_samples(ask: AskTable) -> bool:
    """Whether an ask samples verdicts."""
    return bool(ask.mode == "sample" and ask.kind.traits.judges)


def as_exact(sweep: Sweep) -> Sweep:
    """Ask for verdict distributions wherever a sweep samples verdicts.

    Keys of sampling have no meaning there and are left out; an ask that names a mode keeps it.

    Raises
    ------
    SweepError
        If no ask has a distribution to find, or one cannot be explored as it is written, or keys of
        sampling are written otherwise than a line each.

    Examples
    --------
    >>> sweep = parse_sweep('''
    ... name = "s"
    ... judge = [{name = "uniform", engine = "simulated", model = "uniform", gpus = 0}]
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "demo"
    ... path = "items.parquet"
    ... replications = 100
    ... ''')
    >>> as_exact(sweep).ask[0].mode
    'exact'
    """
    lines: list[str] = []
    meant = toml_content(sweep.text, sweep.name)
    for ask, keys in zip(sweep.ask, meant["ask"], strict=True):
        if _sweep_ask_samples(ask):
            for key in SAMPLING_KEYS:
                keys.pop(key, None)
            keys["mode"] = "exact"
    asks = iter(sweep.ask)
    samples = is_head = is_dropped = False
    for line in sweep.text.splitlines():
        table = _TABLE.match(line)
        if table:
            is_head = table[1] == "ask"
            if is_head:
                samples = any(
                    map(_sweep_ask_samples, islice(asks, 1))
                )  # none is left in a text's own lines
            is_dropped = samples and table[1] in _SAMPLING_TABLES
        if is_dropped:
            continue
        key = line.partition("=")[0].strip()
        if samples and is_head and not table and key in (*SAMPLING_KEYS, "mode"):
            continue
        lines.append(line)
        if table and samples and is_head:
            lines.append('mode = "exact"')
    text, source = "\n".join(lines) + "\n", f"{sweep.name}, as judgerel exact asks it"
    if toml_content(text, source) != meant:
        # A text of several lines, a quoted key or asks in one line: lines are not what they seem.
        raise SweepError(
            "keys of sampling cannot be left out of the asks as they are written",
            where={"sweep": sweep.name},
            hint='[[ask]] tables of plain keys, a line each; or write mode = "exact" in them',
        )
    found = parse_sweep(text, source=source, folder=sweep.folder)
    if not any(ask.mode == "exact" for ask in found.ask):
        able = protocol_names(lambda one: "exact" in one.table.taken())
        raise SweepError(
            "no ask of the sweep has a distribution to find",
            where={"sweep": sweep.name},
            hint=f"protocols {', '.join(able)} have one",
        )
    return found
