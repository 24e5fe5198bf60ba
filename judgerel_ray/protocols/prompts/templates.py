"""Templates: folders of prompt texts, one text a question form.

A template folder holds ``template.toml`` (``form``, the declared form of the verdict, and
``verdict``, ``"first"`` or ``"last"`` in the reply; ``form`` may be a table that declares a form of
one's own, see :mod:`judgerel_ray.protocols.replies.own_forms`; for ratings also ``criterion``,
whether ``{criterion}`` stands for its ``"question"``, the default, or its ``"name"``) and the texts
``question.txt``, ``context.txt`` and ``dialogue.txt``; a protocol of several stages has a text for
each beside them. Shipped ones lie in the folder ``templates`` of a protocol;
a sweep may name any other folder by its path.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from judgerel_ray.core import OwnForm, SweepError, decoded, digest
from judgerel_ray.protocols.registry import protocol_named, protocol_names
from judgerel_ray.protocols.replies.own_forms import OWN, own_form

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
"""``{name}`` is filled (group 2); ``{{name}}`` stands for the text ``{name}`` (group 1)."""
_SETTINGS = "template.toml"
_RECORDED = ("{prediction}", "{response}")
"""Texts that ask what the answer holds and nothing else: prompts recorded in a log, whole."""


@dataclass(frozen=True, slots=True)
class Template:
    """The wording of one protocol.

    ``form`` names the declared form of the verdict (None where none is asked);
    ``verdict_first`` says that the verdict comes before any explanation, so a reply may be cut
    after it. ``texts`` maps a question form to its text and ``sha`` hashes all of the folder.
    ``own`` is the form that a folder declares for itself, ``form`` is then ``own``.
    ``names_criterion`` says that a rating's criterion is given by its name and not its question.
    """

    name: str
    protocol: str
    form: str | None
    verdict_first: bool
    texts: Mapping[str, str]
    sha: str
    names_criterion: bool = False
    own: OwnForm | None = None

    def text(self, form: str) -> str:
        """Text for a question form.

        Raises
        ------
        SweepError
            If the folder has no text for it.

        Examples
        --------
        >>> load_template("respond", "default").text("context").splitlines()[-1]
        'Answer:'
        """
        if form not in self.texts:
            raise SweepError(
                f"template has no text for items of form {form!r}, "
                f"expected {form}.txt, got {_listed(f'{name}.txt' for name in self.texts)}",
                where={"template": self.name, "protocol": self.protocol},
                hint=f"add {form}.txt to the folder, or leave such items out",
            )
        return self.texts[form]


def load_template(protocol: str, name_or_folder: str) -> Template:
    """Load a shipped template by name, or any folder by path.

    Parameters
    ----------
    protocol : str
        ``respond``, ``best_of``, ``correctness``, ``confusion``, ``rating`` or ``think_twice``.
    name_or_folder : str
        A shipped name; or a folder, when it holds a path separator or no shipped template has
        the name and such a folder exists.

    Returns
    -------
    Template
        Named after its folder.

    Raises
    ------
    SweepError
        If protocol, name or folder are unknown, ``template.toml`` is wrong, or a text has an
        unknown placeholder or lacks one.

    Examples
    --------
    >>> template = load_template("best_of", "default")
    >>> template.form, template.verdict_first, sorted(template.texts)
    ('best_response', True, ['context', 'dialogue', 'question'])
    """
    known = protocol_names()
    if protocol not in known:
        raise SweepError(
            f"protocol has no templates, expected one of {_listed(known)}, got {protocol!r}",
            hint=_nearest(protocol, known),
        )
    folder = _folder(protocol, name_or_folder)
    settings_text, settings, own = _settings(folder, protocol)
    texts = _texts(folder, protocol)
    content = {"settings": settings_text, "texts": texts}
    return Template(
        name=folder.name,
        protocol=protocol,
        form=OWN if own else settings.get("form"),
        verdict_first=settings.get("verdict") == "first",
        texts=texts,
        sha=digest(content),
        names_criterion=settings.get("criterion") == "name",
        own=own,
    )


def shipped_templates(protocol: str) -> tuple[str, ...]:
    """Names of the templates that come with the package.

    Examples
    --------
    >>> shipped_templates("best_of")
    ('default', 'paraphrase', 'reason_first')
    """
    found = protocol_named(protocol).templates.glob(f"*/{_SETTINGS}")
    return tuple(sorted(path.parent.name for path in found))


def _folder(protocol: str, name: str) -> Path:
    """Folder of a shipped name or of a path."""
    separators = [mark for mark in (os.sep, os.altsep) if mark]
    is_path = any(mark in name for mark in separators)
    shipped = shipped_templates(protocol)
    if not is_path and name in shipped:
        return protocol_named(protocol).templates / name
    folder = Path(name).expanduser().resolve()
    if name and folder.is_dir():
        return folder
    if is_path:
        raise SweepError(f"template folder not found: {name!r}", where={"protocol": protocol})
    raise SweepError(
        f"unknown template, expected one of {_listed(shipped)} or a folder, got {name!r}",
        where={"protocol": protocol},
        hint=_nearest(name, shipped),
    )


def _settings(folder: Path, protocol: str) -> tuple[str, dict[str, str], OwnForm | None]:
    """Text and checked content of ``template.toml``, and the form it declares for itself."""
    path = folder / _SETTINGS
    if not path.is_file():
        raise SweepError(
            f"template folder lacks {_SETTINGS}",
            where={"folder": folder},
            hint='write form = "best_response" and verdict = "first" into it',
        )
    text = _read(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError(f"not a TOML file: {error}", where={"file": path}) from error
    known = protocol_named(protocol).template_keys
    for key, value in content.items():
        if key not in known:
            raise SweepError(
                f"unknown key, expected one of {_listed(known)}, got {key!r}",
                where={"file": path},
                hint=_nearest(key, known),
            )
        if not isinstance(value, str) and not (key == "form" and isinstance(value, dict)):
            raise SweepError(f"{key} must be text, got {value!r}", where={"file": path})
    own = _own(content, protocol, path)
    verdict = content.get("verdict")
    if verdict not in ("first", "last") and (verdict is not None or "form" in content):
        raise SweepError(
            f"verdict must be 'first' or 'last', got {verdict!r}", where={"file": path}
        )
    if content.get("criterion", "question") not in ("question", "name"):
        raise SweepError(
            f"criterion must be 'question' or 'name', got {content['criterion']!r}",
            where={"file": path},
        )
    return text, content, own


def _own(content: Mapping[str, object], protocol: str, path: Path) -> OwnForm | None:
    """The form that a folder declares for itself; None where it names one that ships."""
    form, where = content.get("form"), {"file": path}
    if form == OWN:
        raise SweepError(
            "a form of one's own is a table",
            where=where,
            hint=r"[form] with pattern = '\[\[(?P<verdict>\w+)\]\]' and example = '[[{verdict}]]'",
        )
    if not isinstance(form, dict):
        return None
    if not protocol_named(protocol).own_forms:
        raise SweepError(
            f"protocol {protocol} reads no form of one's own, expected one of "
            f"{_listed(protocol_names(lambda one: one.own_forms))}",
            where=where,
            hint="a template of its own words, and a form that ships",
        )
    return own_form(form, protocol=protocol, where={**where, "table": "form"})


def _texts(folder: Path, protocol: str) -> dict[str, str]:
    """Checked texts of a folder by question form."""
    known = protocol_named(protocol).texts
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in known:
            raise SweepError(
                f"unknown text, expected {_listed(f'{form}.txt' for form in known)}, "
                f"got {path.name!r}",
                where={"folder": folder},
                hint=_nearest(path.stem, known),
            )
        texts[path.stem] = _read(path)
        _check(texts[path.stem], known[path.stem], path)
    if not texts:
        raise SweepError(
            f"template folder has no text, expected {_listed(f'{form}.txt' for form in known)}",
            where={"folder": folder},
        )
    missing = [stage for stage in protocol_named(protocol).stage_texts if stage not in texts]
    if missing:
        raise SweepError(
            f"template folder lacks {_listed(f'{stage}.txt' for stage in missing)}",
            where={"folder": folder, "protocol": protocol},
        )
    return texts


def _check(text: str, known: tuple[str, ...], path: Path) -> None:
    """Refuse placeholders that nothing fills, and texts that leave out part of the item."""
    used = [match[2] for match in PLACEHOLDER.finditer(text) if match[2]]
    for name in used:
        if name not in known:
            raise SweepError(
                f"unknown placeholder {{{name}}}, known here: {_placeholders(known)}",
                where={"file": path},
                hint=_nearest(name, known) or f"write {{{{{name}}}}} for the text {{{name}}}",
            )
    if text in _RECORDED:
        return
    missing = [name for name in known if name not in used]
    if missing:
        raise SweepError(
            f"text lacks {_placeholders(missing)}, so that part of the item would never be shown",
            where={"file": path},
        )


def _read(path: Path) -> str:
    """Text of a file with one kind of newline and none at the end."""
    return decoded(path.read_bytes(), where={"file": path}, lines=True).rstrip("\n")


def _placeholders(names: Iterable[str]) -> str:
    """Names in their braces, for messages."""
    return ", ".join(f"{{{name}}}" for name in names)


def _listed(names: Iterable[str]) -> str:
    """Names for messages."""
    return ", ".join(names)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, as a hint."""
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else None
