"""From completions to rows: the verdict is read here, once, by pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import polars as pl

from judgerel_ray.config import Prices
from judgerel_ray.core import (
    CUT_IN_THOUGHT,
    DECLINED,
    Ask,
    Completion,
    Condition,
    Outcome,
    StoreError,
    request_key,
)
from judgerel_ray.fleet.lease import split_leased_ask
from judgerel_ray.protocols import (
    CONFIDENT_FORMS,
    read_assessment,
    read_confidence,
    read_rating,
    read_selection,
    read_verdict,
    split_answer,
    split_thought,
)
from judgerel_ray.protocols.replies.thoughts import SplitReply
from judgerel_ray.tables import Completions, Errors, Judgments

_OF_CONDITION, _OF_COMPLETION = (
    [one.name for one in fields(kind) if one.name in Judgments.column_names()]
    for kind in (Condition, Completion)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Judgments and texts of the same requests, in the same order."""

    judgments: pl.DataFrame
    completions: pl.DataFrame


def landed_rows(
    answered: Sequence[tuple[Ask, Sequence[Completion]]],
    *,
    attempt: int,
    prices: Prices | None,
    landed_at: datetime,
) -> Rows:
    """Read every completion's verdict and lay both tables out.

    Parameters
    ----------
    answered : sequence of (Ask, sequence of Completion)
        One completion a replication, in the order of the ask's replications.
    attempt : int
        Which try of the lease.
    prices : Prices or None
        Money for a million tokens.
    landed_at : datetime
        In UTC.

    Returns
    -------
    Rows
        One row a completion in both tables.

    Raises
    ------
    ValueError
        If completions and replications do not match one to one.

    Examples
    --------
    >>> from datetime import UTC
    >>> landed_rows([], attempt=1, prices=None, landed_at=datetime.now(UTC)).judgments.height
    0
    """
    for ask, completions in answered:
        _check_one_to_one(ask, completions)
    # Once a condition and once a reply; a row is then no more than its place among them.
    sizes = np.array([len(replies) for _, replies in answered], dtype=np.int64)
    of_ask = np.repeat(np.arange(len(answered)), sizes)
    place: dict[tuple[int, str | None, str], int] = {}
    read: list[ReadReply] = []
    of_reply: list[int] = []
    came = [completion for _, completions in answered for completion in completions]
    for number, one in zip(of_ask.tolist(), came, strict=True):
        reply = (number, one.text, one.finish_reason)
        found = place.setdefault(reply, len(read))
        if found == len(read):
            read.append(read_by_condition(answered[number][0].condition, *reply[1:]))
        of_reply.append(found)
    every = [
        without_thought(one, answered[number][0].condition)
        for number, one in zip(of_ask.tolist(), came, strict=True)
    ]
    schema = Judgments.create_empty().schema
    conditions = _actor_rows_as_columns(
        schema, [ask.condition for ask, _ in answered], _OF_CONDITION
    )
    judgments = pl.concat(
        [
            conditions[of_ask],
            _actor_rows_as_columns(schema, read, ReadReply._fields)[
                np.array(of_reply, dtype=np.int64)
            ],
            _actor_rows_as_columns(schema, every, _OF_COMPLETION),
        ],
        how="horizontal",
    ).with_columns(
        pl.Series(
            "cost", [_cost_of_actor_reply(one, prices) for one in every], dtype=schema["cost"]
        ),
        attempt=pl.lit(attempt, schema["attempt"]),
        landed_at=pl.lit(landed_at).cast(schema["landed_at"]),
    )
    texts = {
        "key": [one.key for one in every],
        "text": [one.text for one in every],
        "thought": [one.thought for one in every],
        "logprobs": [[asdict(each) for each in one.logprobs] or None for one in every],
    }
    return Rows(
        judgments=judgments.select(list(schema)),
        completions=pl.DataFrame(texts, schema=Completions.create_empty().schema),
    )


def _actor_rows_as_columns(
    schema: Mapping[str, pl.DataType], rows: Sequence[object], names: Sequence[str]
) -> pl.DataFrame:
    """Attributes of rows as columns."""
    columns = zip(*map(attrgetter(*names), rows), strict=True)
    values = dict(zip(names, columns, strict=True)) if rows else {}
    return pl.DataFrame(values, schema={name: schema[name] for name in names})


def never_sent(
    ask: Ask, reason: str, known: Mapping[str, object] | None = None
) -> tuple[Completion, ...]:
    """Completions of an ask that can never succeed: no text, and the reason why.

    What is `known` of it may hold the ``prompt_tokens`` that were counted before it was refused.

    Examples
    --------
    >>> from judgerel_ray.core import Condition
    >>> condition = Condition(
    ...     condition_key="k", seed_base=1, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="q", protocol="best_of", stage="judge", role="judge", prompt=(),
    ...     template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=8)
    >>> never_sent(Ask(condition=condition, first=0, n=1), "prompt too long")[0].finish_reason
    'refused: prompt too long'
    """
    condition = ask.condition
    greedy = condition.temperature == 0.0
    counted = (known or {}).get("prompt_tokens")
    return tuple(
        Completion(
            key=request_key(condition.condition_key, r),
            replication=r,
            seed=None if greedy else condition.seed_base + r,
            text=None,
            finish_reason=f"refused: {reason}",
            prompt_tokens=counted if isinstance(counted, int) else None,
            completion_tokens=0,
        )
        for r in ask.replications
    )


def failure_rows(
    asks: Sequence[Ask],
    *,
    lease: str,
    attempt: int,
    kind: str,
    message: str,
    failed_at: datetime,
) -> pl.DataFrame:
    """Rows of the errors table: one for each replication that did not land."""
    # What an exception quotes may hold halves of characters, which no file can.
    message = message.encode("utf-8", "replace").decode().strip()
    first_line = message.splitlines()[0][:500] if message else ""
    rows = [
        {
            "key": request_key(ask.condition.condition_key, r),
            "judge": ask.condition.judge,
            "item_id": ask.condition.item_id,
            "condition_key": ask.condition.condition_key,
            "replication": r,
            "lease": lease,
            "attempt": attempt,
            "kind": kind,
            "message": first_line,
            "failed_at": failed_at,
        }
        for ask in asks
        for r in ask.replications
    ]
    return pl.DataFrame(rows, schema=Errors.create_empty().schema)


def _check_one_to_one(ask: Ask, completions: Sequence[Completion]) -> None:
    """Every replication asked came back once: anything else is a defect of the engine's code."""
    asked = list(ask.replications)
    got = [completion.replication for completion in completions]
    if asked != got:
        raise ValueError(
            f"completions of {ask.condition.condition_key} must be replications {asked}, got {got}"
        )


def _cost_of_actor_reply(completion: Completion, prices: Prices | None) -> float | None:
    """Money for a reply; None where nothing says it, or nothing was sent."""
    refused = completion.text is None and completion.finish_reason != DECLINED
    prompt, new = completion.prompt_tokens, completion.completion_tokens
    if prices is None or prompt is None or new is None or refused:
        return None
    return prices.cost(prompt, completion.cached_tokens or 0, new)


def without_thought(completion: Completion, condition: Condition) -> Completion:
    """Part what a model thought from what it said, as both are kept.

    Of an answer that others will judge only a thought at its very beginning is taken off; none is
    of a reply that is read by the published rule, which reads thoughts too.
    """
    text, menu = completion.text, condition.menu
    if text is None:
        return completion
    is_cut = completion.finish_reason == "length"
    if menu is not None and menu.reader == "schroeder2024":
        split = SplitReply(text)
    elif menu is None or condition.role == "assessor":
        split = split_answer(text)
    else:
        split = split_thought(text, is_whole=not is_cut)
    apart, before = completion.thought or "", split.thought or ""
    thought = (before if apart.strip() in before else f"{apart}\n{before}".strip("\n")) or None
    if thought is None:
        return completion
    # A server with a field for thoughts leaves the reply empty where the limit came inside one.
    in_thought = is_cut and (split.is_open or not split.reply)
    return replace(
        completion,
        text=split.reply,
        thought=thought,
        finish_reason=CUT_IN_THOUGHT if in_thought else completion.finish_reason,
    )


def split_answers(
    answers: Sequence[tuple[Ask, tuple[Completion, ...]]],
    check: Callable[[Sequence[tuple[Ask, tuple[Completion, ...]]]], object],
) -> tuple[list[tuple[Ask, tuple[Completion, ...]]], list[tuple[Ask, Exception]]]:
    """Find by halves which answers cannot be laid out, down to single replications."""
    try:
        check(answers)
    except StoreError:
        raise
    except Exception as error:  # whatever it is, one reply's defect costs that reply
        halves = _halves_of_actor_answers(answers)
        if not halves:
            return [], [(ask, error) for ask, _ in answers]
        parts = [split_answers(half, check) for half in halves]
        failed = [one for _, some in parts for one in some]
        if not failed:  # each half is sound, and both together are not
            raise
        return [one for some, _ in parts for one in some], failed
    return list(answers), []


def _halves_of_actor_answers(
    answers: Sequence[tuple[Ask, tuple[Completion, ...]]],
) -> tuple[Sequence[tuple[Ask, tuple[Completion, ...]]], ...]:
    """Cut answers in two: between asks, within the one there is, or not at all."""
    middle = len(answers) // 2
    if middle:
        return answers[:middle], answers[middle:]
    for ask, completions in answers:
        if ask.n > 1 and len(completions) == ask.n:
            some = split_leased_ask(ask, -(-ask.n // 2))
            return tuple([(one, completions[one.first - ask.first :][: one.n])] for one in some)
    return ()


class ReadReply(NamedTuple):
    """What a reply was read as: columns of the judgments table."""

    verdict: str | None = None
    label: str | None = None
    score: float | None = None
    confidence: float | None = None
    outcome: str | None = None


def read_by_condition(condition: Condition, text: str | None, finish_reason: str) -> ReadReply:
    """Read one reply by what was asked for."""
    menu = condition.menu
    if finish_reason == DECLINED:
        return ReadReply(outcome=Outcome.REFUSED.value)
    if text is None:
        return ReadReply(outcome="failed")
    if menu is None or condition.role == "scorer":
        return ReadReply()
    if condition.role == "assessor" and condition.argued is not None:
        absent = read_assessment(text, finish_reason=finish_reason)
        return ReadReply(
            label=menu.labels[menu.option_ids.index(condition.argued)],
            outcome=absent.value if absent else None,
        )
    if condition.stage == "select":
        selection = read_selection(text, finish_reason=finish_reason, menu=menu)
        why = selection.outcome
        return ReadReply(
            label=",".join(selection.labels) or None, outcome=why.value if why else None
        )
    if menu.scale is not None:
        rating = read_rating(text, finish_reason=finish_reason, menu=menu)
        return ReadReply(rating.label, rating.label, rating.score, None, rating.outcome.value)
    reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
    label = reading.label
    if label is None or reading.outcome is not Outcome.SCORED:
        return ReadReply(label=label, outcome=reading.outcome.value)
    confidence = None
    if menu.form in CONFIDENT_FORMS:
        confidence = read_confidence(
            text, finish_reason=finish_reason, form=menu.form, reader=menu.reader
        )
    verdict = menu.option_ids[menu.labels.index(label)]
    return ReadReply(verdict, label, None, confidence, reading.outcome.value)
