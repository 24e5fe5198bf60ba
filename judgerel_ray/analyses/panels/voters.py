"""Systems that answer the same questions, laid side by side: their votes, confidences and costs.

Answers cost money, else tokens, else requests.

What votes of a panel count: alike, by stated confidence, or by accuracy elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.verb import read_number
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.counting.files.source import quote_columns
from judgerel_ray.counting.measured import TOKENS, cost_unit, unused_line
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdicts.policy import Row
from judgerel_ray.measuring.systems import CONFIDENCES, QUESTION, SYSTEM, System, system_label
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.panels.panel import Ints, mean_interval
from judgerel_ray.stats.panels.search import PanelPrices
from judgerel_ray.stats.selective.systems import paired_accuracy

_SPENT = "spent"
_MILLION = 1_000_000
_MOST = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model's replies cost."""

    reply: float = 0.0  # Of every reply, whatever its length.
    prompt: float = 0.0  # Of a million tokens read, and written.
    completion: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplyCosts:
    """Mean cost of the replies of a file or run."""

    unit: str  # "cost" (money), "tokens" or "requests".
    means: pl.DataFrame  # The columns that make a system, `stage`, and `spent` a reply.
    row: pl.Expr  # The cost of one row of judgments.

    def of(self, name: Mapping[str, object]) -> dict[str, float]:
        """Give the mean cost of a reply in each stage of a system.

        Examples
        --------
        >>> rows = pl.LazyFrame({"judge": ["a", "a", "b"], "cost": [1.0, 2.0, 5.0]})
        >>> read_reply_costs(rows).of({"judge": "a"})
        {'': 1.5}
        """
        of_name = [
            pl.col(key).eq_missing(pl.lit(value))
            for key, value in name.items()
            if key in self.means.columns
        ]
        rows = self.means.filter(pl.all_horizontal(pl.lit(True), *of_name))
        weighted = rows.group_by("stage").agg(
            (pl.col(_SPENT) * pl.col("n")).sum() / pl.col("n").sum()
        )
        return dict(weighted.sort("stage").iter_rows())


PRICE = "A_REPLY, or PROMPT,COMPLETION of a million tokens"
"""What a price is, as text."""


def price_of(price: object) -> Price:
    """Read a price: of a reply (``0.002``), or of a million tokens read and written (``0.8,4``).

    Examples
    --------
    >>> price_of("0.8,4") == price_of((0.8, 4))
    True
    >>> price_of(0.002)
    Price(reply=0.002, prompt=0.0, completion=0.0)
    """
    if isinstance(price, Price):
        return price
    parts = price.split(",") if isinstance(price, str) else price
    try:
        numbers = [
            read_number(part) for part in (parts if isinstance(parts, list | tuple) else [parts])
        ]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 <= n < _MOST for n in numbers):
        raise ValueError(PRICE)
    if len(numbers) == 1:
        return Price(reply=numbers[0])
    return Price(prompt=numbers[0], completion=numbers[1])


def read_reply_costs(
    judgments: pl.LazyFrame, *, prices: Mapping[str, Price] | None = None
) -> ReplyCosts:
    """Find what replies cost.

    In money by `prices`, or where every row has a ``cost``, none below 0 and not all 0; else in
    tokens, where every row has them; else every reply counts 1.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["a"], "prompt_tokens": [90], "completion_tokens": [10]})
    >>> read_reply_costs(rows).unit, read_reply_costs(rows).of({"judge": "a"})
    ('tokens', {'': 100.0})
    """
    columns, every = judgments.collect_schema().names(), judgments
    counted = pl.lit(True)
    if "block" in columns:
        counted &= pl.col("block").fill_null(0) == 0
    if "outcome" in columns:
        counted &= pl.col("outcome").fill_null("") != Outcome.FAILED.value
    judgments = every.filter(counted)
    if prices is None:
        unit, row = cost_unit(judgments)
    else:
        unit, row = "cost", _priced_panel_judgments(judgments, prices)
    if unit != "cost" and (line := unused_line(every, counted, unit)):
        warn_of([line])
    keys = [name for name in SYSTEM if name in columns]
    stage = pl.col("stage") if "stage" in columns else pl.lit("")
    role = [pl.col("role").fill_null("judge")] if "role" in columns else []
    means = (
        judgments.with_columns(*role, stage=stage.fill_null(""), spent=row)
        .group_by(*keys, "stage")
        # Rows are summed in any order: last digits are noise, and must not tell who is dearer.
        .agg(pl.col(_SPENT).mean().round_sig_figs(12), n=pl.len())
        .collect()
        .sort(*keys, "stage")
    )
    return ReplyCosts(unit=unit, means=means, row=row)


def _priced_panel_judgments(judgments: pl.LazyFrame, prices: Mapping[str, Price]) -> pl.Expr:
    """The cost of a row by the price of its judge."""
    names = judgments.select(pl.col("judge").cast(pl.String).unique()).collect()["judge"]
    lacking = sorted(set(names.drop_nulls()) - set(prices))
    unknown = sorted(set(prices) - set(names.drop_nulls()))
    if lacking or unknown:
        raise SweepError(
            f"no price of {lacking[0]!r}" if lacking else f"{unknown[0]!r} has a price and no row",
            where={"judges": " ".join(sorted(names.drop_nulls()))},
            hint="--price NAME=... for every judge",
        )
    by_token = any(price.prompt or price.completion for price in prices.values())
    if by_token and cost_unit(judgments.drop("cost", strict=False))[0] != "tokens":
        raise SweepError("prices of tokens need prompt_tokens and completion_tokens in every row")

    def part(name: str) -> pl.Expr:
        price_of = {judge: float(getattr(price, name)) for judge, price in prices.items()}
        return pl.col("judge").cast(pl.String).replace_strict(price_of, return_dtype=pl.Float64)

    if not by_token:
        return part("reply")
    read, written = (pl.col(name).cast(pl.Float64) for name in TOKENS)
    return part("reply") + (part("prompt") * read + part("completion") * written) / _MILLION


_APART = ("judge", "role")
_COMPARES = ("participant", "evaluator_only")
_OF_OTHERS = ("agreement", "support")
_PLACE = "__place"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Voters:
    """Systems of one group on the questions that all of them answered.

    A unit is a question asked once of everyone: the n-th answer of each stands in the n-th unit
    of the question.
    """

    # The group: benchmark, protocol, temperature and what else there is.
    name: Mapping[str, object]
    members: tuple[str, ...]  # The systems, by judge, and by role where there are several.
    # Shape (n_units, n_members). Code of each verdict, -1 for none.
    votes_UJ: Ints  # noqa: N815  a shape, not a case
    # Shape (n_units,). Code of the right one, -1 where nobody gave it anywhere.
    right_U: Ints  # noqa: N815
    # Shape (n_units,). Question of each unit.
    questions_U: Ints  # noqa: N815
    # Shape (n_units, n_members). As asked for; NaN for none, and for no verdict.
    confidence_UJ: Floats  # noqa: N815
    # Shape (n_units, n_members). Cost of each answer, all it stands on included, as if it were
    # bought alone.
    spent_UJ: Floats  # noqa: N815
    # Shape (n_units, n_members). Cost of the question's other replies, where the confidence is how
    # far they agree; else 0.
    more_UJ: Floats  # noqa: N815
    prices: PanelPrices  # Mean costs, with what members share.
    cost_unit: str  # "cost", "tokens" or "requests".
    n_dropped: int  # Questions left out as not all were asked.
    # Members that compare nobody's answers; all of them where that leaves fewer than two.
    alone_J: tuple[int, ...]  # noqa: N815

    @property
    def n_questions(self) -> int:
        """Questions that all members answered."""
        return int(self.questions_U.max()) + 1 if self.questions_U.size else 0

    @property
    def wrong_UJ(self) -> Floats:  # noqa: N802  a shape, not a case
        """Whether each answer is wrong, no verdict being so."""
        wrong: Floats = np.where(self.votes_UJ == self.right_U[:, None], 0.0, 1.0)
        return wrong


def read_voters(
    systems: Sequence[System],
    judgments: pl.LazyFrame,
    *,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
) -> list[Voters]:
    """Lay systems side by side, by benchmark, protocol, temperature and what else there is.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> rows = pl.LazyFrame({"item_id": ["q", "r", "r", "q"], "judge": ["a", "a", "b", "b"],
    ...         "replication": [0] * 4, "verdict": ["1", "2", "2", None], "gold": list("1221")})
    >>> [one] = read_voters(read_systems(rows), rows)
    >>> one.members, one.votes_UJ.tolist(), one.right_U.tolist()
    (('a', 'b'), [[0, -1], [1, 1]], [0, 1])
    """
    if "judge" not in judgments.collect_schema().names():
        raise SweepError(
            "panels and cascades need a column 'judge' to tell systems apart by, got "
            f"{quote_columns(judgments.collect_schema())}",
            hint="name the column of who answered judge (judgerel import table FILE "
            "--column judge=NAME --out FILE.parquet)",
        )
    if confidence not in CONFIDENCES:
        raise SweepError(f"confidence must be one of {', '.join(CONFIDENCES)}, got {confidence!r}")
    spending = read_reply_costs(judgments, prices=prices)
    groups: dict[tuple[object, ...], list[System]] = {}
    for system in systems:
        key = tuple((name, value) for name, value in system.name.items() if name not in _APART)
        groups.setdefault(key, []).append(system)
    several = (group for group in groups.values() if len(group) > 1)
    found = [_voters_of_panel(group, spending, systems, confidence) for group in several]
    return [voters for voters in found if voters.n_questions]


def check_voters(found: Sequence[Voters], systems: Sequence[System]) -> None:
    """Refuse systems of which no two answered the same questions alike.

    Examples
    --------
    >>> check_voters([], [System(name={"judge": "a"}, label="a", rows=pl.DataFrame())])
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no two systems answered the same questions alike: ...
    """
    if found:
        return
    shared = [name for name in systems[0].name if name not in _APART] if systems else []
    raise SweepError(
        "no two systems answered the same questions alike: expected two judges, or roles, "
        f"with one {', '.join(shared) or 'file'}, got "
        f"{', '.join(system.label for system in systems[:8]) or 'none'}",
        hint="--by benchmark lays systems side by side that differ in all else",
    )


def _voters_of_panel(
    group: Sequence[System], spending: ReplyCosts, every: Sequence[System], confidence: str
) -> Voters:
    """One group, side by side."""
    roles = {system.name.get("role") for system in group}
    names_apart = ["judge", *(["role"] if len(roles) > 1 else [])]
    members = tuple(system_label(system.name, names_apart) for system in group)
    parts = [_panel_answers_in_place(system, spending, confidence) for system in group]
    keys = [QUESTION, _PLACE]
    shared = parts[0].select(*keys, GOLD)
    for part in parts[1:]:
        shared = shared.join(part.select(keys), on=keys)
    shared = shared.sort(keys)
    asked = {number for part in parts for number in part[QUESTION]}
    lined = [shared.select(keys).join(part, on=keys, how="left") for part in parts]
    names = pl.concat([one["verdict"] for one in lined] + [shared[GOLD]]).drop_nulls()
    codes = {name: code for code, name in enumerate(names.unique().sort())}
    votes = np.stack([_panel_name_codes(one["verdict"], codes) for one in lined], axis=1)
    things = dict(_things_panel_stands_on(group, spending, every))
    needs = [[thing in _panel_member_replies(one, every) for thing in things] for one in group]
    prices = PanelPrices(needs_JP=np.array(needs), prices_P=np.array([*things.values()]))
    # What stands behind an answer beside its own reply is known by its mean.
    behind = np.array([prices.of([j]) - _mean_cost(one, spending) for j, one in enumerate(group)])
    spent, more, others = (
        np.stack([one[name].to_numpy() for one in lined], axis=1)
        for name in ("spent", "more", "others")
    )
    again = [
        0.0 if one.name.get("role") in _COMPARES else cost
        for one, cost in zip(group, behind, strict=True)
    ]
    alone = [j for j, one in enumerate(group) if one.name.get("role") not in _COMPARES]
    return Voters(
        name={name: value for name, value in group[0].name.items() if name not in _APART},
        members=members,
        votes_UJ=votes,
        right_U=_panel_name_codes(shared[GOLD], codes),
        questions_U=shared[QUESTION].rank("dense").to_numpy().astype(np.int64) - 1,
        confidence_UJ=np.stack([one["sure"].to_numpy() for one in lined], axis=1),
        spent_UJ=spent + behind,
        more_UJ=more + others * again,
        prices=prices,
        cost_unit=spending.unit,
        n_dropped=len(asked) - shared[QUESTION].n_unique(),
        alone_J=tuple(alone if len(alone) > 1 else range(len(group))),
    )


def _panel_answers_in_place(system: System, spending: ReplyCosts, confidence: str) -> pl.DataFrame:
    """A system's answers, numbered inside each question, with what each cost."""
    judge = pl.lit(system.name.get("judge")).alias("judge")
    rows = system.rows if "judge" in system.rows.columns else system.rows.with_columns(judge)
    rows = rows.with_columns(
        pl.Series("sure", system.scores_N(confidence)).fill_null(float("nan")),
        spending.row.fill_null(_mean_cost(system, spending)).alias("spent"),
    )
    facets = [name for name in FACETS if name in rows.columns]
    # How far replies agree is known once all are paid for.
    pays = 1 if confidence in _OF_OTHERS else 0
    rows = rows.with_columns(
        more=pays * (pl.col("spent").sum().over(QUESTION, *facets) - pl.col("spent")),
        others=pays * (pl.len().over(QUESTION, *facets).cast(pl.Float64) - 1),
    )
    return rows.sort(QUESTION, "replication", *facets, "verdict", "sure").select(
        QUESTION,
        pl.int_range(pl.len()).over(QUESTION).alias(_PLACE),
        *("verdict", GOLD, "sure", "spent", "more", "others"),
    )


def _panel_name_codes(values: pl.Series, codes: Mapping[str, int]) -> Ints:
    """Names as codes, -1 for none."""
    found: Ints = (
        values.replace_strict(codes, default=None, return_dtype=pl.Int64).fill_null(-1).to_numpy()
    )
    return found


def _mean_cost(system: System, spending: ReplyCosts) -> float:
    """Mean cost of the reply that holds the verdict."""
    stages = spending.of(system.name)
    last = [cost for stage, cost in stages.items() if stage != "select"]
    return sum(last) / len(last) if last else 0.0


def _panel_member_replies(system: System, every: Sequence[System]) -> list[tuple[str, object]]:
    """Its own replies, and the answers it compares."""
    judge, role = system.name.get("judge"), system.name.get("role")
    if role == "responder":
        return [("answers", judge)]
    compared = _panel_member_models(system, every) if role in _COMPARES else []
    left_out = judge if role == "evaluator_only" else None
    return [(str(role), judge), *(("answers", one) for one in compared if one != left_out)]


def _panel_member_models(system: System, every: Sequence[System]) -> list[object]:
    """Models whose answers a judge of them may compare."""
    benchmark = system.name.get("benchmark")
    found = [
        one.name.get("judge")
        for one in every
        if one.name.get("role") == "responder" and one.name.get("benchmark") == benchmark
    ]
    return list(dict.fromkeys(found))


def _things_panel_stands_on(
    group: Sequence[System], spending: ReplyCosts, every: Sequence[System]
) -> Iterator[tuple[tuple[str, object], float]]:
    """Everything that members stand on, with its mean cost."""
    by_voter = {(str(one.name.get("role")), one.name.get("judge")): one for one in group}
    for system in group:
        for kind, judge in _panel_member_replies(system, every):
            of = by_voter.get(("responder" if kind == "answers" else kind, judge))
            name = {"judge": judge, "role": "responder"} if of is None else of.name
            yield (kind, judge), sum(spending.of(name).values())


def accuracy_row(right_Q: Floats) -> Row:
    """Give an accuracy with its interval over questions, of the share right of each.

    Examples
    --------
    >>> accuracy_row(np.array([1.0, 0.5, 0.0]))["accuracy"]
    0.5
    """
    ends = mean_interval(right_Q)
    return {"accuracy": float(right_Q.mean()), "low": ends.low, "high": ends.high}


def gain_row(right_Q: Floats, other_Q: Floats | None, name: str = "gain") -> Row:
    """Give what is gained over something else on the same questions; nothing over the same.

    Examples
    --------
    >>> gain_row(np.array([1.0, 0.0]), None)
    {}
    """
    if other_Q is None:
        return {}
    if other_Q is right_Q:
        return {name: 0.0}
    found = paired_accuracy(other_Q, right_Q)
    return {name: found.difference, f"{name}_low": found.low, f"{name}_high": found.high}


RULES = ("majority", "confidence", "accuracy")
"""How votes count: alike; by the confidence stated; by the log-odds of being right elsewhere."""
N_FOLDS = 5


def rule_weights(voters: Voters, rule: str, *, seed: int = 0) -> Floats | None:
    """Weigh votes by a rule; None where all count alike, or nothing tells some member's weight.

    Stated confidences weigh votes where every member states any: who states none would have no
    vote at all.

    By accuracy, a vote counts the log-odds of its member being right, on the questions of the
    other folds, against one of the other verdicts at random; at least 0.

    Shape (n_units, n_members).

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "replication": [0, 0],
    ...         "verdict": ["1", "2"], "gold": ["1", "1"], "confidence": [0.9, 0.4]})
    >>> rule_weights(read_voters(read_systems(rows), rows)[0], "confidence").tolist()
    [[0.9, 0.4]]
    """
    if rule == "majority":
        return None
    if rule == "confidence":
        stated: Floats = np.nan_to_num(voters.confidence_UJ)
        return stated if (stated > 0).any(axis=0).all() else None
    n = voters.n_questions
    if n < 2:
        return None
    folds = min(N_FOLDS, n)
    fold_U = grouped_folds(np.arange(n), n_folds=folds, seed=seed)[voters.questions_U]
    others = max(1, int(max(voters.votes_UJ.max(), voters.right_U.max())))
    weights: Floats = np.empty(voters.votes_UJ.shape)
    for fold in range(folds):
        seen = voters.wrong_UJ[fold_U != fold]
        # Half a question more of either kind: nobody is known to be always right.
        wrong, right = seen.sum(axis=0) + 0.5, len(seen) - seen.sum(axis=0) + 0.5
        weights[fold_U == fold] = np.maximum(0.0, np.log(right * others / wrong))
    return weights
