"""What each key of ``doctor --json`` means."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns

COLUMNS: Columns = {
    "doctor": {
        "": {
            "notes": "How the file was read, where that is not as it is written.",
            "mapping": "Of a table whose columns have other names: a file for import table --map.",
        },
        "machine": {
            "name": "What was looked for: python, base, an extra, gpu, disk or token.",
            "is_there": "Whether it can be used.",
            "found": "What was found, or what is missing.",
            "hint": "What to type where it is missing; null where there is nothing to do.",
        },
        "columns": {
            "column": "Column of the file.",
            "taken_for": "What it is taken for; empty where nothing reads it.",
            "role": "Code of what it is taken for; null where nothing reads it.",
            "n_values": "Different values that it holds.",
            "n_empty": "Rows without a value.",
        },
        "judges": {
            "group": "The group of judgments, in words.",
            "n_items": "Questions.",
            "n_judgments": "Judgments.",
            "valid_rate": (
                "Share of the replies with a verdict (0 to 1); null where it is not known."
            ),
            "doubt": "Why it may be no judging at all; null where nothing says so.",
            "why": "Code of that doubt (few_verdicts, one_answer, ...); null without one.",
            "answer": "The answer that it gives always or nearly so; null of other doubts.",
            "n_answer": "Verdicts that are nearly_one_answer; else null.",
            "n_verdicts": "Verdicts that n_answer is of; else null.",
        },
        "supports": {
            "question": "What one may want to know.",
            "asks": "Code of that: repeats, intervals, facet, position, right or panel.",
            "facet": "The facet that it is of; null of other questions.",
            "counts": "Numbers that the answer rests on, by name.",
            "lacks": "Codes of what is in the way; empty where nothing is.",
            "verb": "The verb that tells it.",
            "is_supported": "Whether these judgments can tell it.",
            "found": "What they have for it, or what is in the way.",
            "unblock": "What would help; null where nothing is in the way.",
        },
    },
}
