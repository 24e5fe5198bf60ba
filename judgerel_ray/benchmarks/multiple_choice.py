"""Questions with several options, one of them right: the plain format for tests of one's own."""

from __future__ import annotations

import string

from judgerel_ray.benchmarks.admission import admit_rows
from judgerel_ray.benchmarks.source import Record, excerpt, name_kind
from judgerel_ray.core import Item, Option, SweepError

MULTIPLE_CHOICE = "multiple_choice"
ANSWERS = ("answer", "answer_letter", "answer_text", "answer_from_0", "answer_from_1")
"""Columns that may name the right option; the last two say what they count from."""
LETTERS = string.ascii_uppercase
_NAMES = ("item_id", "question_id", "id")
_INDEX = "answer_index"
_STATE = "name the column answer_from_0 or answer_from_1, by what the number of the first option is"


def load_multiple_choice(path: str) -> tuple[Item, ...]:
    r"""Read questions, the options of each, and which of them is right.

    Parameters
    ----------
    path : str
        Parquet, JSON Lines, CSV or a JSON list with the columns ``question``, the options and the
        answer; and any of ``item_id`` (or ``question_id``, ``id``), ``category``, ``context`` and
        ``benchmark``. The options are ``options``, a list of texts (in a CSV as JSON), or one
        column each: ``A``, ``B``, ... or ``option_1``, ``option_2``, ... (from 0 or 1); there an
        empty cell ends them. The answer is ``answer_letter``; ``answer_text``; ``answer_from_0``
        or ``answer_from_1``, a number that counts the options from there; or ``answer``, a letter
        or an option's text, as long as it can mean one option only.

    Returns
    -------
    tuple of Item
        One a row. ``option_id`` is the option's place from 0 (``"0"``, ``"1"``, ...), and
        ``gold`` the right one's. ``item_id`` is ``multiple_choice:<row>`` (from 0) where the file
        names none; ``category`` is ``all``.

    Raises
    ------
    SweepError
        If a column is missing, an item has fewer than two options, or the answer is none of them
        or may mean several: a number alone does not say what it counts from, and is not guessed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.csv")
    ...     _ = file.write_text("question,A,B,C,answer\nWhich is a fruit?,oak,apple,,B\n")
    ...     item = load_multiple_choice(str(file))[0]
    >>> item.gold, [(option.option_id, option.text) for option in item.options]
    ('1', [('0', 'oak'), ('1', 'apple')])
    """
    return admit_rows(path, _multiple_choice_item)


def options_by_place(texts: tuple[str, ...], record: Record) -> tuple[Option, ...]:
    """Options by their places from 0."""
    if not 2 <= len(texts) <= len(LETTERS):
        raise record.wrong(f"options must be 2 to {len(LETTERS)} texts, got {len(texts)}")
    return tuple(Option(option_id=str(n), text=text) for n, text in enumerate(texts))


def letter_place(record: Record, name: str, n_options: int) -> int:
    """Place of the option whose letter stands in a field."""
    text = record.text(name).strip()
    place = LETTERS.find(text.upper()) if len(text) == 1 else -1
    if not 0 <= place < n_options:
        raise record.wrong(
            f"{name} must be a letter A to {LETTERS[n_options - 1]} of its {n_options} options, "
            f"got text {excerpt(text)}"
        )
    return place


def number_place(record: Record, name: str, n_options: int, *, first: int) -> int:
    """Place of the option whose number stands in a field, counted from `first`."""
    place = record.whole(name) - first
    if not 0 <= place < n_options:
        raise record.wrong(
            f"{name} must be {first} to {first + n_options - 1} of its {n_options} options, "
            f"got {name_kind(record.fields[name])}"
        )
    return place


def _multiple_choice_item(record: Record, row: int) -> Item:
    record.require("question")
    options = options_by_place(_item_option_texts(record), record)
    name = next((name for name in _NAMES if name in record), None)
    return Item(
        item_id=f"{MULTIPLE_CHOICE}:{row}" if name is None else record.identifier(name),
        benchmark=record.optional_text("benchmark") or MULTIPLE_CHOICE,
        category=record.identifier("category") if "category" in record else "all",
        question=record.text("question"),
        context=record.optional_text("context"),
        options=options,
        gold=options[_right_place(record, options)].option_id,
    )


def _item_option_texts(record: Record) -> tuple[str, ...]:
    """Texts of the options, from the list or from the columns."""
    lettered = [name for name in LETTERS if name in record.fields]
    numbered = _numbered_columns(record)
    if "options" in record.fields:
        if lettered or numbered:
            beside = (lettered or numbered)[0]
            raise record.wrong(f"options are given twice: in options and in {beside}")
        return record.all_written("options")
    names = lettered or numbered
    if not names or (lettered and numbered):
        raise record.wrong(
            "expected the options in a list options, or in columns A, B, ... or option_1, "
            f"option_2, ..., got {' '.join(map(str, record.fields))}"
        )
    if lettered and lettered != list(LETTERS[: len(lettered)]):
        raise record.wrong(f"columns of options must be A, B, ... on, got {' '.join(lettered)}")
    texts = [record.written(name) if name in record else None for name in names]
    there = [text for text in texts if text is not None]
    if texts[: len(there)] != there:
        gap = names[texts.index(None)]
        raise record.wrong(f"{gap} is empty, and an option stands behind it")
    return tuple(there)


def _numbered_columns(record: Record) -> list[str]:
    """Columns ``option_<number>`` in the order of their numbers, without a gap."""
    stems = {
        name: name.removeprefix("option_") for name in record.fields if name.startswith("option_")
    }
    numbers = sorted((int(stem), name) for name, stem in stems.items() if stem.isdecimal())
    if numbers:
        expected = list(range(numbers[0][0], numbers[0][0] + len(numbers)))
        if [n for n, _ in numbers] != expected or numbers[0][0] > 1:
            raise record.wrong(
                "columns of options must be numbered from 0 or 1 without a gap, got "
                f"{' '.join(name for _, name in numbers)}"
            )
    return [name for _, name in numbers]


def _right_place(record: Record, options: tuple[Option, ...]) -> int:
    present = [name for name in ANSWERS if name in record]
    if len(present) != 1:
        raise _item_answer_column_fault(record, present)
    name = present[0]
    match name:
        case "answer_letter":
            return letter_place(record, name, len(options))
        case "answer_from_0" | "answer_from_1":
            return number_place(record, name, len(options), first=int(name[-1]))
        case "answer_text":
            places = _item_option_text_places(record.written(name), options)
        case _:
            places = _possible_places(record, options)
    if len(places) != 1:
        raise record.wrong(
            f"{name} must be one of its {len(options)} options, got "
            f"{name_kind(record.fields[name])}, which is "
            + (f"{len(places)} of them" if places else "none of them"),
            hint="state the option in answer_letter, answer_from_0 or answer_from_1",
        )
    return places.pop()


def _item_answer_column_fault(record: Record, present: list[str]) -> SweepError:
    """What is wrong where not exactly one column names the answer."""
    if present:
        return record.wrong(f"the answer is given twice: in {' and in '.join(present)}")
    if _INDEX in record:
        return record.wrong(f"{_INDEX} does not say what it counts from", hint=_STATE)
    empty = [name for name in ANSWERS if name in record.fields]
    if empty:
        return record.wrong(f"{empty[0]} must name the right option, got nothing")
    return record.wrong(f"missing column: expected one of {' '.join(ANSWERS)}")


def _possible_places(record: Record, options: tuple[Option, ...]) -> set[int]:
    """Places an answer may mean: by its letter, and by the text of an option."""
    text = record.written("answer")
    places = _item_option_text_places(text, options)
    stripped = text.strip()
    if len(stripped) == 1 and 0 <= LETTERS.find(stripped.upper()) < len(options):
        places.add(LETTERS.find(stripped.upper()))
    # A number may count the options, too, from 0 or from 1.
    if stripped.isdecimal() and (not places or int(stripped) <= len(options)):
        raise record.wrong(
            f"answer {excerpt(stripped)} is a number, and does not say what it counts from",
            hint=_STATE + ("; or answer_text" if places else ""),
        )
    return places


def _item_option_text_places(text: str, options: tuple[Option, ...]) -> set[int]:
    return {n for n, option in enumerate(options) if option.text.strip() == text.strip()}
