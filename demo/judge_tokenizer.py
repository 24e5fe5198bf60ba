"""The demo judge's tokenizer: whole words, and deaf to everything it does not know.

Its pre-tokenizer keeps the matches of one regular expression and drops the rest of the text, so
a prompt of any length shrinks to option marks, quality words and the marks of the form. Tokens
carry their own spaces and line breaks, so a reply decodes by plain concatenation. A judge that
says or hears more names its further tokens and the patterns of their text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from demo.judge_design import GOOD_WORDS, LETTERS, WORDS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, UNK, BOS, END = "<|pad|>", "<|unk|>", "<|begin|>", "<|end|>"
ROLES = {role: f"<|{role}|>" for role in ("system", "user", "assistant")}
BEST, RESPONSE, OPEN, CLOSE, PLACEHOLDER = "Best", " Response:", " [[", "]]", "letter"
REASON, STOP = "\nIt is", "."
SILENT = ("No verdict", " can be given.")
MARKS = {letter: f"[{letter}]:" for letter in LETTERS}
WORD_TOKENS = {word: f" {word}" for word in WORDS}
LAST_WORDS = {word: f" and {word}." for word in GOOD_WORDS}

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def vocabulary(more: Sequence[str] = ()) -> dict[str, int]:
    """Number every token; special tokens first, further ones last."""
    tokens = [PAD, UNK, BOS, END, *ROLES.values(), *MARKS.values(), *LETTERS]
    tokens += [BEST, RESPONSE, OPEN, CLOSE, PLACEHOLDER, REASON, STOP, *SILENT]
    tokens += [*WORD_TOKENS.values(), *LAST_WORDS.values(), *more]
    return {token: number for number, token in enumerate(tokens)}


def known_text(patterns: Sequence[str] = ()) -> str:
    """Write the regular expression (Oniguruma) of all the text that becomes tokens.

    The marks of the form and the words of a reason are known only in their places: an
    ordinary "Best", "and" or full stop in a prompt is not one of them.
    """
    letters = "".join(LETTERS)
    good = "|".join(GOOD_WORDS)
    after_reason = "|".join(rf"\nIt is {word}" for word in GOOD_WORDS)
    return "|".join(
        [
            rf"\[[{letters}]\]:",
            r"Best(?= Response:)|(?<=Best) Response:|(?<= Response:) \[\[",
            rf"(?<=\[\[)[{letters}](?![A-Za-z])|\A[{letters}]\z",
            rf"(?<=\[\[)letter(?=\]\])|(?<=\[\[letter)\]\]|(?<=\[\[[{letters}])\]\]",
            rf"\nIt is(?= (?:{good})\b)",
            rf"(?<={after_reason})(?:\.| and (?:{good})\.)",
            r"No verdict(?= can be given\.)|(?<=No verdict) can be given\.",
            rf" (?:{'|'.join(map(re.escape, WORDS))})(?![A-Za-z-])",
            *patterns,
        ]
    )


def build_tokenizer(
    more: Sequence[str] = (), patterns: Sequence[str] = ()
) -> PreTrainedTokenizerFast:
    """Build the tokenizer with its chat template; it needs no training.

    Text that a further pattern finds and that is no token by itself is an unknown word.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocab = vocabulary(more)
    inner = Tokenizer(models.WordLevel(vocab, unk_token=UNK))
    inner.add_special_tokens([PAD, UNK, BOS, END, *ROLES.values()])
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(known_text(patterns)), "removed", invert=True)
    inner.decoder = decoders.Fuse()
    inner.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", special_tokens=[(BOS, vocab[BOS])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token=PAD,
        unk_token=UNK,
        bos_token=BOS,
        eos_token=END,
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=4096,
    )
