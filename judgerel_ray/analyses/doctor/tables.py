"""What ``doctor --json`` holds."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Json, List, Schema, SchemasByVerb, String


class DoctorAnswer(Schema):
    """What stands beside the tables."""

    notes = List(String(), "How the file was read, where that is not as it is written.")
    mapping = String("Of a table whose columns have other names: a file for import table --map.")


class MachineParts(Schema):
    """One row per part of this machine: whether it is there."""

    name = String("What was looked for: python, base, an extra, gpu, disk or token.")
    is_there = Bool("Whether it can be used.")
    found = String("What was found, or what is missing.")
    hint = String("What to type where it is missing; null where there is nothing to do.")


class FileColumns(Schema):
    """One row per column of the file: what it is taken for."""

    column = String("Column of the file.")
    taken_for = String("What it is taken for; empty where nothing reads it.")
    role = String("Code of what it is taken for; null where nothing reads it.")
    n_values = Int64("Different values that it holds.")
    n_empty = Int64("Rows without a value.")


class JudgeDoubts(Schema):
    """One row per group of judgments."""

    group = String("The group of judgments, in words.")
    n_items = Int64("Questions.")
    n_judgments = Int64("Judgments.")
    valid_rate = Float64(
        "Share of the replies with a verdict (0 to 1); null where it is not known."
    )
    why = String("Code of that doubt (few_verdicts, one_answer, ...); null without one.")
    answer = String("The answer that it gives always or nearly so; null of other doubts.")
    n_answer = Int64("Verdicts that are nearly_one_answer; else null.")
    n_verdicts = Int64("Verdicts that n_answer is of; else null.")
    doubt = String("Why it may be no judging at all; null where nothing says so.")


class SupportedQuestions(Schema):
    """One row per question: whether these judgments can answer it."""

    question = String("What one may want to know.")
    verb = String("The verb that tells it.")
    is_supported = Bool("Whether these judgments can tell it.")
    found = String("What they have for it, or what is in the way.")
    unblock = String("What would help; null where nothing is in the way.")
    asks = String("Code of that: repeats, intervals, facet, position, right or panel.")
    lacks = List(String(), "Codes of what is in the way; empty where nothing is.")
    facet = String("The facet that it is of; null of other questions.")
    counts = Json("Numbers that the answer rests on, by name.")


TABLES: SchemasByVerb = {
    "doctor": {
        "": DoctorAnswer,
        "machine": MachineParts,
        "columns": FileColumns,
        "judges": JudgeDoubts,
        "supports": SupportedQuestions,
    },
}
