"""TruthfulQA as pairs: the best answer to a question, and a false one that was drawn."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.record import Record
from judgerel_ray.benchmarks.rows import read_records
from judgerel_ray.benchmarks.strata import draw_rank
from judgerel_ray.benchmarks.truthfulqa import listed_answers
from judgerel_ray.core import HumanRating, Item, Option

CORRECT, INCORRECT = "correct", "incorrect"


def load_truthfulqa_pairs(path: str, *, seed: int = 1) -> tuple[Item, ...]:
    r"""Read TruthfulQA (Lin et al. 2021; 817 questions) with two responses to each question.

    Parameters
    ----------
    path : str
        The upstream ``TruthfulQA.csv``, or a table with its columns ``Question``, ``Category``,
        ``Best Answer``, ``Correct Answers`` and ``Incorrect Answers``.
    seed : int
        Of the draw of the false answer; that of another question does not depend on it.

    Returns
    -------
    tuple of Item
        One a question: ``options`` are ``correct``, upstream's best answer (the first correct one
        where there is no best), and ``incorrect``, one drawn of those listed as incorrect and not
        as correct, too. ``gold`` is ``correct``, ``category`` upstream's, ``item_id`` is
        ``truthfulqa:<row>:incorrect<n>`` (rows from 0, the false answer's place from 1).

    Raises
    ------
    SweepError
        If the file is of another layout, or a question has no answer of either kind.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "Category,Question,Best Answer,Correct Answers,Incorrect Answers\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "TruthfulQA.csv")
    ...     _ = file.write_text(text + "Maths,Is 7 prime?,Yes it is,Yes it is; It is,No; Never\n")
    ...     drawn = [load_truthfulqa_pairs(str(file), seed=n)[0].options for n in (1, 2)]
    >>> [[option.text for option in options] for options in drawn]
    [['Yes it is', 'Never'], ['Yes it is', 'No']]
    """
    records = read_records(path)
    found = [(_item(record, n, seed), record) for n, record in enumerate(records)]
    return admit(found, path=path)


def _item(record: Record, index: int, seed: int) -> Item:
    """One question with two of its answers."""
    record.require(
        "Question", "Category", "Correct Answers", "Incorrect Answers", hint="name TruthfulQA.csv"
    )
    right = listed_answers(record, "Correct Answers")
    best = (record.optional_text("Best Answer") or "").strip() or next(iter(right), "")
    listed = listed_answers(record, "Incorrect Answers")
    wrong = [one for one in listed if one not in (*right, best)]
    if not best or not wrong:
        raise record.wrong(f"the question has no {'incorrect' if best else 'correct'} answer")
    question = f"truthfulqa:{record.whole('item') if 'item' in record else index}"
    drawn = min(wrong, key=lambda answer: draw_rank(seed, question, answer))
    return Item(
        item_id=f"{question}:incorrect{listed.index(drawn) + 1}",
        benchmark="truthfulqa_pairs",
        category=record.identifier("Category"),
        question=record.text("Question"),
        options=(
            Option(option_id=CORRECT, text=best),
            Option(option_id=INCORRECT, text=drawn),
        ),
        gold=CORRECT,
        ratings=(HumanRating(rater="authors", criterion="truthful", label=CORRECT),),
    )
