"""Judges of research: FastChat, arena-hard, alpaca_eval, Prometheus, BiGGen, unitxt, EvalAssist.

The verdict on a pair is the name of the model preferred, its label where its answer stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from pathlib import PurePosixPath

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.importers.logs.reading import (
    PEOPLE,
    UNNAMED,
    LogFormat,
    LogRow,
    Sight,
    as_list,
    finite_number,
    having,
    mapping,
    named_by,
    records,
    sight,
    text,
    unless_scored,
    values,
)
from judgerel_ray.protocols import FreeReading, read_free_reply, split_thought

TIE = "tie"
_PLACES = ("A", "B")


def _fastchat_known(seen: Sight) -> bool:
    pair = having("question_id", "model_1", "model_2", "g1_winner")
    return pair(seen) or having("question_id", "model", "user_prompt", "judgment", "score")(seen)


_ERROR = "$ERROR$"  # what FastChat records as reply of a request that failed


def _fastchat_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of ``<judge>_single.jsonl`` and ``<judge>_pair.jsonl``.

    Read from ``llm_judge/common.py`` of FastChat at 0e6d3e4: a score of -1 is none; ``g2_winner``
    is a model already, not a place, and ``error`` where no ``[[A]]`` was found. It takes ``[[A]]``
    of a reply that holds ``[[B]]``, too, the first of several ratings, and what stands in a
    thought: such replies are read again here. ``judge[1]`` names the prompt, which differs by kind
    of question: it is the definition. Files of arena-bench, from which arena-hard came, are such
    ones without a judge.
    """
    for _, record in records(path):
        judge = record.get("judge")
        named = judge if isinstance(judge, list) else [judge, None]
        item = f"{record.get('question_id')}"
        if record.get("turn") not in (None, 1):
            item += f":turn{record['turn']}"
        name, prompt = text(named[0]) or UNNAMED, text(named[1]) if len(named) > 1 else None
        if "g1_winner" not in record:
            score, reply = finite_number(record.get("score")), text(record.get("judgment"))
            read = _of_reply(reply)
            if read is None:
                known = read_free_reply(reply or "", forms=("brackets",))
                out_of = known.out_of if known.score == score else None
                score = None if score is None or score < 0 else score
                read = FreeReading(score=score, out_of=out_of)
            yield LogRow(
                judge=name, definition=prompt, item_id=item, responder=text(record.get("model")),
                score=read.score, out_of=read.out_of, outcome=unless_scored(read),
                question=text(record.get("user_prompt")), reply=reply,
                prompt=text(record.get("user_prompt")),
            )  # fmt: skip
            continue
        models = (str(record.get("model_1")), str(record.get("model_2")))
        for order, game in enumerate(("g1", "g2")):
            winner, reply = record.get(f"{game}_winner"), text(record.get(f"{game}_judgment"))
            read = _of_reply(reply)
            shown = models[::-1] if order else models
            if read is None:
                won = {"model_1": models[0], "model_2": models[1], TIE: TIE}.get(str(winner))
            else:
                won = dict(zip("ABC", (*shown, TIE), strict=True)).get(read.verdict or "")
            yield LogRow(
                judge=name, definition=prompt, item_id=item, responder=" vs ".join(models),
                option_order=order, n_options=2, verdict=won, label=_place(won, shown),
                question=text(record.get(f"{game}_user_prompt")), reply=reply,
                outcome=None if read is None else unless_scored(read),
            )  # fmt: skip


def _of_reply(reply: str | None) -> FreeReading | None:
    """What a reply of FastChat holds; None where what was recorded of it can be trusted."""
    if reply == _ERROR:
        return FreeReading(outcome=Outcome.FAILED)
    read = read_free_reply(reply or "", forms=("brackets",))
    is_read_wrong = split_thought(reply or "").thought or read.outcome is Outcome.CONFLICTING
    return read if is_read_wrong else None


def _place(won: str | None, shown: tuple[str, ...]) -> str | None:
    """The place where the winner stood; none of a tie, or where both have one name."""
    if won not in shown or shown[0] == shown[1]:
        return None
    return _PLACES[shown.index(won)]


_ARENA = (re.compile(r"\[\[([AB<>=]+)\]\]"), re.compile(r"\[([AB<>=]+)\]"))
_STRENGTHS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
_BASELINES = "gpt-4-0314"
"""What arena-hard v0.1 compares with where a file does not say."""


def _arena_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of ``model_judgment/<judge>/<model>.jsonl`` of arena-hard, in all three shapes.

    Read from ``gen_judgment.py`` of arena-hard-auto at 196f6b8: game 0 shows the baseline as A,
    game 1 the model. The shape of 2024 has ``question_id`` and a text as judgment, that of 2025
    ``uid``, ``baseline`` and an object; an older one of single answers has a number as score. A
    game may be null: it failed. The label is A, B, or what was recorded; how strong a preference is
    (``A>>B``) is left out of the verdict.
    """
    for _, record in records(path):
        item = str(record.get("uid") or record.get("question_id"))
        model = str(record.get("model"))
        baseline = str(record.get("baseline") or _BASELINES)
        games = record.get("games")
        for order, game in enumerate(games if isinstance(games, list) else []):
            stated = mapping(game)
            judgment = stated.get("judgment")
            reply = text(mapping(judgment).get("answer") or judgment)
            row = LogRow(
                judge=text(record.get("judge")) or UNNAMED, item_id=item, reply=reply,
                benchmark=text(record.get("category")),
                question=text(stated.get("user_prompt") or stated.get("prompt")),
            )  # fmt: skip
            score = stated.get("score")
            if isinstance(score, int | float) and not isinstance(score, bool):
                single = None if score < 0 else finite_number(score)
                yield replace(row, responder=model, score=single)
                continue
            shown = (model, baseline) if order % 2 else (baseline, model)
            verdict, outcome = _arena_log_preference(score, reply, shown)
            yield replace(
                row, responder=f"{model} vs {baseline}", option_order=order % 2, n_options=2,
                verdict=verdict, label=_place(verdict, shown),
                outcome=Outcome.FAILED if game is None else outcome,
            )  # fmt: skip


def _arena_log_preference(
    score: object, reply: str | None, shown: tuple[str, str]
) -> tuple[str | None, Outcome | None]:
    """The model preferred, read again from the reply where there is one."""
    spoken = split_thought(reply or "").reply.upper()
    marks = (set(one.findall(spoken)) & set(_STRENGTHS) for one in _ARENA)
    read = next(filter(None, marks), set())
    if len(read) > 1:
        return None, Outcome.CONFLICTING
    found = read.pop() if read else score if reply is None else None
    if found not in _STRENGTHS:
        return None, None
    if found == "A=B":
        return TIE, None
    return shown[0 if str(found).startswith("A") else 1], None


_DRAWS = (0, 1.5)  # preferences of alpaca_eval


def _alpaca_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of ``annotations.json`` and of caches ``annotations_seed<N>_configs.json``.

    Read from ``annotators/pairwise_evaluator.py`` of alpaca_eval at cd543a1: ``preference`` is 1 to
    2, below 1.5 the first, 1.5 a tie; a weighted one is read so, too. 0 is a draw: for
    ``alpaca_eval/metrics/winrate.py`` it counts as 1.5. Which answer was shown first
    is drawn by a rule from a seed and not stored, so that no label is known.
    """
    for _, record in records(path):
        models = (str(record.get("generator_1")), str(record.get("generator_2")))
        preference = finite_number(record.get("preference"))
        won = None
        if preference is not None and (preference == 0 or 1 <= preference <= 2):
            won = TIE if preference in _DRAWS else models[0 if preference < 1.5 else 1]
        instruction = text(record.get("instruction"))
        yield LogRow(
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


FASTCHAT = LogFormat(known=_fastchat_known, read=_fastchat_log_judgments)
ARENA_HARD = LogFormat(known=having("model", "judge", "games"), read=_arena_log_judgments)
ALPACA_EVAL = LogFormat(
    known=having("instruction", "generator_1", "generator_2", "preference"),
    read=_alpaca_log_judgments,
)


_SIDES = ("chosen", "rejected")


def _prometheus_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of ``<model>-outputs/<data>_<mode>_temp<t>_output.json`` of prometheus-eval: lines.

    Read from ``eval/run_evaluate.py`` at dcfb442. ``prometheus_score`` has a score a run; of two
    answers that are graded apart (mode a2r) the runs of the chosen one, then those of the rejected
    one; of two that are compared (r2r) A or B. The tool asks a reply without a score again, up to
    five times, and keeps the last, so that none is unreadable here; of a reply it keeps what stands
    before ``[RESULT]``. ``gpt4_score`` are those of another judge, ``human_score`` those of people.
    """
    judge = PurePosixPath(path).parent.name.removesuffix("-outputs") or UNNAMED
    for _, one in records(path):
        asked = _first_log_field_text(one, "orig_instruction", "instruction", "input")
        answer = _first_log_field_text(one, "orig_response", "response")
        answers = {letter: text(one.get(f"orig_response_{letter}")) for letter in _PLACES}
        name = _first_log_field_text(one, "uid", "id", "idx")
        item = name or named_by(
            [asked, answer] if answer else [asked, *sorted(map(str, answers.values()))]
        )
        scores = as_list(one.get("prometheus_score"))
        outputs = as_list(one.get("prometheus_output"))
        apart = bool(scores) and all(isinstance(score, list) for score in scores)
        good = text(one.get("chosen"))
        known = LogRow(
            item_id=item, question=asked, answer=answer,
            responder=text(one.get("response_source")),
        )  # fmt: skip
        runs = _scores_with_replies(scores, outputs)
        sides = zip(_SIDES, runs, strict=False) if apart else [(None, (scores, outputs))]
        for side, (scored_runs, replies) in sides:
            letter = good if side == _SIDES[0] else {"A": "B", "B": "A"}.get(good or "")
            judged = answers.get(letter or "") if apart else answer
            for score, output in _scores_with_replies(scored_runs, replies):
                reply = text(output)
                read = read_free_reply(reply, forms=("result",)) if reply else FreeReading()
                conflicts = read.outcome is Outcome.CONFLICTING
                scored = finite_number(score) if read.score is None else read.score
                picked = score if score in _PLACES else None
                yield replace(
                    known, judge=judge, answer=judged, reply=reply,
                    responder=side or known.responder,
                    score=None if conflicts else scored, out_of=read.out_of,
                    verdict=picked, label=picked,
                    outcome=Outcome.CONFLICTING if conflicts else None,
                    gold=good if picked and good in _PLACES else None,
                    n_options=2 if picked else None,
                )  # fmt: skip
        for score, output in _scores_with_replies(one.get("gpt4_score"), one.get("gpt4_feedback")):
            yield replace(known, judge="gpt4", score=finite_number(score), reply=text(output))
        for score in as_list(one.get("human_score")):
            yield replace(known, judge=PEOPLE, score=finite_number(score))


def _scores_with_replies(scores: object, replies: object) -> Iterator[tuple[object, object]]:
    """Scores, each with the reply that gave it; None where there are fewer replies."""
    return zip(as_list(scores), chain(as_list(replies), repeat(None)), strict=False)


def _first_log_field_text(one: Mapping[str, object], *names: str) -> str | None:
    """The first of some fields that holds anything, as text."""
    return next((found for name in names if (found := text(one.get(name))) is not None), None)


_BIGGEN = {"capability", "task", "response_model_name", "score"}


def _biggen_known(seen: Sight) -> bool:
    fields = {path[1] for path in seen.first if len(path) == 2}
    return (seen.kind == "document" and fields >= _BIGGEN) or seen.record().keys() >= _BIGGEN


def _biggen_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of BiGGen-Bench at dcfb442: an object of records by their id, or a list of them.

    Scores are texts; the judge is ``eval_model_name`` where the file has it.
    """
    seen = sight(path)
    if seen.kind == "document" and not seen.record().keys() >= _BIGGEN:
        found: Iterable[tuple[object, object]] = ((at[0], one) for at, one in values(path, depth=1))
    else:
        found = ((None, one) for _, one in records(path))
    for name, record in found:
        one = mapping(record)
        judge = text(one.get("eval_model_name")) or UNNAMED
        # A reply that held no score after ten tries has none.
        for score in as_list(one.get("score")) or [None]:
            yield LogRow(
                judge=judge, item_id=text(one.get("id")) or str(name), score=finite_number(score),
                benchmark=text(one.get("capability")), question=text(one.get("input")),
                responder=text(one.get("response_model_name")), answer=text(one.get("response")),
                reply=text(one.get("feedback")),
            )  # fmt: skip


_SELECTED = "_selected_option"
_SWAPPED = "_positional_bias"


def _unitxt_record_scores(record: Mapping[str, object]) -> Mapping[str, object]:
    """Scores of an instance of unitxt, wherever they stand."""
    return mapping(mapping(record.get("score")).get("instance")) or record


def _unitxt_known(seen: Sight) -> bool:
    names = _unitxt_record_scores(seen.record("instances"))
    direct = any(name.endswith(_SELECTED) and name[: -len(_SELECTED)] in names for name in names)
    return direct or any(re.fullmatch(r"\w+_contest_results", name) for name in names)


def _unitxt_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of unitxt's direct judges at 20b951e and 1.26.10, one of each order of the options.

    unitxt replaces a reply that names no option by the option whose spelling is nearest: an option
    that its reply (``<s>_option_selection_completion``) does not hold is no verdict.
    """
    for place, record in records(path, ("instances",)):
        one = _unitxt_record_scores(record)
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
                spoken = split_thought(reply or "").reply
                forced = bool(reply and option and not _logged_reply_holds_option(spoken, option))
                yield LogRow(
                    item_id=item, criterion=base, option_order=order, reply=reply,
                    verdict=None if forced else option, question=text(record.get("source")),
                    answer=text(record.get("prediction")),
                    outcome=Outcome.UNPARSED if forced else None,
                )  # fmt: skip


def _logged_reply_holds_option(reply: str, option: str) -> bool:
    """Whether a reply has an option in it, as a word: "I cannot choose" does not say No."""
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", reply, re.I) is not None


def _evalassist_record_result(record: Mapping[str, object]) -> Mapping[str, object]:
    """The result, which the API puts beside its ``id``."""
    return mapping(record.get("result")) or record


def _evalassist_known(seen: Sight) -> bool:
    record = _evalassist_record_result(seen.record("results"))
    return {"selected_option", "criteria", "instance"} <= record.keys() or (
        "per_system_results" in record
    )


def _evalassist_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of direct results of EvalAssist at 5a1bd42 and 1.0.5, of Python or ``/evaluate/``.

    ``self_consistency.selected_options`` are replications. Where ``generation_failed`` the option
    recorded was drawn at random: it is no verdict. That is recorded of one replication alone, the
    one whose option is kept, and taken for all of them. ``positional_bias.result`` is the other
    order.
    """
    for place, record in records(path, ("results",)):
        one = _evalassist_record_result(record)
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
            options = map(mapping, as_list(criteria.get("options")))
            scores = {text(opt.get("name")): finite_number(opt.get("score")) for opt in options}
            repeats = as_list(mapping(meta.get("self_consistency")).get("selected_options"))
            failed = bool(meta.get("generation_failed") or meta.get("final_fallback_chosen"))
            for option in repeats or [result.get("selected_option")]:
                verdict = None if failed else text(option)
                yield LogRow(
                    item_id=item, criterion=text(criteria.get("name")), option_order=order,
                    verdict=verdict, score=scores.get(verdict),
                    outcome=Outcome.UNPARSED if failed else None,
                    n_options=len(scores) or None, reply=text(meta.get("unparsed_response")),
                )  # fmt: skip


PROMETHEUS = LogFormat(
    known=having("prometheus_output", "prometheus_score"), read=_prometheus_log_judgments
)
BIGGEN = LogFormat(known=_biggen_known, read=_biggen_log_judgments)
UNITXT = LogFormat(known=_unitxt_known, read=_unitxt_log_judgments)
EVALASSIST = LogFormat(known=_evalassist_known, read=_evalassist_log_judgments)
