"""The 600 MMLU-Pro questions of Bergman et al. (2025), as their result files hold them."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.mmlu_pro import mmlu_pro_item
from judgerel_ray.benchmarks.multiple_choice import number_place, numbered_options
from judgerel_ray.benchmarks.source import Record, read_records
from judgerel_ray.core import Item


def load_bergman2025(path: str) -> tuple[Item, ...]:
    r"""Read the questions of Bergman et al. (2025) out of one of their result files.

    Parameters
    ----------
    path : str
        A file of results of a model alone or of a judge, CSV or Parquet, with ``question_id``,
        ``question``, ``options`` (one text, ``0. ...`` a line), ``category`` and
        ``correct_answer`` (from 0). Its other columns are answers, which ``import bergman2025``
        reads.

    Returns
    -------
    tuple of Item
        As :func:`load_mmlu_pro` gives them: the same ids, options and gold.

    Raises
    ------
    SweepError
        If the file is not of that layout; row and field are named.

    Notes
    -----
    Layout by the files released at https://github.com/GuidoBergman/reliability-judge.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "monolithic_m.csv")
    ...     _ = file.write_text("question_id,question,options,category,correct_answer\n"
    ...                         '70,Which?,"0. oak\n1. apple",biology,1\n')
    ...     item = load_bergman2025(str(file))[0]
    >>> item.item_id, item.gold, [option.text for option in item.options]
    ('mmlu_pro:70', '1', ['oak', 'apple'])
    """
    return admit(((_item(record), record) for record in read_records(path)), path=path)


def _item(record: Record) -> Item:
    """One row as an item."""
    record.require("question_id", "question", "options", "category", "correct_answer")
    options = numbered_options(_texts(record), record)
    right = number_place(record, "correct_answer", len(options), first=0)
    return mmlu_pro_item(record, options, right)


def _texts(record: Record) -> tuple[str, ...]:
    """Options out of their one text; a line that does not go on counting belongs to the last."""
    texts: list[str] = []
    for line in record.text("options").split("\n"):
        number, dot, text = line.partition(". ")
        if dot and number == str(len(texts)):
            texts.append(text)
        elif texts:
            texts[-1] += f"\n{line}"
        else:
            raise record.wrong(f"options must start with '0. ', got text {line[:40]!r}")
    return tuple(texts)
