"""Graders of research: Prometheus and BiGGen, unitxt, EvalAssist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.importers.logs.reading import (
    PEOPLE,
    UNNAMED,
    LogFormat,
    Path,
    Row,
    Sight,
    mapping,
    named_by,
    number,
    records,
    sight,
    text,
    values,
)

_RESULT = re.compile(r"\[RESULT\]\s*[(\[]?\s*(?:score\s*:?\s*)?(\d+)", re.I)
_SIDES = ("chosen", "rejected")
_LETTERS = ("A", "B")


def _prometheus_known(seen: Sight) -> bool:
    return {"prometheus_output", "prometheus_score"} <= seen.record().keys()


def _prometheus(path: str) -> Iterator[Row]:
    """Judgments of ``<model>-outputs/<data>_<mode>_temp<t>_output.json`` of prometheus-eval: lines.

    Read from ``eval/run_evaluate.py`` at dcfb442. ``prometheus_score`` has a score a run; of two
    answers that are graded apart (mode a2r) the runs of the chosen one, then those of the rejected
    one; of two that are compared (r2r) A or B. The tool asks a reply without a score again, up to
    five times, and keeps the last, so that none is unreadable here; of a reply it keeps what stands
    before ``[RESULT]``. ``gpt4_score`` are those of another judge, ``human_score`` those of people.
    """
    judge = PurePosixPath(path).parent.name.removesuffix("-outputs") or UNNAMED
    for _, found in records(path):
        one = mapping(found)
        asked = _first(one, "orig_instruction", "instruction", "input")
        answer = _first(one, "orig_response", "response")
        answers = {letter: text(one.get(f"orig_response_{letter}")) for letter in _LETTERS}
        name = _first(one, "uid", "id", "idx")
        item = name or named_by(
            [asked, answer] if answer else [asked, *sorted(map(str, answers.values()))]
        )
        scores, outputs = _list(one.get("prometheus_score")), _list(one.get("prometheus_output"))
        apart = bool(scores) and all(isinstance(score, list) for score in scores)
        good = text(one.get("chosen"))
        known: dict[str, Any] = {"item_id": item, "question": asked}
        for place, side in enumerate(_SIDES if apart else (None,)):
            runs = _at(scores, place, []) if apart else scores
            replies = _at(outputs, place, []) if apart else outputs
            letter = good if side == _SIDES[0] else {"A": "B", "B": "A"}.get(good or "")
            judged = answers.get(letter or "") if apart else answer
            for run, score in enumerate(_list(runs)):
                reply = text(_at(_list(replies), run, None))
                read = _RESULT.findall(reply or "")
                picked = score if score in _LETTERS else None
                yield Row(
                    **known, judge=judge, answer=judged, reply=reply,
                    responder=side or text(one.get("response_source")),
                    score=number(read[-1] if read else score), verdict=picked, label=picked,
                    gold=good if picked and good in _LETTERS else None,
                    n_options=2 if picked else None,
                )  # fmt: skip
        replies = _list(one.get("gpt4_feedback"))
        for run, score in enumerate(_list(one.get("gpt4_score"))):
            yield Row(
                **known, judge="gpt4", answer=answer, responder=text(one.get("response_source")),
                score=number(score), reply=text(_at(replies, run, None)),
            )  # fmt: skip
        for score in _list(one.get("human_score")):
            yield Row(
                **known, judge=PEOPLE, answer=answer, responder=text(one.get("response_source")),
                score=number(score),
            )  # fmt: skip


def _first(one: Mapping[str, object], *names: str) -> str | None:
    """The first of some fields that holds anything, as text."""
    return next((found for name in names if (found := text(one.get(name))) is not None), None)


def _at(values: list[object], place: int, otherwise: object) -> object:
    """What stands at a place, where there is one."""
    return values[place] if place < len(values) else otherwise


def _list(value: object) -> list[object]:
    """A list, or the one value as a list; of nothing none."""
    return value if isinstance(value, list) else [] if value is None else [value]


_BIGGEN = {"capability", "task", "response_model_name", "score"}


def _biggen_known(seen: Sight) -> bool:
    fields = {path[1] for path in seen.first if len(path) == 2}
    return (seen.kind == "document" and fields >= _BIGGEN) or seen.record().keys() >= _BIGGEN


def _biggen(path: str) -> Iterator[Row]:
    """Judgments of BiGGen-Bench at dcfb442: an object of records by their id, or a list of them.

    Scores are texts; the judge is ``eval_model_name`` where the file has it.
    """
    seen = sight(path)
    if seen.kind == "document" and not seen.record().keys() >= _BIGGEN:
        found = ((where[0], one) for where, one in values(path, depth=1))
    else:
        found = ((None, one) for _, one in records(path))  # type: ignore[misc]
    for name, record in found:
        one = mapping(record)
        judge = text(one.get("eval_model_name")) or UNNAMED
        # A reply that held no score after ten tries has none.
        for score in _list(one.get("score")) or [None]:
            yield Row(
                judge=judge, item_id=text(one.get("id")) or str(name), score=number(score),
                benchmark=text(one.get("capability")), question=text(one.get("input")),
                responder=text(one.get("response_model_name")), answer=text(one.get("response")),
                reply=text(one.get("feedback")),
            )  # fmt: skip


_SELECTED = "_selected_option"
_SWAPPED = "_positional_bias"


def _scored(record: Mapping[str, object]) -> Mapping[str, object]:
    """Scores of an instance of unitxt, wherever they stand."""
    return mapping(mapping(record.get("score")).get("instance")) or record


def _unitxt_at(seen: Sight) -> Path:
    return ("instances",) if seen.kind == "document" else ()


def _unitxt_known(seen: Sight) -> bool:
    names = _scored(seen.record(*_unitxt_at(seen)))
    direct = any(name.endswith(_SELECTED) and name[: -len(_SELECTED)] in names for name in names)
    return direct or any(re.fullmatch(r"\w+_contest_results", name) for name in names)


def _unitxt(path: str) -> Iterator[Row]:
    """Judgments of unitxt's direct judges at 20b951e and 1.26.10, one of each order of the options.

    unitxt replaces a reply that names no option by the option whose spelling is nearest: an option
    that its reply (``<s>_option_selection_completion``) does not hold is no verdict.

    Raises
    ------
    SweepError
        If they are judgments of pairs, which are not read.
    """
    for place, found in records(path, _unitxt_at(sight(path))):
        record = mapping(found)
        one = _scored(record)
        if any(name.endswith("_contest_results") for name in one):
            raise SweepError(
                "judgments of pairs by unitxt are not read",
                where={"file": path, "record": place},
                hint="judgerel import table with --column, or direct judgments",
            )
        asked = record.get("task_data") or record.get("source") or record.get("instance")
        item = text(record.get("id")) or named_by(asked) if asked else str(place)
        bases = {
            name[: -len(_SELECTED)]
            for name in one
            if name.endswith(_SELECTED) and not name.endswith(_SWAPPED + _SELECTED)
        }
        for base in sorted(bases):
            for order, name in enumerate((base, base + _SWAPPED)):
                if f"{name}{_SELECTED}" not in one:
                    continue
                option = text(one.get(f"{name}{_SELECTED}"))
                reply = text(one.get(f"{name}_option_selection_completion"))
                forced = bool(reply and option and not _holds(reply, option))
                yield Row(
                    item_id=item, criterion=base, option_order=order, reply=reply,
                    verdict=None if forced else option, question=text(record.get("source")),
                    answer=text(record.get("prediction")),
                    outcome=Outcome.UNPARSED if forced else None,
                )  # fmt: skip


def _holds(reply: str, option: str) -> bool:
    """Whether a reply has an option in it, as a word: "I cannot choose" does not say No."""
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", reply, re.I) is not None


def _evalassist_at(seen: Sight) -> Path:
    return ("results",) if seen.kind == "document" else ()


def _result(record: Mapping[str, object]) -> Mapping[str, object]:
    """The result, which the API puts beside its ``id``."""
    return mapping(record.get("result")) or record


def _evalassist_known(seen: Sight) -> bool:
    record = _result(seen.record(*_evalassist_at(seen)))
    return {"selected_option", "criteria", "instance"} <= record.keys() or (
        "per_system_results" in record
    )


def _evalassist(path: str) -> Iterator[Row]:
    """Judgments of direct results of EvalAssist at 5a1bd42 and 1.0.5, of Python or ``/evaluate/``.

    ``self_consistency.selected_options`` are replications. Where ``generation_failed`` the option
    recorded was drawn at random: it is no verdict. That is recorded of one replication alone, the
    one whose option is kept, and taken for all of them. ``positional_bias.result`` is the other
    order.

    Raises
    ------
    SweepError
        If they are judgments of pairs, which are not read.
    """
    for place, found in records(path, _evalassist_at(sight(path))):
        one = _result(mapping(found))
        if "per_system_results" in one:
            raise SweepError(
                "judgments of pairs by EvalAssist are not read",
                where={"file": path, "record": place},
            )
        item = named_by(mapping(one.get("instance")).get("fields") or one.get("instance"))
        swapped = mapping(mapping(one.get("positional_bias")).get("result"))
        for order, result in enumerate((one, swapped)):
            if not result:
                continue
            meta = mapping(result.get("metadata"))
            criteria = mapping(result.get("criteria")) or mapping(one.get("criteria"))
            options = map(mapping, _list(criteria.get("options")))
            scores = {text(opt.get("name")): number(opt.get("score")) for opt in options}
            repeats = _list(mapping(meta.get("self_consistency")).get("selected_options"))
            failed = bool(meta.get("generation_failed") or meta.get("final_fallback_chosen"))
            for option in repeats or [result.get("selected_option")]:
                verdict = None if failed else text(option)
                yield Row(
                    item_id=item, criterion=text(criteria.get("name")), option_order=order,
                    verdict=verdict, score=scores.get(verdict),
                    outcome=Outcome.UNPARSED if failed else None,
                    n_options=len(scores) or None, reply=text(meta.get("unparsed_response")),
                )  # fmt: skip


PROMETHEUS = LogFormat(known=_prometheus_known, read=_prometheus)
BIGGEN = LogFormat(known=_biggen_known, read=_biggen)
UNITXT = LogFormat(known=_unitxt_known, read=_unitxt)
EVALASSIST = LogFormat(known=_evalassist_known, read=_evalassist)
