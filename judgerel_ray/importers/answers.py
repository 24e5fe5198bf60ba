"""The answers that schroeder2024 put before its judges, scored by rules that are stated."""

from __future__ import annotations

from typing import Literal

import polars as pl

from judgerel_ray.benchmarks import load_schroeder2024
from judgerel_ray.benchmarks.source import read_records, stem
from judgerel_ray.core import Item, Outcome
from judgerel_ray.core.files import list_folder
from judgerel_ray.legacy import AnsweredQuestion, response_accuracy

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
            rows += _rows(asked, benchmark, rule)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _rows(
    asked: list[Item],
    benchmark: Literal["bbh", "squad"],
    rule: Literal["as_coded", "whole_answer"],
) -> list[tuple[object, ...]]:
    """Rows of one benchmark by one rule, in the order of `_SCHEMA`."""
    found = response_accuracy(
        [
            AnsweredQuestion(
                question=item.question,
                gold=item.gold or "",
                responses=tuple(option.text or "" for option in item.options),
            )
            for item in asked
        ],
        benchmark=benchmark,
        rule=rule,
    )
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
