"""What the judge that thinks twice says and hears: its tokens, tokenizer and chat templates.

It hears every word of a prompt, most of them as one and the same unknown word. The numbers of
options, of models and of what they chose are heard in their places, and so are the three forms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from demo import judge_tokenizer as tokens
from demo.thinking_design import HIGH, LEVELS, MOST_MODELS, MOST_OPTIONS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

MARKS = tuple(f"\n{place}." for place in range(MOST_OPTIONS))
NUMBERS = tuple(f" {place}" for place in range(MOST_OPTIONS))
MODELS = tuple(f"Model {place}:" for place in range(MOST_MODELS))
LINES = tuple(f"{model} it made its case.\n" for model in MODELS)
TEMPER_WORDS = {"careful": "Be careful.", "hasty": "Be quick."}
ENDS = "\n(End of the options.)"
OPTION, NEXT_OPTION = "Option:", "\n\nOption:"
FIRST_CASE, SECOND_CASE = (
    "\nJustification: it fits the question.",
    "\nJustification: it may fit too.",
)
FINAL, REASON = "Final Answer:", "\nReason: it fits best.\nConfidence:"
SUMMARY, CORRECT = "Evaluation Summary:\n", "\nCorrect Answer:"
VERDICT_CASE = "\nJustification: it fits best.\nJudge Confidence:"
SURE = tuple(f" {level}" for level in (*LEVELS, HIGH))
ASKED = {
    "select": "Option: <its number>",
    "choose": "Final Answer: <number of the option>",
    "compare": "Correct Answer: <number of the option>",
}
"""What the shipped templates say alike of each step's form, which is one token."""
STEPS = tuple(ASKED)
OPENINGS = (
    r"Which options are most likely to be right\?",
    "Narrow the options down to the",
    r"Several models answered this question\.",
    r"The question was put to several models\.",
)
"""What stands right after the options in the shipped templates; heard as the end of the options."""
FIXED = (ENDS, FIRST_CASE, SECOND_CASE, REASON, SUMMARY, VERDICT_CASE)
MORE_TOKENS = (
    *(OPTION, NEXT_OPTION, FINAL, CORRECT, *FIXED, *ASKED.values(), *TEMPER_WORDS.values()),
    *(*MARKS, *NUMBERS, *MODELS, *LINES, *SURE),
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Build the tokenizer of the demo's judge, with the three forms and unknown words."""
    from tokenizers import Regex, normalizers

    number = r" [0-9](?![0-9.]*[0-9])"
    leads = rf"(?:{OPTION}|{FINAL})(?={number}|\z)"
    asked = "|".join(map(re.escape, ASKED.values()))
    tempers = "|".join(map(re.escape, TEMPER_WORDS.values()))
    models = rf"Model [0-{MOST_MODELS - 1}]:(?=\n)"
    # An unknown word that reads like a token, as "high" does, stands without its space.
    alike = rf"(?: (?:[0-9]|0\.[0-9][0-9]|{HIGH})|\n[0-9]\.)(?![^\s\[\]])"
    patterns = [
        rf"\n[0-{MOST_OPTIONS - 1}]\.(?= )",
        *map(re.escape, (*FIXED, *LINES)),
        rf"(?:{CORRECT}|{NEXT_OPTION})(?={number}|\z)",
        rf"\A(?:{tempers})\z",
        *(asked, leads, models),
        rf"(?<=Option:|Answer:){number}",
        rf"(?<=Confidence:) (?:0\.[0-9][0-9](?![0-9])|{HIGH})",
        rf"(?!{alike})[ \n]?(?!{asked}|{leads}|{models})[A-Za-z0-9][^\s\[\]]*",
    ]
    tokenizer = tokens.build_tokenizer(MORE_TOKENS, patterns)
    openings = "|".join(OPENINGS)
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace(
        Regex(rf"\n\n(?:{openings})"), ENDS
    )
    return tokenizer


def chat_template(temper: str) -> str:
    """Write the chat template that gives the judge a temper."""
    temper_words = TEMPER_WORDS.get(temper)
    system = "" if temper_words is None else f"<|system|>{temper_words}{{{{ eos_token }}}}"
    return tokens.CHAT_TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}" + system, 1)
