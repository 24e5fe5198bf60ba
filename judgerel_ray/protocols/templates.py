"""Templates as folders of texts: found by name or path, read, and checked.

A template folder holds ``template.toml`` (``form``, the declared form of the verdict, and
``verdict``, ``"first"`` or ``"last"`` in the reply; ``form`` may be a table that declares a form of
one's own, see :mod:`judgerel_ray.protocols.replies.declared_forms`; for ratings also ``criterion``,
whether ``{criterion}`` stands for its ``"question"``, the default, or its ``"name"``) and the texts
``question.txt``, ``context.txt`` and ``dialogue.txt``; a protocol of several stages has a text for
each beside them. Shipped ones lie in the folder ``templates`` of a protocol; a sweep may name any
other folder by its path.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from judgerel_ray.core import FormSpec, SweepError, decoded, digest
from judgerel_ray.core.files import read_regular
from judgerel_ray.protocols.criteria import check_keys, holds_separator, listed, nearest
from judgerel_ray.protocols.prompts import PLACEHOLDER, RECORDED, Template
from judgerel_ray.protocols.registry import protocol_named, protocol_names
from judgerel_ray.protocols.replies.declared_forms import DECLARED, declared_form

if TYPE_CHECKING:
    from judgerel_ray.protocols.ask import AskKind

_SETTINGS = "template.toml"


def load_template(protocol: str | AskKind, name_or_folder: str) -> Template:
    """Load a shipped template by name, or any folder by path.

    Parameters
    ----------
    protocol : str or AskKind
        ``respond``, ``best_of``, ``correctness``, ``confusion``, ``rating`` or ``think_twice``;
        or the protocol itself, as an ask holds it.
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
    kind = _kind_of(protocol)
    folder = _prompt_template_folder(kind, name_or_folder)
    settings_text, settings, declared = _template_settings(folder, kind)
    texts = _template_texts(folder, kind)
    content = {"settings": settings_text, "texts": texts}
    return Template(
        name=folder.name,
        protocol=kind.name,
        form=DECLARED if declared else settings.get("form"),
        verdict_first=settings.get("verdict") == "first",
        texts=texts,
        sha=digest(content),
        names_criterion=settings.get("criterion") == "name",
        declared=declared,
    )


def shipped_templates(protocol: str | AskKind) -> tuple[str, ...]:
    """Names of the templates that come with the package.

    Examples
    --------
    >>> shipped_templates("best_of")
    ('default', 'paraphrase', 'reason_first')
    """
    found = _kind_of(protocol).templates.glob(f"*/{_SETTINGS}")
    return tuple(sorted(path.parent.name for path in found))


def _kind_of(protocol: str | AskKind) -> AskKind:
    """The protocol that a name is of."""
    if not isinstance(protocol, str):
        return protocol
    known = protocol_names()
    if protocol not in known:
        raise SweepError(
            f"protocol has no templates, expected one of {listed(known)}, got {protocol!r}",
            hint=nearest(protocol, known),
        )
    return protocol_named(protocol)


def _prompt_template_folder(kind: AskKind, name: str) -> Path:
    """Folder of a shipped name or of a path."""
    is_path = holds_separator(name)
    shipped = shipped_templates(kind)
    if not is_path and name in shipped:
        return kind.templates / name
    folder = Path(name).expanduser().resolve()
    if name and folder.is_dir():
        return folder
    if is_path:
        raise SweepError(f"template folder not found: {name!r}", where={"protocol": kind.name})
    raise SweepError(
        f"unknown template, expected one of {listed(shipped)} or a folder, got {name!r}",
        where={"protocol": kind.name},
        hint=nearest(name, shipped),
    )


def _template_settings(folder: Path, kind: AskKind) -> tuple[str, dict[str, str], FormSpec | None]:
    """Text and checked content of ``template.toml``, and the form it declares for itself."""
    path = folder / _SETTINGS
    if not path.is_file():
        raise SweepError(
            f"template folder lacks {_SETTINGS}",
            where={"folder": folder},
            hint='write form = "best_response" and verdict = "first" into it',
        )
    text = _read_template_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError(f"not a TOML file: {error}", where={"file": path}) from error
    check_keys(content, kind.template_keys, {"file": path})
    for key, value in content.items():
        if not isinstance(value, str) and not (key == "form" and isinstance(value, dict)):
            raise SweepError(f"{key} must be text, got {value!r}", where={"file": path})
    declared = _template_declared_form(content, kind, path)
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
    return text, content, declared


def _template_declared_form(
    content: Mapping[str, object], kind: AskKind, path: Path
) -> FormSpec | None:
    """The form that a folder declares for itself; None where it names one that ships."""
    form, where = content.get("form"), {"file": path}
    if form == DECLARED:
        raise SweepError(
            "a form of one's own is a table",
            where=where,
            hint=r"[form] with pattern = '\[\[(?P<verdict>\w+)\]\]' and example = '[[{verdict}]]'",
        )
    if not isinstance(form, dict):
        return None
    if not kind.declared_forms:
        raise SweepError(
            f"protocol {kind.name} reads no form of one's own, expected one of "
            f"{listed(protocol_names(lambda one: one.declared_forms))}",
            where=where,
            hint="a template of its own words, and a form that ships",
        )
    return declared_form(form, kind=kind, where={**where, "table": "form"})


def _template_texts(folder: Path, kind: AskKind) -> dict[str, str]:
    """Checked texts of a folder by question form."""
    known = kind.texts
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in known:
            raise SweepError(
                f"unknown text, expected {listed(f'{form}.txt' for form in known)}, "
                f"got {path.name!r}",
                where={"folder": folder},
                hint=nearest(path.stem, known),
            )
        texts[path.stem] = _read_template_text(path)
        _check_template_placeholders(texts[path.stem], known[path.stem], path)
    if not texts:
        raise SweepError(
            f"template folder has no text, expected {listed(f'{form}.txt' for form in known)}",
            where={"folder": folder},
        )
    missing = [stage for stage in kind.stage_texts if stage not in texts]
    if missing:
        raise SweepError(
            f"template folder lacks {listed(f'{stage}.txt' for stage in missing)}",
            where={"folder": folder, "protocol": kind.name},
        )
    return texts


def _check_template_placeholders(text: str, known: tuple[str, ...], path: Path) -> None:
    """Refuse placeholders that nothing fills, and texts that leave out part of the item."""
    used = [match[2] for match in PLACEHOLDER.finditer(text) if match[2]]
    for name in used:
        if name not in known:
            raise SweepError(
                f"unknown placeholder {{{name}}}, known here: {_placeholders(known)}",
                where={"file": path},
                hint=nearest(name, known) or f"write {{{{{name}}}}} for the text {{{name}}}",
            )
    if text in RECORDED:
        return
    missing = [name for name in known if name not in used]
    if missing:
        raise SweepError(
            f"text lacks {_placeholders(missing)}, so that part of the item would never be shown",
            where={"file": path},
        )


def _read_template_text(path: Path) -> str:
    """Text of a file with one kind of newline and none at the end."""
    return decoded(read_regular(path), where={"file": path}, lines=True).rstrip("\n")


def _placeholders(names: Iterable[str]) -> str:
    """Names in their braces, for messages."""
    return ", ".join(f"{{{name}}}" for name in names)
