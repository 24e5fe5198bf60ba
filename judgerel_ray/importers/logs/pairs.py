"""Judgments of pairs: FastChat, arena-hard, alpaca_eval.

A verdict is the name of the model preferred, and its label the place where its answer stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from judgerel_ray.core import Outcome
from judgerel_ray.importers.logs.reading import (
    UNNAMED,
    LogFormat,
    Row,
    Sight,
    mapping,
    named_by,
    number,
    records,
    text,
)

TIE = "tie"
_PLACES = ("A", "B")


def _fastchat_known(seen: Sight) -> bool:
    record = seen.record()
    pair = {"question_id", "model_1", "model_2", "g1_winner"} <= record.keys()
    return pair or _is_single(record)


def _is_single(record: Mapping[str, object]) -> bool:
    return {"question_id", "model", "judge", "judgment", "score"} <= record.keys()


_ERROR = "$ERROR$"  # what FastChat records as reply of a request that failed
_PAIR = re.compile(r"\[\[([ABC])\]\]")
_RATING = re.compile(r"\[\[(\d+\.?\d*)\]\]")


def _fastchat(path: str) -> Iterator[Row]:
    """Judgments of ``<judge>_single.jsonl`` and ``<judge>_pair.jsonl``.

    Read from ``llm_judge/common.py`` of FastChat at 0e6d3e4: a score of -1 is none; ``g2_winner``
    is a model already, not a place, and ``error`` where no ``[[A]]`` was found. It takes ``[[A]]``
    of a reply that holds ``[[B]]``, too, and the first of several ratings: here those conflict.
    ``judge[1]`` names the prompt, which differs by kind of question: it is the definition.
    """
    for _, found in records(path):
        record = mapping(found)
        judge = record.get("judge")
        named = judge if isinstance(judge, list) else [judge, None]
        item = f"{record.get('question_id')}"
        if record.get("turn") not in (None, 1):
            item += f":turn{record['turn']}"
        name, prompt = text(named[0]) or UNNAMED, text(named[1]) if len(named) > 1 else None
        if "g1_winner" not in record:
            score, reply = number(record.get("score")), text(record.get("judgment"))
            outcome = _of_reply(reply, _RATING)
            yield Row(
                judge=name, definition=prompt, item_id=item, responder=text(record.get("model")),
                score=None if outcome or score is None or score < 0 else score, outcome=outcome,
                question=text(record.get("user_prompt")), reply=reply,
                prompt=text(record.get("user_prompt")),
            )  # fmt: skip
            continue
        models = (str(record.get("model_1")), str(record.get("model_2")))
        for order, game in enumerate(("g1", "g2")):
            winner, reply = record.get(f"{game}_winner"), text(record.get(f"{game}_judgment"))
            outcome = _of_reply(reply, _PAIR)
            won = {"model_1": models[0], "model_2": models[1], TIE: TIE}.get(str(winner))
            won = None if outcome else won
            yield Row(
                judge=name, definition=prompt, item_id=item, responder=" vs ".join(models),
                option_order=order, n_options=2, verdict=won,
                label=_place(won, models[::-1] if order else models),
                question=text(record.get(f"{game}_user_prompt")), reply=reply, outcome=outcome,
            )  # fmt: skip


def _of_reply(reply: str | None, marks: re.Pattern[str]) -> Outcome | None:
    """Why a reply of FastChat holds no verdict, whatever was recorded of it."""
    if reply == _ERROR:
        return Outcome.FAILED
    return Outcome.CONFLICTING if len(set(marks.findall(reply or ""))) > 1 else None


def _place(won: str | None, shown: tuple[str, ...]) -> str | None:
    """The place where the winner stood; none of a tie, or where both have one name."""
    if won not in shown or shown[0] == shown[1]:
        return None
    return _PLACES[shown.index(won)]


_ARENA = (re.compile(r"\[\[([AB<>=]+)\]\]"), re.compile(r"\[([AB<>=]+)\]"))
_STRENGTHS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
_BASELINES = "gpt-4-0314"
"""What arena-hard v0.1 compares with where a file does not say."""


def _arena_known(seen: Sight) -> bool:
    return {"model", "judge", "games"} <= seen.record().keys()


def _arena(path: str) -> Iterator[Row]:
    """Judgments of ``model_judgment/<judge>/<model>.jsonl`` of arena-hard, in all three shapes.

    Read from ``gen_judgment.py`` of arena-hard-auto at 196f6b8: game 0 shows the baseline as A,
    game 1 the model. The shape of 2024 has ``question_id`` and a text as judgment, that of 2025
    ``uid``, ``baseline`` and an object; an older one of single answers has a number as score. A
    game may be null: it failed. The label is A, B, or what was recorded; how strong a preference is
    (``A>>B``) is left out of the verdict.
    """
    for _, found in records(path):
        record = mapping(found)
        games = record.get("games")
        item = str(record.get("uid") or record.get("question_id"))
        model = str(record.get("model"))
        baseline = str(record.get("baseline") or _BASELINES)
        for order, game in enumerate(games if isinstance(games, list) else []):
            stated = mapping(game)
            judgment = stated.get("judgment")
            reply = text(mapping(judgment).get("answer") or judgment)
            row = {
                "judge": text(record.get("judge")) or UNNAMED,
                "item_id": item,
                "benchmark": text(record.get("category")),
                "reply": reply,
                "question": text(stated.get("user_prompt") or stated.get("prompt")),
            }
            score = stated.get("score")
            if isinstance(score, int | float) and not isinstance(score, bool):
                single = None if score < 0 else number(score)
                yield Row(responder=model, score=single, **row)  # type: ignore[arg-type]
                continue
            shown = (model, baseline) if order % 2 else (baseline, model)
            verdict, outcome = _strength(score, reply, shown)
            yield Row(
                responder=f"{model} vs {baseline}", option_order=order % 2, n_options=2,
                verdict=verdict, label=_place(verdict, shown),
                outcome=Outcome.FAILED if game is None else outcome, **row,  # type: ignore[arg-type]
            )  # fmt: skip


def _strength(
    score: object, reply: str | None, shown: tuple[str, str]
) -> tuple[str | None, Outcome | None]:
    """The model preferred, read again from the reply where there is one."""
    marks = (set(one.findall((reply or "").upper())) & set(_STRENGTHS) for one in _ARENA)
    read = next(filter(None, marks), set())
    if len(read) > 1:
        return None, Outcome.CONFLICTING
    found = read.pop() if read else score if reply is None else None
    if found not in _STRENGTHS:
        return None, None
    if found == "A=B":
        return TIE, None
    return shown[0 if str(found).startswith("A") else 1], None


def _alpaca_known(seen: Sight) -> bool:
    return {"instruction", "generator_1", "generator_2", "preference"} <= seen.record().keys()


def _alpaca(path: str) -> Iterator[Row]:
    """Judgments of ``annotations.json`` and of caches ``annotations_seed<N>_configs.json``.

    Read from ``annotators/pairwise_evaluator.py`` of alpaca_eval at cd543a1: ``preference`` is 1 to
    2, below 1.5 the first, 1.5 a tie; a weighted one is read so, too. Which answer was shown first
    is drawn by a rule from a seed and not stored, so that no label is known.
    """
    for _, found in records(path):
        record = mapping(found)
        models = (str(record.get("generator_1")), str(record.get("generator_2")))
        preference = number(record.get("preference"))
        won = None
        if preference is not None and 1 <= preference <= 2:
            won = TIE if preference == 1.5 else models[0 if preference < 1.5 else 1]
        instruction = text(record.get("instruction"))
        yield Row(
            judge=text(record.get("annotator")) or UNNAMED,
            item_id=named_by(instruction),
            benchmark=text(record.get("dataset")),
            responder=" vs ".join(models),
            verdict=won,
            n_options=2,
            question=instruction,
            answer=named_by([record.get("output_1"), record.get("output_2")]),
            reply=text(record.get("raw_completion") or record.get("preference_raw_completion")),
        )


FASTCHAT = LogFormat(known=_fastchat_known, read=_fastchat)
ARENA_HARD = LogFormat(known=_arena_known, read=_arena)
ALPACA_EVAL = LogFormat(known=_alpaca_known, read=_alpaca)
