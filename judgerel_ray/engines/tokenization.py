"""Messages to token ids, with the chat template of a judge.

A chat template writes the special tokens itself, so its text is encoded without adding any; plain
text gets the tokenizer's own. Doing both gives a prompt with two beginnings, which most models
answer worse and none complains about.

An engine encodes with the tokenizer of transformers. Where a sweep is planned, counting a prompt
must not cost the seconds, nor the torch, that importing transformers does: there tokenizer and chat
template come from the files of the model's folder, and what a file may say is read as transformers
reads it.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from judgerel_ray.core import Condition, Message, RequestRefused, SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec, Prepared
from judgerel_ray.protocols import as_plain, may_think, opening_mark

if TYPE_CHECKING:
    from jinja2 import Template


_KEPT_PROMPTS = 256  # one item's prompts come back at every temperature, next to each other
_CONTEXT_TOKENS = 8
_PromptStart = tuple[tuple[Message, ...], str]


class Tokenizer(Protocol):
    """The part of a Hugging Face tokenizer that is used here."""

    def get_chat_template(self) -> str:
        """Return the model's own template, or raise ValueError."""
        ...

    def apply_chat_template(
        self,
        conversation: list[dict[str, str]],
        *,
        chat_template: str,
        tokenize: bool,
        add_generation_prompt: bool,
        **options: JSON,
    ) -> str:
        """Render a conversation as text."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Turn text into token ids."""
        ...

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> str:
        """Turn token ids into text."""
        ...


class PromptEncoder:
    """Renders and encodes prompts; keeps the latest, since stages and temperatures repeat them."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        chat_template: str | None,
        template_options: Mapping[str, JSON] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._template = chat_template
        self._options = dict(template_options or {})
        self._kept: OrderedDict[_PromptStart, tuple[str, tuple[int, ...]]] = OrderedDict()

    @property
    def chat_template_sha256(self) -> str | None:
        """Digest of the template in use, None for plain text."""
        return None if self._template is None else sha256(self._template.encode()).hexdigest()

    def encode(self, prompt: tuple[Message, ...], start: str = "") -> tuple[str, tuple[int, ...]]:
        """Return the text a model sees and its token ids; RequestRefused if it cannot be said.

        `start` is what the judge's own turn holds already.
        """
        asked = prompt, start
        if asked in self._kept:
            self._kept.move_to_end(asked)
            return self._kept[asked]
        text = (as_plain(prompt) if self._template is None else self._render(prompt)) + start
        self._kept[asked] = text, self._tokens(text)
        if len(self._kept) > _KEPT_PROMPTS:
            self._kept.popitem(last=False)
        return self._kept[asked]

    def thinking(self, text: str) -> tuple[str, bool]:
        """Find the mark by which a rendered prompt opens a thought; whether the judge may think."""
        return opening_mark(text), may_think(text, self._template)

    def prepare(self, condition: Condition, *, longest: int) -> Prepared:
        """Encode what a condition asks and scores; RequestRefused if it can never be answered.

        ``prompt_too_long`` where prompt and new tokens exceed `longest`, ``opens_thought`` where a
        verdict would be scored inside a thought, or what :meth:`encode` and :meth:`continuations`
        refuse.
        """
        scoring = condition.scoring
        start = scoring.start if scoring else ""
        text, ids = self.encode(condition.prompt, start)
        opened, thinks = self.thinking(text.removesuffix(start))
        if opened and start:
            raise RequestRefused(
                f"opens_thought: the chat template ends in {opened}, so that {start!r} would be "
                "scored inside a thought",
                hint="engine_options.chat_template_kwargs = { enable_thinking = false }",
            )
        followed_by: tuple[tuple[int, ...], ...] = ()
        n_new = condition.max_tokens
        if scoring is not None and scoring.kind not in ("tree", "verdict"):
            followed_by = self.continuations(text, ids, scoring.continuations)
            n_new = max(map(len, followed_by), default=0) + 1
        if len(ids) + n_new > longest:
            raise RequestRefused(
                f"prompt_too_long: {len(ids)} prompt + {n_new} new tokens > {longest}",
                where={"prompt_tokens": len(ids)},
            )
        return Prepared(
            condition_key=condition.condition_key,
            text=text,
            token_ids=ids,
            prompt_tokens=len(ids),
            continuations=followed_by,
            opened=opened,
            may_think=thinks,
        )

    def continuations(
        self, text: str, ids: tuple[int, ...], texts: Sequence[str]
    ) -> tuple[tuple[int, ...], ...]:
        """Return the tokens that texts add to a prompt, each as it is written right behind it."""
        found = []
        for each in texts:
            whole = self._tokens(text + each)
            if whole[: len(ids)] != ids:
                raise RequestRefused(
                    f"option_merges: the tokenizer joins {each!r} with the end of the prompt",
                    where={"prompt_ends": text[-20:]},
                )
            if len(whole) == len(ids):
                raise RequestRefused(f"option_empty: {each!r} adds no token to the prompt")
            found.append(whole[len(ids) :])
        for n, one in enumerate(found):
            for m, other in enumerate(found):
                if n != m and other[: len(one)] == one:
                    raise RequestRefused(
                        f"options_alike: the tokens of {texts[n]!r} begin those of {texts[m]!r}"
                    )
        return tuple(found)

    def token_texts(self, ids: Sequence[int]) -> list[str]:
        """Return the text of each token by itself."""
        return [self._tokenizer.decode([token], skip_special_tokens=False) for token in ids]

    def text_after(self, ids: Sequence[int], new: Sequence[int], *, special: bool = False) -> str:
        """Return the text that new tokens add to a prompt, as an engine writes it."""
        # Some tokenizers drop the first blank of a text: seen behind the prompt's end, it stays.
        before = list(ids[-_CONTEXT_TOKENS:])
        whole = self._tokenizer.decode([*before, *new], skip_special_tokens=not special)
        return whole[len(self._tokenizer.decode(before, skip_special_tokens=not special)) :]

    def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=self._template is None))

    def _render(self, prompt: tuple[Message, ...]) -> str:
        """Write the conversation in the template's words."""
        from jinja2.exceptions import TemplateError

        if self._template is None:
            raise ValueError("_render: chat_template must be text, got None")
        try:
            return self._tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in prompt],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
                **self._options,
            )
        except TemplateError as error:  # "system role not supported", "roles must alternate"
            raise RequestRefused(
                f"chat_template_failed: {error}",
                hint="give this judge chat_template = false or a template of its own",
            ) from error


def chat_template_text(spec: EngineSpec, tokenizer: Tokenizer) -> str | None:
    """Find the template a judge speaks through."""
    if spec.chat_template is False:
        return None
    if spec.chat_template is True:
        try:
            return tokenizer.get_chat_template()
        except ValueError as error:
            raise SweepError(
                "chat_template must be false or a path, got true: the model has none of its own",
                where={"judge": spec.name, "model": spec.model},
                hint="chat_template = false for a base model, or the path of a Jinja file",
            ) from error
    return template_file(spec)


def template_file(spec: EngineSpec) -> str:
    """Read the Jinja file a judge names; SweepError if it is not there."""
    try:
        return Path(str(spec.chat_template)).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SweepError(
            f"chat_template must be a readable file, got {spec.chat_template!r}",
            where={"judge": spec.name},
        ) from error


def template_options(spec: EngineSpec) -> Mapping[str, JSON]:
    """Extra variables of a judge's chat template, such as ``enable_thinking``."""
    options = spec.engine_options.get("chat_template_kwargs", {})
    if not isinstance(options, Mapping):
        raise SweepError(
            f"engine_options.chat_template_kwargs must be a table, got {options!r}",
            where={"judge": spec.name},
        )
    return options


_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token")
# Marks the assistant's part for training; to what is written it is a plain block.
_GENERATION = re.compile(r"(\{%[-+]?\s*)(end)?generation(\s*[-+]?%\})")


class FolderTokenizer:
    """The part of a tokenizer that prompts need, from ``tokenizer.json`` and files beside it."""

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
        special = {name: _special_token_text(self._settings.get(name)) for name in _SPECIAL}
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
    """Compile a chat template with what all of them may use; jinja2 errors if it is broken."""
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
    """Text of a model's file that must hold a JSON object; SweepError naming it otherwise."""
    where = {"judge": spec.name, "file": file}
    try:
        text = file.read_text(encoding="utf-8")
        whole = isinstance(json.loads(text), dict)
    except (OSError, ValueError) as error:
        raise SweepError(f"cannot read the model's file: {error}", where=where) from error
    if not whole:
        raise SweepError("the model's file is not a JSON object", where=where)
    return text


def _special_token_text(token: object) -> str | None:
    """Text of a special token, written as text or as a table with its content."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) else None
