"""TruthfulQA: true and false answers to questions that people often get wrong.

As pairs: the best answer to a question, and a false one that was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgerel_ray.benchmarks.admission import admit, admit_rows
from judgerel_ray.benchmarks.criterion import YES_NO, rating_by, under_headings
from judgerel_ray.benchmarks.mix import draw_rank
from judgerel_ray.benchmarks.source import Record, name_kind, read_records
from judgerel_ray.core import HumanRating, Item, Option

_QUESTION = "Is the answer to this question truthful?"
_CRITERION = "truthful"


def load_truthfulqa(path: str) -> tuple[Item, ...]:
    r"""Read TruthfulQA (Lin et al. 2021; 817 questions) as judgments of single answers.

    Parameters
    ----------
    path : str
        The upstream ``TruthfulQA.csv`` (columns ``Question``, ``Category``, ``Best Answer``,
        ``Correct Answers``, ``Incorrect Answers``, the lists divided by semicolons), or the
        upstream ``finetune_truth.jsonl`` of people's labels (``{"prompt": "Q: ...\nA:
        ...\nTrue:", "completion": " yes"}``); either as a Parquet, CSV or JSON table too, the
        latter with ``question``, ``answer`` and ``human_truthful``.

    Returns
    -------
    tuple of Item
        One an answer: ``question`` asks whether it is truthful, ``context`` holds question and
        answer, ``options`` are yes and no, ``gold`` is the right one and ``ratings`` who said so
        (``authors``, or ``human`` for people's labels). ``item_id`` is
        ``truthfulqa:<row>:correct<n>``, ``truthfulqa:<row>:incorrect<n>`` (rows from 0, answers
        from 1), or ``truthfulqa:label:<row>``. ``category`` is upstream's; ``truthful`` for
        people's labels, which have none. An answer listed twice in a row
        counts once; one that upstream lists as correct and as incorrect is left out.

    Raises
    ------
    SweepError
        If the file is of neither layout.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "Category,Question,Best Answer,Correct Answers,Incorrect Answers\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "TruthfulQA.csv")
    ...     _ = file.write_text(text + "Maths,Is 7 prime?,Yes it is,Yes it is; It is,No\n")
    ...     items = load_truthfulqa(str(file))
    >>> [(item.item_id.removeprefix("truthfulqa:"), item.gold) for item in items]
    [('0:correct1', 'yes'), ('0:correct2', 'yes'), ('0:incorrect1', 'no')]
    """
    found = []
    for index, record in enumerate(read_records(path)):
        if "Question" in record.fields:
            found += [(item, record) for item in _truthfulqa_items_of_lists(record, index)]
        else:
            found.append((_labelled_truthfulqa_item(record, index), record))
    return admit(found, path=path)


def _truthfulqa_items_of_lists(record: Record, index: int) -> Iterator[Item]:
    """One item an answer of a row of the question file."""
    record.require("Category", "Correct Answers", "Incorrect Answers")
    row = record.whole("item") if "item" in record else index
    right = listed_answers(record, "Correct Answers")
    best = record.optional_text("Best Answer")
    if best and best.strip() not in right:
        right = [best.strip(), *right]
    wrong = listed_answers(record, "Incorrect Answers")
    both = set(right) & set(wrong)
    for kind, gold, answers in (("correct", "yes", right), ("incorrect", "no", wrong)):
        for n, answer in enumerate(answers, start=1):
            if answer in both:
                continue
            yield _truthfulqa_item(
                f"truthfulqa:{row}:{kind}{n}",
                record.identifier("Category"), record.text("Question"), answer, gold, "authors",
                record,
            )  # fmt: skip


def listed_answers(record: Record, column: str) -> list[str]:
    """Answers of a list divided by semicolons, each once."""
    return list(dict.fromkeys(one.strip() for one in record.text(column).split(";") if one.strip()))


def _labelled_truthfulqa_item(record: Record, index: int) -> Item:
    """One answer with a person's label."""
    if "prompt" in record.fields:
        question, answer = _from_prompt(record)
        gold = record.text("completion").strip().lower()
    else:
        record.require("question", "answer", "human_truthful", hint="name TruthfulQA.csv itself")
        question, answer = record.text("question"), record.text("answer")
        truthful = record.fields["human_truthful"]
        if not isinstance(truthful, bool):
            raise record.wrong(f"human_truthful must be true or false, got {name_kind(truthful)}")
        gold = "yes" if truthful else "no"
    name = f"truthfulqa:label:{index}"
    return _truthfulqa_item(name, _CRITERION, question, answer, gold, "human", record)


def _from_prompt(record: Record) -> tuple[str, str]:
    """Question and answer of a fine-tuning prompt."""
    prompt = record.text("prompt").strip()
    question, found, rest = prompt.removeprefix("Q:").partition("\nA:")
    if not prompt.startswith("Q:") or not found or not rest.rstrip().endswith("True:"):
        raise record.wrong(
            r"prompt must read 'Q: ...\nA: ...\nTrue:'", hint="use finetune_truth.jsonl"
        )
    return question.strip(), rest.rstrip().removesuffix("True:").strip()


def _truthfulqa_item(
    item_id: str, category: str, question: str, answer: str, gold: str, rater: str, record: Record
) -> Item:
    return Item(
        item_id=item_id,
        benchmark="truthfulqa",
        category=category,
        question=_QUESTION,
        context=under_headings(Question=question, Answer=answer),
        options=YES_NO,
        gold=gold,
        ratings=(rating_by(rater, gold, YES_NO, record, criterion=_CRITERION),),
    )


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
    >>> head = "Category,Question,Best Answer,Correct Answers,Incorrect Answers\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "TruthfulQA.csv")
    ...     _ = file.write_text(head + "Maths,Is 7 prime?,Yes it is,Yes it is; It is,No; Never\n")
    ...     drawn = [load_truthfulqa_pairs(str(file), seed=n)[0].options for n in (1, 2)]
    >>> [[option.text for option in options] for options in drawn]
    [['Yes it is', 'Never'], ['Yes it is', 'No']]
    """
    return admit_rows(path, lambda record, n: _truthfulqa_pairs_item(record, n, seed))


def _truthfulqa_pairs_item(record: Record, index: int, seed: int) -> Item:
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
