"""From the text of a sweep file to a frozen :class:`Sweep`, or one line that says what is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from judgerel_ray.config.sweep import Sweep
from judgerel_ray.core import SweepError

Place = Sequence[int | str]
OWN_FIELDS = frozenset({"folder", "text"})  # of a Sweep, and no keys of its file


def load_sweep(path: str | Path) -> Sweep:
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
    ...     load_sweep("no-such.toml")
    ... except SweepError as error:
    ...     print(error)
    no such sweep file [file=no-such.toml]. Try: name an existing .toml file
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SweepError(
            "no such sweep file", where={"file": str(path)}, hint="name an existing .toml file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SweepError(
            f"cannot read the sweep file: {error}", where={"file": str(path)}
        ) from None
    return parse_sweep(text, source=str(path), folder=str(file.resolve().parent))


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
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError(
            f"not TOML: {error}", where={"file": source}, hint="check quotes and brackets there"
        ) from None
    for own in OWN_FIELDS & set(content):
        raise SweepError(f"{own} is not a key of a sweep", where={"file": source})
    try:
        return Sweep.model_validate({**content, "folder": folder, "text": text})
    except ValidationError as error:
        raise _one_line(error, source) from None


def _one_line(error: ValidationError, source: str) -> SweepError:
    """The first problem in words, and how many more there are."""
    details = error.errors(include_url=False, include_context=True)
    # An unknown key usually explains the missing one beside it: say that first.
    first = min(details, key=lambda detail: detail["type"] != "extra_forbidden")
    problem, hint = _words(first)
    more = len(details) - 1
    if more:
        problem = f"{problem} (and {more} more problem{'s' if more > 1 else ''})"
    return SweepError(problem, where={"file": source}, hint=hint)


def _words(detail: ErrorDetails) -> tuple[str, str | None]:
    """One problem as (what is wrong, what to try)."""
    place = detail["loc"]
    key = _dotted(place)
    if detail["type"] == "extra_forbidden":
        known = _keys_at(place[:-1])
        close = get_close_matches(str(place[-1]), known, n=1)
        hint = f"{close[0]}" if close else f"one of {', '.join(known)}"
        return f"{key} is not a key of {_table_at(place[:-1])}", hint
    if detail["type"] == "missing":
        return f"{key} is missing", f"add {place[-1]} = ... there"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "value_error":
        return (f"{key}: {message}" if key else message), None
    expected = message[0].lower() + message[1:]
    got = repr(detail["input"])
    return f"{key}: {expected}, got {got[:80]}", None


def _dotted(place: Place) -> str:
    """A place as people write it: judge[0].model."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in {"int", "bool", "str", "literal['auto']"}:  # arms of a union
            text += f".{part}" if text else part
    return text


def _model_at(place: Place) -> type[BaseModel] | None:
    """The table class a place lies in."""
    model: type[BaseModel] | None = Sweep
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
    if get_origin(annotation) in {tuple, Union, UnionType}:
        for part in get_args(annotation):
            found = _table_class(part)
            if found:
                return found
    return None


def _keys_at(place: Place) -> list[str]:
    """Keys known at a place."""
    model = _model_at(place)
    return sorted(set(model.model_fields) - OWN_FIELDS) if model else []


def _table_at(place: Place) -> str:
    """A place's table in words."""
    names = {"judge": "a judge", "ask": "an ask"}
    words = [str(part) for part in place if not isinstance(part, int)]
    return names.get(words[-1], words[-1]) if words else "a sweep"
