"""MMLU-Pro: questions with up to ten options, as its authors publish them."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit_all
from judgerel_ray.benchmarks.multiple_choice import letter_place, number_place, options_by_place
from judgerel_ray.benchmarks.source import Record, file_name, known_format, read_records, stem
from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.core.files import is_folder, list_folder

MMLU_PRO = "mmlu_pro"
_PADDING = "N/A"
_SPLIT = "test"


def load_mmlu_pro(path: str) -> tuple[Item, ...]:
    r"""Read MMLU-Pro (Wang et al. 2024; 12,032 test questions of 14 categories).

    Parameters
    ----------
    path : str
        The upstream folder (or its ``data/``), of which the files ``test*`` are read, or one
        file: Parquet, JSON Lines, CSV or a JSON list with ``question_id``, ``question``,
        ``options`` (list), ``answer`` (letter), ``category``, and where it is there
        ``answer_index`` (from 0), which must agree. ``src`` and ``cot_content`` are passed over.

    Returns
    -------
    tuple of Item
        ``item_id`` is ``mmlu_pro:<question_id>``, ``option_id`` the option's place from 0
        (``"0"`` to ``"9"``), ``gold`` the right one's. Options ``N/A`` at the end are padding
        and left out.

    Raises
    ------
    SweepError
        If a file is not of that layout, or the answer is no option; row and field are named.

    Notes
    -----
    Layout by the dataset's card and the files themselves: Wang, Y. et al. (2024), MMLU-Pro,
    arXiv:2406.01574.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"question_id": 70, "question": "Which?", "options": ["oak", "apple", "N/A"],
    ...        "answer": "B", "answer_index": 1, "category": "biology"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "test.jsonl")
    ...     _ = file.write_text(json.dumps(row))
    ...     item = load_mmlu_pro(folder)[0]
    >>> item.item_id, item.gold, len(item.options)
    ('mmlu_pro:70', '1', 2)
    """
    files = _mmlu_pro_test_files(path)
    records = [record for file in files for record in read_records(file)]
    return admit_all([_mmlu_pro_record_item(one) for one in records], records, path=path)


def _mmlu_pro_test_files(path: str) -> tuple[str, ...]:
    """The file itself, or the test files of a folder."""
    if not is_folder(path):
        return (path,)
    inside = list_folder(path)
    if not any(known_format(file) for file in inside):
        inside = next((list_folder(f) for f in inside if file_name(f) == "data"), inside)
    # The validation files are worked examples for prompts, no part of the test.
    files = tuple(file for file in inside if known_format(file) and stem(file).startswith(_SPLIT))
    if not files:
        raise SweepError(
            "expected a folder with files test*.parquet or test*.jsonl, found none",
            where={"folder": path},
            hint="name one file, or the upstream folder data/",
        )
    return files


def _mmlu_pro_record_item(record: Record) -> Item:
    record.require("question_id", "question", "options", "answer", "category")
    listed = record.all_written("options")
    right = letter_place(record, "answer", len(listed)) if listed else 0
    n_options = len(listed)
    while n_options and listed[n_options - 1].strip() == _PADDING:
        n_options -= 1
    if listed and right >= n_options:
        raise record.wrong(
            f"answer must be one of the {n_options} options that are not padding, got "
            f"{record.text('answer')!r}, which is {_PADDING}"
        )
    options = options_by_place(listed[:n_options], record)
    if "answer_index" in record:
        index = number_place(record, "answer_index", n_options, first=0)
        if index != right:
            raise record.wrong(
                f"answer_index must be {right}, as answer is {record.text('answer')!r}, got {index}"
            )
    return mmlu_pro_item(record, options, right)


def mmlu_pro_item(record: Record, options: tuple[Option, ...], right: int) -> Item:
    """Make an item of a record with ``question_id``, ``category`` and ``question``."""
    return Item(
        item_id=f"{MMLU_PRO}:{record.identifier('question_id')}",
        benchmark=MMLU_PRO,
        category=record.identifier("category"),
        question=record.text("question"),
        options=options,
        gold=options[right].option_id,
    )
