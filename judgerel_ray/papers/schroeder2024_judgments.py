"""The judgments released with Schroeder and Wood-Doughty (2024), Head-to-Tail included.

The answers put before its judges are read, too, and scored by rules that are stated.
"""

from __future__ import annotations

import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Literal, TypeGuard

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.benchmarks.source import read_records, stem
from judgerel_ray.core import Item, Menu, Outcome, ReadingWarning, SweepError, count_of
from judgerel_ray.core.files import (
    Unpacking,
    is_folder,
    list_folder,
    members_of,
    read_bytes,
    read_member,
)
from judgerel_ray.counting.files.source import read_source, readable, unreadable
from judgerel_ray.papers.schroeder2024_items import load_schroeder2024
from judgerel_ray.papers.summaries import AnsweredQuestion, response_accuracy
from judgerel_ray.protocols import Reading, read_verdict

_TABLES = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson")
"""Tables by their ending; a document of JSON is one, too, where nothing else is meant by it."""


HEAD_TO_TAIL = "head_to_tail"
TABLE = ("question", "replication", "verdict_text")
"""Columns by which a table of these judgments is known."""
TEMPERATURE = 0.75
"""At which all of them were asked, by the authors' script."""
_NAMED = re.compile(r"judge_full_(?P<judge>.+?)_by_(?P<responder>.+)\.json")


def is_application(document: object) -> TypeGuard[Mapping[str, object]]:
    """Tell a released file of the application, ``{question: [text, ...]}``, from the others."""
    first = next(iter(document.values()), None) if isinstance(document, Mapping) else None
    return isinstance(first, list) and bool(first)


def application_rows(
    document: Mapping[str, object], place: str
) -> Iterator[tuple[str | None, float, str, str, int, str, str | None]]:
    """Read the rows of one released file of the application."""
    named = _NAMED.fullmatch(PurePosixPath(place.rpartition(":")[2]).name)
    judge, responder = (
        named[part].replace("_", "/", 1) if named else None for part in ("judge", "responder")
    )
    for question, texts in document.items():
        for replication, text in enumerate(
            _texts_of_paper_question(texts, {"file": place, "question": question})
        ):
            yield judge, TEMPERATURE, question, HEAD_TO_TAIL, replication, text, responder


def application_table(table: pl.DataFrame, path: str) -> pl.DataFrame:
    """Give a table of the application the columns of the others."""
    names = table.columns

    def stated(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.String) if name in names else pl.lit(None, pl.String)

    try:
        return table.select(
            stated("judge").alias("judge"),
            stated("temperature").cast(pl.Float64).fill_null(TEMPERATURE).alias("temperature"),
            stated("question").alias("question_id"),
            pl.lit(HEAD_TO_TAIL).alias("benchmark"),
            stated("replication").cast(pl.Float64).alias("replication"),
            stated("verdict_text").alias("text"),
            stated("responder").alias("responder"),
        )
    except PolarsError as error:
        raise unreadable(path, error) from error


_BENCHMARKS = {"bbh": "bbh", "squad": "squad", "mtb": "mt_bench", "mt_bench": "mt_bench"}
_LETTERS = ("A", "B", "C", "D", "E")
# The released files do not say which model wrote which option: the letter shown is all there is.
_MENU = Menu(labels=_LETTERS, option_ids=_LETTERS, form="best_response", reader="schroeder2024")
_WORDS = ("correct", "incorrect")
_MENUS = {
    "best_of": _MENU,
    "correctness": Menu(
        labels=_WORDS, option_ids=_WORDS, form="correctness", reader="schroeder2024"
    ),
}
_COLUMNS = {
    "judge": pl.String(),
    "temperature": pl.Float64(),
    "question_id": pl.String(),
    "benchmark": pl.String(),
    "replication": pl.Int64(),
    "text": pl.String(),
}
_ROW_SCHEMA = {**_COLUMNS, "responder": pl.String()}
_GREEDY_BELOW = 1e-9  # the authors ask at machine epsilon for want of 0
_TEMPERATURE = "temperature:"


def import_schroeder2024(path: str) -> pl.DataFrame:
    """Read the judgments of [1]_ by their authors' rule.

    Parameters
    ----------
    path : str
        Local, or any fsspec URL: the released ``full_judgments.zip``; one of its files
        (``{judge: {"temperature: 1": {"bbh:navigate": [text, ...]}}}``, one text a replication); or
        a ``.parquet``, ``.csv``, ``.jsonl`` or ``.ndjson`` table with the columns judge,
        temperature, question_id, benchmark, replication and text. Or judgments of the application
        (Head-to-Tail): a file ``judge_full_<judge>_by_<responder>.json``
        (``{question: [text, ...]}``), or a table with question, replication and verdict_text. Or
        the folder of ``prompt_responses`` and ``*_sampled_q``: the answers judged, scored by rules.

    Returns
    -------
    pl.DataFrame
        One row a judgment, in the order of the file, with the columns judge, benchmark (bbh, squad,
        mt_bench or head_to_tail), item_id, protocol (best_of; correctness of head_to_tail),
        temperature (0 for machine epsilon), replication, verdict and label (what was shown),
        outcome: ``scored``, ``unparsed`` where no letter or word is read and ``conflicting`` where
        several letters are, which `schroeder2024` counts apart. Texts are not kept. Of a folder,
        what :func:`.scored_answers` gives.

    Raises
    ------
    SweepError
        If the path cannot be read, is of another layout, or holds a replication twice.

    Notes
    -----
    The application's script passes judge and responder in each other's place: by it, and by the
    numbers, all three released files are of one judge, Vicuna-7B, asked three times over.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> texts = ["Best Response: [[B]]", "[F]: no", "Best Response: A. Best Response: C."]
    >>> released = {"judge/x": {"temperature: 2.22e-16": {"mtb:coding": texts}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "full_judgements_x.json")
    ...     _ = file.write_text(json.dumps(released))
    ...     judgments = import_schroeder2024(str(file))
    >>> judgments.select("benchmark", "temperature", "verdict", "outcome").rows()[1:]
    [('mt_bench', 0.0, None, 'unparsed'), ('mt_bench', 0.0, None, 'conflicting')]
    """
    path = str(path)
    if not _paper_file_ending(path) and is_folder(path):
        return scored_answers(path)
    if _paper_file_ending(path) in _TABLES:
        rows = _paper_release_from_table(path)
    elif _paper_file_ending(path) in (".zip", ".json"):
        released: list[tuple[object, ...]] = []
        for place, document in _read_documents(path):
            released += _rows_of_paper_release(document, place)
        rows = pl.DataFrame(released, schema=_ROW_SCHEMA, orient="row")
    else:
        raise SweepError(
            f"unknown kind of file, expected .zip, .json, {', '.join(_TABLES)}, "
            f"got {_paper_file_ending(path) or 'none'}",
            where={"path": path},
        )
    if rows.is_empty():
        raise SweepError("the file holds no judgments", where={"file": path})
    _refuse_paper_texts_twice(rows, path)
    return _judgments_by_paper_rule(rows)


def _judgments_by_paper_rule(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts replaced by what the authors' rule reads in them."""
    asked = pl.when(pl.col("benchmark") == HEAD_TO_TAIL).then(pl.lit("correctness"))
    rows = rows.with_columns(
        pl.col("text").fill_null(""), asked.otherwise(pl.lit("best_of")).alias("protocol")
    )
    texts = rows.select("protocol", "text")
    read: dict[tuple[str, str], Reading] = {
        (protocol, text): read_verdict(text, finish_reason="stop", menu=_MENUS[protocol])
        for protocol, text in texts.unique().rows()
    }
    readings = [read[row] for row in texts.rows()]
    responders = [] if rows["responder"].null_count() == rows.height else ["responder"]
    labels = pl.Series("label", [reading.label for reading in readings], dtype=pl.String)
    outcomes = [reading.outcome.value for reading in readings]
    return rows.select(
        "judge",
        "benchmark",
        pl.col("question_id").alias("item_id"),
        "protocol",
        *responders,
        pl.when(pl.col("temperature") >= _GREEDY_BELOW).then("temperature").otherwise(0.0),
        "replication",
        labels.alias("verdict"),
        labels,
        pl.Series("outcome", outcomes, dtype=pl.String),
    )


def _rows_of_paper_release(document: object, place: str) -> Iterator[tuple[object, ...]]:
    """Rows of one released file, in the order of `_ROW_SCHEMA`."""
    if is_application(document):
        yield from application_rows(document, place)
        return
    for judge, temperatures in _members_of_paper_json(document, place, "judges"):
        for name, questions in _members_of_paper_json(temperatures, place, "temperatures"):
            temperature = _temperature_of_paper_key(name, place)
            for question, texts in _members_of_paper_json(questions, place, "questions"):
                benchmark = _BENCHMARKS.get(question.partition(":")[0])
                if benchmark is None:
                    raise SweepError(
                        f"a question must start with bbh, squad or mtb, got {question!r}",
                        where={"file": place, "judge": judge},
                    )
                where = {"file": place, "judge": judge, "question": question}
                for replication, text in enumerate(_texts_of_paper_question(texts, where)):
                    yield judge, temperature, question, benchmark, replication, text, None


def _members_of_paper_json(value: object, place: str, what: str) -> Iterator[tuple[str, object]]:
    """Members of a JSON object."""
    if not isinstance(value, Mapping) or not value:
        raise SweepError(
            f"expected an object of {what}, got {type(value).__name__}",
            where={"file": place},
            hint='{judge: {"temperature: 1": {"bbh:navigate": [text, ...]}}}',
        )
    yield from value.items()


def _texts_of_paper_question(value: object, where: Mapping[str, object]) -> list[str]:
    """The texts of one question."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise SweepError("a question must hold a list of texts, one a replication", where=where)
    return value


def _temperature_of_paper_key(name: str, place: str) -> float:
    """The number of a key such as ``temperature: 0.25``."""
    try:
        number = float(name.removeprefix(_TEMPERATURE))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise SweepError(
            f"expected a key such as 'temperature: 0.25', got {name!r}", where={"file": place}
        )
    return number


def _paper_release_from_table(path: str) -> pl.DataFrame:
    """A table in the types of `_COLUMNS`, its rows checked."""
    table = _read_paper_table(path)
    if set(TABLE) <= set(table.columns):
        return _checked_paper_rows(application_table(table, path), path)
    lacking = [name for name in _COLUMNS if name not in table.columns]
    if lacking:
        raise SweepError(
            f"column missing: {', '.join(lacking)}; got {', '.join(table.columns)}",
            where={"file": path},
        )
    single = table.schema["temperature"] == pl.Float32
    try:
        # Text first: categories and numbers written as text are both understood.
        typed = table.select(
            pl.col(name).cast(pl.String).cast(pl.Float64 if kind.is_numeric() else kind)
            for name, kind in _COLUMNS.items()
        )
    except PolarsError as error:
        raise unreadable(path, error) from error
    # 0.7 in single precision is 0.699999988: not the temperature anyone asked for.
    number = pl.col("temperature").round(6) if single else pl.col("temperature")
    known = pl.col("benchmark").replace_strict(_BENCHMARKS, default=None, return_dtype=pl.String)
    typed = typed.with_columns(number, known, pl.lit(None, pl.String).alias("responder"))
    broken = typed.select(pl.col("judge").is_null().arg_true()).to_series()
    if not broken.is_empty():
        raise SweepError("judge is missing", where={"file": path, "row": broken[0] + 1})
    return _checked_paper_rows(typed, path)


def _checked_paper_rows(typed: pl.DataFrame, path: str) -> pl.DataFrame:
    """The rows, none of which says something impossible."""
    replication, temperature = pl.col("replication"), pl.col("temperature")
    rules = {
        "question_id is missing": pl.col("question_id").is_not_null(),
        "benchmark must be bbh, squad or mt_bench": pl.col("benchmark").is_not_null(),
        "temperature must be a number from 0 on": temperature.is_between(0, 1e9),
        "replication must be a whole number from 0 on": replication.is_between(0, 1e9)
        & (replication == replication.floor()),
    }
    for what, rule in rules.items():
        broken = typed.select(rule.fill_null(False).not_().arg_true()).to_series()
        if not broken.is_empty():
            raise SweepError(what, where={"file": path, "row": broken[0] + 1})
    return typed.cast({"replication": pl.Int64})


def _refuse_paper_texts_twice(rows: pl.DataFrame, path: str) -> None:
    """Refuse two texts for the same replication."""
    key = ["judge", "temperature", "question_id", "replication"]
    twice = rows.filter(rows.select(key).is_duplicated()).head(1)
    if not twice.is_empty():
        first = twice.select(key).row(0, named=True)
        raise SweepError(
            "the file holds a replication more than once", where={"file": path, **first}
        )


RULES: tuple[Literal["as_coded", "whole_answer"], ...] = ("as_coded", "whole_answer")
"""Ways to score an answer; each takes the place of the judge."""
_SCHEMA = {
    "judge": pl.String(), "definition": pl.String(), "benchmark": pl.String(),
    "item_id": pl.String(), "protocol": pl.String(), "responder": pl.String(),
    "replication": pl.Int64(), "verdict": pl.String(), "label": pl.String(),
    "outcome": pl.String(),
}  # fmt: skip


def scored_answers(folder: str) -> pl.DataFrame:
    r"""Score the released answers to BBH and SQuAD questions by both rules.

    Parameters
    ----------
    folder : str
        With the released ``prompt_responses`` and ``bbh_sampled_q``, ``squad_sampled_q``.

    Returns
    -------
    pl.DataFrame
        One row a rule, question and answering model: ``judge`` is the rule, ``definition`` says it
        in words, ``verdict`` is correct or incorrect.

    Raises
    ------
    SweepError
        If the folder does not hold those files, or one is of another layout.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> asked = {"type": "squad", "prompt": "Context: It is 5.\n Question: What is?\n Answer:",
    ...          "model_responses": {"m1": "It is 5.", "m2": "It is 50."}}
    >>> gold = {"id": "q1", "question": "What is?", "answers": [{"text": "5"}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, content in (("prompt_responses", {"squad:q1": asked}),
    ...                           ("squad_sampled_q", [gold])):
    ...         _ = pathlib.Path(folder, f"{name}.json").write_text(json.dumps(content))
    ...     scored_answers(folder).select("judge", "responder", "verdict").rows()[1::2]
    [('as_coded', 'm2', 'correct'), ('whole_answer', 'm2', 'incorrect')]
    """
    files: tuple[tuple[Literal["bbh", "squad"], str], ...] = (("bbh", "category"), ("squad", "id"))
    items = {item.item_id: item for item in load_schroeder2024(folder)}
    rows: list[tuple[object, ...]] = []
    for benchmark, column in files:
        # In the order of the authors' file of questions: their rule for BBH depends on it.
        names = [
            f"{benchmark}:{record.identifier(column)}"
            for file in list_folder(folder)
            if stem(file) == f"{benchmark}_sampled_q"
            for record in read_records(file)
        ]
        asked = [items[name] for name in names if name in items and items[name].gold is not None]
        for rule in RULES if asked else ():
            rows += _answer_rows(asked, benchmark, rule)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _answer_rows(
    asked: list[Item],
    benchmark: Literal["bbh", "squad"],
    rule: Literal["as_coded", "whole_answer"],
) -> list[tuple[object, ...]]:
    """Rows of one benchmark by one rule, in the order of `_SCHEMA`."""
    answered = [
        AnsweredQuestion(
            question=item.question,
            gold=item.gold or "",
            responses=tuple(option.text or "" for option in item.options),
        )
        for item in asked
    ]
    found = response_accuracy(answered, benchmark=benchmark, rule=rule)
    words = found.rule
    if found.n_stale:
        words += f"; {found.n_stale} of {len(asked)} questions are scored by another's responses"
    scored = Outcome.SCORED.value
    return [
        (rule, words, benchmark, item.item_id, "correctness", option.option_id, 0, verdict, verdict,
         scored)
        for item, right in zip(asked, found.correct_QM.tolist(), strict=True)
        for option, is_right in zip(item.options, right, strict=True)
        for verdict in ("correct" if is_right else "incorrect",)
    ]  # fmt: skip


def _paper_file_ending(path: str) -> str:
    """Lower-case suffix of a path."""
    return PurePosixPath(path).suffix.lower()


def _read_documents(path: str) -> Iterator[tuple[str, object]]:
    """JSON documents of a ``.json`` file or of a zip of them, each with the place it stands at."""
    content = read_bytes(path)
    if _paper_file_ending(path) != ".zip":
        yield path, _parsed_paper_document(content, path)
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # macOS puts a file of attributes beside each member, with the same suffix.
            found, n_copies = members_of(archive)
            members = [
                one
                for one in found
                if _paper_file_ending(one.filename) == ".json"
                and not PurePosixPath(one.filename).name.startswith("._")
            ]
            if not members:
                raise SweepError("the zip holds no .json file", where={"file": path})
            if n_copies:
                note = (
                    f"{count_of(n_copies, 'member')} of {path} stand there again: the last counts"
                )
                warnings.warn(ReadingWarning(note), stacklevel=2)
            unpacking = Unpacking({"file": path})
            for one in members:
                place = f"{path}:{one.filename}"
                yield place, _parsed_paper_document(read_member(archive, one, unpacking), place)
    except (zipfile.BadZipFile, ValueError) as error:
        raise unreadable(path, error) from error


def _read_paper_table(path: str) -> pl.DataFrame:
    """A table of any kind that :func:`judgerel_ray.counting.files.source.read_source` reads."""
    source = read_source(path)
    for note in source.notes:
        warnings.warn(ReadingWarning(note), stacklevel=2)
    with readable(source.where):
        return source.rows.collect()


def _parsed_paper_document(content: bytes, place: str) -> object:
    """A JSON document."""
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SweepError(f"not JSON: {error}", where={"file": place}) from error
    return document
