"""FeedbackQA: passages that answer questions, rated by people in four words."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.criterion import rating_by, under_headings
from judgerel_ray.benchmarks.source import Record, file_name, list_names, read_records, stem
from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.core.files import is_folder, list_folder

_QUESTION = "How well does the passage answer the question?"
_CRITERION = "quality"
LABELS = ("Excellent", "Acceptable", "Could be Improved", "Bad")
"""What people could answer, best first."""
_OPTIONS = tuple(Option(option_id=label, text=label) for label in LABELS)


def load_feedbackqa(path: str) -> tuple[Item, ...]:
    """Read FeedbackQA (Li et al. 2022).

    Parameters
    ----------
    path : str
        An upstream ``feedback_<split>.json`` (``[{"question", "passage": {"source", "reference":
        {"page_title", "section_headers", "section_content"}}, "rating": [...]}]``), the folder
        of a domain that holds such files, or the folder of all domains; or a table with
        ``question``, ``answer`` (or ``answer_passage``), ``rating`` (or ``ratings``), and
        ``domain``, ``split``, ``item``, ``page_title``, ``section_headers`` where known.

    Returns
    -------
    tuple of Item
        One a rated passage: ``question`` asks how well it answers, ``context`` holds question and
        passage, ``options`` are the four words and ``ratings`` the people's, in their order.
        ``gold`` is null: people differ, and nobody is right by definition. ``item_id`` is
        ``feedbackqa:<domain>:<split>:<place in the file>`` and ``category`` the domain.

    Raises
    ------
    SweepError
        If a file is not of that layout, or a rating is none of the four words.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> reference = {"page_title": "Flu", "section_headers": [], "section_content": "Rest."}
    >>> row = {"question": "What helps?", "rating": ["Bad", "Acceptable"],
    ...        "passage": {"source": "WHO", "reference": reference}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "feedback_valid.json")
    ...     _ = file.write_text(json.dumps([row]))
    ...     item = load_feedbackqa(str(file))[0]
    >>> item.item_id, [rating.label for rating in item.ratings]
    ('feedbackqa:WHO:valid:0', ['Bad', 'Acceptable'])
    """
    found = []
    for file in _feedbackqa_files(path):
        split = stem(file).removeprefix("feedback_")
        for index, record in enumerate(read_records(file)):
            found.append((_feedbackqa_item(record, split, index), record))
    return admit(found, path=path)


def _feedbackqa_files(path: str) -> tuple[str, ...]:
    """The file itself, or the feedback files of a folder and of the folders in it."""
    if not is_folder(path):
        return (path,)
    inside = list_folder(path)
    files = tuple(
        file
        for folder in (path, *(one for one in inside if is_folder(one)))
        for file in (inside if folder == path else list_folder(folder))
        if file_name(file).startswith("feedback_") and file_name(file).endswith(".json")
    )
    if not files:
        raise SweepError(
            "expected feedback_<split>.json files, found none",
            where={"folder": path, "holds": list_names([file_name(one) for one in inside])},
            hint="name upstream's folder feedbackQA_data/",
        )
    return files


def _feedbackqa_item(record: Record, split: str, index: int) -> Item:
    """One rated passage."""
    domain, title, headers, passage = _feedbackqa_passage(record)
    split = record.identifier("split") if "split" in record else split
    place = record.whole("item") if "item" in record else index
    labels = record.texts("rating" if "rating" in record.fields else "ratings")
    return Item(
        item_id=f"feedbackqa:{domain}:{split}:{place}",
        benchmark="feedbackqa",
        category=domain,
        question=_QUESTION,
        context=under_headings(
            Question=record.text("question"), Page=title, Section=headers, Passage=passage
        ),
        options=_OPTIONS,
        ratings=tuple(
            rating_by(str(n), label, _OPTIONS, record, criterion=_CRITERION)
            for n, label in enumerate(labels, start=1)
        ),
    )


def _feedbackqa_passage(record: Record) -> tuple[str, str | None, str | None, str]:
    """Domain, title, section headings and text of a passage."""
    if "passage" in record.fields:
        passage = record.child(record.fields["passage"], "passage")
        passage.require("reference")
        reference = passage.child(passage.fields["reference"], "reference")
        domain = passage.optional_text("source") or "all"
        headers = _feedbackqa_headings_line(reference, "section_headers")
        title, content = reference.optional_text("page_title"), reference.text("section_content")
        return domain, title, headers, content
    answer = "answer_passage" if "answer_passage" in record.fields else "answer"
    domain = record.identifier("domain") if "domain" in record else "all"
    headers = record.optional_text("section_headers")
    return domain, record.optional_text("page_title"), headers, record.text(answer)


def _feedbackqa_headings_line(reference: Record, name: str) -> str | None:
    """Section headings on one line, the outer before the inner."""
    return " / ".join(reference.texts(name)) or None if name in reference else None
