"""A model's tokenizer and chat template from the files of its folder, without transformers.

Counting a prompt where a sweep is planned must not cost the seconds, nor the torch, that importing
transformers does. What a file may say is read as transformers reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec

if TYPE_CHECKING:
    from jinja2 import Template

_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token")
# Marks the assistant's part for training; to what is written it is a plain block.
_GENERATION = re.compile(r"(\{%[-+]?\s*)(end)?generation(\s*[-+]?%\})")


class FolderTokenizer:
    """The part of a tokenizer that prompts need, from ``tokenizer.json`` and the files beside it.

    Parameters
    ----------
    spec : EngineSpec
        The judge, for messages.
    folder : Path
        The folder of its tokenizer.

    Raises
    ------
    SweepError
        If a file that is there cannot be read.
    ImportError
        If the packages tokenizers or jinja2 are missing.
    """

    def __init__(self, spec: EngineSpec, folder: Path) -> None:
        import jinja2  # noqa: F401  told here, or a plan would fail at its first prompt
        from tokenizers import Tokenizer

        file = folder / "tokenizer.json"
        text = checked_json(spec, file)
        if "model" not in json.loads(text):
            raise SweepError(
                "the model's file is no tokenizer: it has no model",
                where={"judge": spec.name, "file": file},
            )
        self._tokenizer = Tokenizer.from_str(text)
        self._tokenizer.no_truncation()  # a limit set for training would hide a prompt's length
        self._tokenizer.no_padding()
        self._folder = folder
        file = folder / "tokenizer_config.json"
        self._settings = json.loads(checked_json(spec, file)) if file.is_file() else {}
        self._compiled: dict[str, Template] = {}

    def get_chat_template(self) -> str:
        """The model's own template; ValueError if it has none."""
        file = self._folder / "chat_template.jinja"
        if file.is_file():
            return file.read_text(encoding="utf-8")
        found = self._settings.get("chat_template")
        if isinstance(found, list):  # several by name
            found = {one.get("name"): one.get("template") for one in found}.get("default")
        if not isinstance(found, str):
            raise ValueError("the model has no chat template")
        return found

    def apply_chat_template(
        self,
        conversation: list[dict[str, str]],
        *,
        chat_template: str,
        tokenize: bool,
        add_generation_prompt: bool,
        **options: JSON,
    ) -> str:
        """Write a conversation in a template's words, as text; `tokenize` must be false."""
        if tokenize:
            raise ValueError("apply_chat_template: tokenize must be False, got True")
        if chat_template not in self._compiled:
            self._compiled[chat_template] = compiled(chat_template)
        special = {name: _content(self._settings.get(name)) for name in _SPECIAL}
        values = {name: text for name, text in special.items() if text is not None}
        return self._compiled[chat_template].render(
            messages=conversation,
            tools=None,
            documents=None,
            add_generation_prompt=add_generation_prompt,
            **{**values, **options},
        )

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Token ids of a text."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=add_special_tokens).ids
        return ids

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> str:
        """Text of token ids."""
        text: str = self._tokenizer.decode(token_ids, skip_special_tokens=skip_special_tokens)
        return text


def compiled(chat_template: str) -> Template:
    """Compile a chat template with what all of them may use; jinja2 errors if it is broken.

    Examples
    --------
    >>> compiled("{% for m in messages %}<{{ m.content }}>{% endfor %}").render(
    ...     messages=[{"content": "Which?"}])
    '<Which?>'
    """
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def tojson(
        value: JSON,
        ensure_ascii: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        # The filter of jinja2 itself escapes what HTML would read.
        return json.dumps(
            value,
            ensure_ascii=ensure_ascii,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().astimezone().strftime(form)
    plain = _GENERATION.sub(
        lambda tag: f"{tag[1]}{'endif' if tag[2] else 'if true'}{tag[3]}", chat_template
    )
    return environment.from_string(plain)


def checked_json(spec: EngineSpec, file: Path) -> str:
    """Text of a model's file that must hold a JSON object; SweepError naming it otherwise.

    Examples
    --------
    >>> checked_json(EngineSpec(name="j", engine="vllm", model="m"), Path("no.json"))
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: cannot read the model's file: ... [judge=j, file=no.json]
    """
    where = {"judge": spec.name, "file": file}
    try:
        text = file.read_text(encoding="utf-8")
        whole = isinstance(json.loads(text), dict)
    except (OSError, ValueError) as error:
        raise SweepError(f"cannot read the model's file: {error}", where=where) from error
    if not whole:
        raise SweepError("the model's file is not a JSON object", where=where)
    return text


def _content(token: object) -> str | None:
    """Text of a special token, written as text or as a table with its content."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) else None
