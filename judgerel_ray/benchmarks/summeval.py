"""SummEval: summaries of CNN and Daily Mail articles, rated 1 to 5 on four criteria."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.criterion import numbered_options, rating_by, under_headings
from judgerel_ray.benchmarks.source import (
    Record,
    file_name,
    known_format,
    list_names,
    read_records,
    stem,
)
from judgerel_ray.core import HumanRating, Item, Option, SweepError
from judgerel_ray.core.files import is_folder, list_folder

_QUESTIONS = {
    "coherence": "How well do the sentences of the summary fit together as one text?",
    "consistency": "How far is everything the summary states supported by the article?",
    "fluency": "How well is each sentence of the summary written?",
    "relevance": "How well does the summary pick out what matters in the article?",
}
_OPTIONS = numbered_options(["very poorly", "poorly", "fairly", "well", "very well"])
_Ratings = dict[tuple[str, str, str], list[HumanRating]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """One criterion of one summary, and what people gave it."""

    document: str
    system: str
    criterion: str
    article: str
    summary: str
    ratings: tuple[HumanRating, ...]


def load_summeval(path: str) -> tuple[Item, ...]:
    """Read SummEval (Fabbri et al. 2021; 100 articles, 16 systems).

    Parameters
    ----------
    path : str
        The upstream annotations paired with their articles,
        ``model_annotations.aligned.paired.jsonl`` (``{"id", "model_id", "decoded", "text",
        "expert_annotations": [{"coherence", ...}], "turker_annotations": [...]}``); or a folder
        with one table ``*_texts`` (``system``, ``doc_id``, ``summary``, ``article``) and one
        ``*_ratings`` (``system``, ``doc_id``, ``rater_type``, ``rater``, ``dimension``,
        ``score``).

    Returns
    -------
    tuple of Item
        One a summary and criterion: ``question`` asks after the criterion, ``context`` holds
        article and summary, ``options`` are 1 to 5 and ``ratings`` those of experts
        (``expert:0``, ...) and of crowd workers (``turker:0``, ...). ``gold`` is null: raters
        differ. ``item_id`` is ``summeval:<article>:<system>:<criterion>`` and ``category`` the
        criterion, so ``per = "category"`` draws every criterion alike.

    Raises
    ------
    SweepError
        If a file is not of that layout, lacks the articles, or a rating is none of 1 to 5.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> marks = {"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 3}
    >>> row = {"id": "cnn-1", "model_id": "M0", "decoded": "It rained.", "text": "Rain fell.",
    ...        "expert_annotations": [marks], "turker_annotations": []}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "aligned.paired.jsonl")
    ...     _ = file.write_text(json.dumps(row))
    ...     items = load_summeval(str(file))
    >>> [(item.category, item.ratings[0].label) for item in items][:2]
    [('coherence', '4'), ('consistency', '5')]
    """
    rated = _read_summeval_ratings(path)
    return admit([(_summeval_criterion_item(one), record) for one, record in rated], path=path)


def load_summeval_summaries(path: str) -> tuple[Item, ...]:
    """Read SummEval as responses to be rated: each summary once, with all ratings people gave it.

    Parameters
    ----------
    path : str
        As for :func:`load_summeval`.

    Returns
    -------
    tuple of Item
        One a summary: ``question`` asks for one, ``context`` is the article, ``options`` hold the
        summary by the name of its system, ``ratings`` those of all four criteria. ``gold`` is
        null. ``item_id`` is ``summeval:<article>:<system>`` and ``category`` the system.

    Raises
    ------
    SweepError
        As of :func:`load_summeval`.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> marks = {"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 3}
    >>> marked = {"expert_annotations": [marks], "turker_annotations": []}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "aligned.paired.jsonl")
    ...     _ = file.write_text(json.dumps({"id": "cnn-1", "model_id": "M0", **marked,
    ...                                     "decoded": "It rained.", "text": "Rain fell."}))
    ...     item = load_summeval_summaries(str(file))[0]
    >>> item.options[0].text, [rating.score for rating in item.ratings]
    ('It rained.', [4.0, 5.0, 5.0, 3.0])
    """
    summaries: dict[tuple[str, str], list[tuple[_Rated, Record]]] = {}
    for rated, record in _read_summeval_ratings(path):
        summaries.setdefault((rated.document, rated.system), []).append((rated, record))
    found = [
        (_summary_item([rated for rated, _ in all_]), all_[0][1]) for all_ in summaries.values()
    ]
    return admit(found, path=path)


def _read_summeval_ratings(path: str) -> Iterator[tuple[_Rated, Record]]:
    """Summaries with their ratings, one a criterion."""
    if is_folder(path):
        yield from _tabled_summeval_criteria(path)
        return
    for record in read_records(path):
        for rated in _annotated_summeval_criteria(record):
            yield rated, record


def _annotated_summeval_criteria(record: Record) -> Iterator[_Rated]:
    """Each criterion of an upstream line."""
    record.require("id", "model_id", "decoded", "expert_annotations")
    record.require("text", hint="pair the annotations with their articles first, as upstream does")
    kinds = [kind for kind in ("expert", "turker") if f"{kind}_annotations" in record]
    raters = [
        (f"{kind}:{n}", marks)
        for kind in kinds
        for n, marks in enumerate(record.children(f"{kind}_annotations"))
    ]
    for criterion in _QUESTIONS:
        ratings = [
            rating_by(rater, str(marks.whole(criterion)), _OPTIONS, marks, criterion=criterion)
            for rater, marks in raters
        ]
        yield _Rated(
            document=record.identifier("id"), system=record.identifier("model_id"),
            criterion=criterion, article=record.text("text"), summary=record.text("decoded"),
            ratings=tuple(ratings),
        )  # fmt: skip


def _tabled_summeval_criteria(folder: str) -> Iterator[tuple[_Rated, Record]]:
    """Each criterion of a table of texts and one of ratings."""
    inside = [one for one in list_folder(folder) if known_format(one) is not None]
    texts = _summeval_folder_table(folder, inside, "_texts")
    ratings = _summeval_table_ratings(_summeval_folder_table(folder, inside, "_ratings"))
    for record in read_records(texts):
        record.require("system", "doc_id", "summary", "article")
        document, system = record.identifier("doc_id"), record.identifier("system")
        for criterion in _QUESTIONS:
            scores = ratings.get((document, system, criterion), [])
            if scores:
                rated = _Rated(
                    document=document, system=system, criterion=criterion,
                    article=record.text("article"), summary=record.text("summary"),
                    ratings=tuple(scores),
                )  # fmt: skip
                yield rated, record


def _summeval_folder_table(folder: str, inside: list[str], ending: str) -> str:
    """The one table of a folder whose name ends so, for SummEval."""
    found = [one for one in inside if stem(one).endswith(ending)]
    found = [one for one in found if "summeval" in stem(one)] or found
    if len(found) != 1:
        raise SweepError(
            f"expected one table *{ending}, got {len(found)}",
            where={"folder": folder, "holds": list_names([file_name(one) for one in inside])},
            hint="name upstream's model_annotations.aligned.paired.jsonl",
        )
    return found[0]


def _summeval_table_ratings(path: str) -> _Ratings:
    """Ratings of every article, system and criterion, in the order of the table."""
    found: _Ratings = {}
    for record in read_records(path):
        record.require("system", "doc_id", "rater_type", "rater", "dimension", "score")
        criterion = record.identifier("dimension")
        if criterion not in _QUESTIONS:
            raise record.wrong(f"dimension must be of {list_names(_QUESTIONS)}, got {criterion!r}")
        rater = f"{record.identifier('rater_type')}:{record.whole('rater')}"
        rating = rating_by(rater, str(record.whole("score")), _OPTIONS, record, criterion=criterion)
        key = (record.identifier("doc_id"), record.identifier("system"), criterion)
        found.setdefault(key, []).append(rating)
    return found


def _summeval_criterion_item(rated: _Rated) -> Item:
    """One criterion of one summary, to be judged by the options 1 to 5."""
    return Item(
        item_id=f"summeval:{rated.document}:{rated.system}:{rated.criterion}",
        benchmark="summeval",
        category=rated.criterion,
        question=_QUESTIONS[rated.criterion],
        context=under_headings(Article=rated.article, Summary=rated.summary),
        options=_OPTIONS,
        ratings=rated.ratings,
    )


def _summary_item(criteria: list[_Rated]) -> Item:
    """One summary as a response, with the ratings of all its criteria."""
    first = criteria[0]
    return Item(
        item_id=f"summeval:{first.document}:{first.system}",
        benchmark="summeval_summaries",
        category=first.system,
        question="Summarise the article.",
        context=first.article,
        options=(Option(option_id=first.system, text=first.summary),),
        ratings=tuple(rating for rated in criteria for rating in rated.ratings),
    )
