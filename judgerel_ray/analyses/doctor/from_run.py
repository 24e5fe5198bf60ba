"""From judgments to what they support: what columns are taken for, and what is in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import polars as pl

from judgerel_ray.analyses.doctor.diagnosis import Diagnosis, Judging, Support, TakenFor
from judgerel_ray.analyses.reliability.from_run import ReduceOptions, reduce_judged
from judgerel_ray.analyses.reliability.lead_codes import LeadCode, lead_parts
from judgerel_ray.blocks.words import group_label
from judgerel_ray.core import count_of, printable
from judgerel_ray.counting.columns import FACETS, OFTEN_CALLED, is_judge
from judgerel_ray.counting.facets import NUISANCE
from judgerel_ray.counting.files.source import names_told
from judgerel_ray.counting.given import Given, looked_at, reading_of
from judgerel_ray.counting.groups.grouping import DEFAULT_GROUPS
from judgerel_ray.counting.judged import Judged, open_judgments
from judgerel_ray.counting.judgments import ColumnsMissing
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdicts.places import ORDER, SHOWN
from judgerel_ray.counting.verdicts.policy import LABEL, SCORED, Row

_MEANT = {
    "item_id": "the item judged", "replication": "which repeat it is",
    "block": "which block of repeats", "verdict": "the verdict", "score": "the score",
    "outcome": "what became of the request", SHOWN: "the place of the chosen option",
    GOLD: "the right verdict", "confidence": "the judge's confidence", "key": "the request's key",
    "seed": "the seed", "n_options": "how many options there are",
    "n_answers": "how many answers its repeats judge", "options": "the options",
    "prompt_tokens": "cost", "completion_tokens": "cost", "cached_tokens": "cost", "cost": "cost",
    "finish_reason": "why the reply ended", "attempt": "which attempt landed",
    "landed_at": "when it landed",
}  # fmt: skip
_PERHAPS = {
    "judge": "who judged", "criterion": "what was judged", "temperature": "the judge's temperature",
    "gold": "the right verdict",
}  # fmt: skip
_WHERE_KNOWN = ("judge", "benchmark", "criterion", "option_order", "gold")
_PAIR = 2
_FEW_ITEMS = 20
_LABELS = 60
_NEARLY_ALL = 0.95


def diagnose(path: str | Given) -> Diagnosis:
    """Say what a run directory or a file of judgments supports.

    Effects: reads. Retry: safe.

    Raises
    ------
    SweepError
        If it cannot be read: a frame lacks a column (of a file a mapping is proposed), or rows
        contradict each other, which are named.
    StoreError
        If the path is a folder but no run directory.

    Warns
    -----
    ReadingWarning
        If a file was read otherwise than it is written.
    """
    path = looked_at(path)
    with reading_of(path):
        try:
            judged = open_judgments(path, extra=[], reads=[GOLD, "confidence"])
        except ColumnsMissing as error:
            if "file" not in error.where or [*error.meant] == ["replication"]:
                raise  # of a frame nobody writes a file; repeats are numbered without one
            return Diagnosis(mapping=_mapping(error), notes=(error.problem,))
        schema = judged.frame.collect_schema()
        options = ReduceOptions(coefficients=("percent_agreement", "valid_rate"))
        found = reduce_judged(judged, options)
        lacking = {"verdict": pl.String(), "score": pl.Float64()}
        rows = judged.frame.filter(is_judge(schema.names())).with_columns(
            pl.lit(None, kind).alias(name) for name, kind in lacking.items() if name not in schema
        )
        own = schema.names() if judged.tally is None else judged.tally.columns
        columns = tuple(_columns(judged, own))
        return Diagnosis(
            columns=columns,
            judges=tuple(_judges(found, rows)),
            supports=tuple(_supports(judged, rows, schema.names())),
            notes=judged.notes,
        )


def _mapping(error: ColumnsMissing) -> str:
    """What ``import table --map`` would read: columns probably meant, and ``?`` for the others."""
    found = dict(one for one in error.meant.values() if not isinstance(one, str))
    free = [name for name in error.free if name not in found.values()]
    perhaps = {name: one for name in OFTEN_CALLED if name not in error.there
               for one in [_often_called(name, free)] if one}  # fmt: skip
    lines = [f"{name} = {json.dumps(one)}" for name, one in found.items()]
    # Without its judge, rows of several run together: a guess that is seen is better than none.
    lines += [f"{name} = {json.dumps(one)}  # perhaps {_PERHAPS[name]}: take the line out if not"
              for name, one in perhaps.items()]  # fmt: skip
    free = [name for name in free if name not in perhaps.values()]
    lines = [*_side_by_side(free, error), "[columns]", *lines]
    for lacking in (name for name, one in error.meant.items() if isinstance(one, str)):
        name, _, other = lacking.partition(" or ")
        what = f"{_MEANT[name]}; or {other}, if numbers" if other else _MEANT[name]
        named = f": one of {printable(names_told(free))}" if free else ""
        line = f'{name} = "?"  # {what}{named}'
        # Rows alike are numbered in their order where no column says which repeat they are.
        lines.append(f"# {line}" if name == "replication" else line)
    rest = [name for name in _WHERE_KNOWN if name not in (*perhaps, *error.there)]
    return "\n".join([*lines, f"# {', '.join(rest)}, ... where known"])


def _often_called(name: str, free: Sequence[str]) -> str | None:
    """The column that is this one by another name, in any case; dotted names by their last part."""
    by_name = {one.rpartition(".")[2].lower(): one for one in free}
    return next((by_name[one] for one in (name, *OFTEN_CALLED[name]) if one in by_name), None)


def _side_by_side(free: Sequence[str], error: ColumnsMissing) -> list[str]:
    """Columns that are numbered may be repeats that stand side by side."""
    stems = [one.rstrip("0123456789") for one in free]
    many = [stem for stem in dict.fromkeys(stems) if stem and stems.count(stem) >= _PAIR]
    if not many or "replication" not in error.meant:
        return []
    what = "where these are repeats of one verdict, side by side: no verdict and replication then"
    return [f"# repeats = {json.dumps(f'{many[0]}*')}  # {what}"]


def _columns(judged: Judged, names: Sequence[str]) -> Iterator[TakenFor]:
    """What each column is taken for."""
    flat = [name for name, kind in judged.frame.collect_schema().items() if not kind.is_nested()]
    facts = judged.frame.select(
        *(pl.col(name).n_unique().alias(f"n_{name}") for name in flat),
        *(pl.col(name).null_count().alias(f"empty_{name}") for name in flat),
    ).collect(engine="streaming").row(0, named=True)  # fmt: skip
    for name in names:
        meant = _MEANT.get(name, "")
        if name in NUISANCE:
            meant = "a facet that should not matter"
        elif name in DEFAULT_GROUPS:
            meant = "makes groups"
        elif name in FACETS:
            meant = "tells units apart"
        yield TakenFor(
            column=name, taken_for=meant, n_values=int(facts.get(f"n_{name}", 0)),
            n_empty=int(facts.get(f"empty_{name}", 0)),
        )  # fmt: skip


def _judges(found: pl.DataFrame, rows: pl.LazyFrame) -> Iterator[Judging]:
    """Every group, and why it may be no judging at all."""
    groups = found.columns[: found.columns.index("coefficient")]
    scored = rows.filter(SCORED).group_by(*groups, LABEL.alias("__value")).agg(n=pl.len())
    counted = scored.collect(engine="streaming")
    for row in found.filter(coefficient="valid_rate").iter_rows(named=True):
        own = counted.filter(*(pl.col(name).eq_missing(pl.lit(row[name])) for name in groups))
        yield Judging(
            group=group_label(row, [name for name in groups if row[name] is not None]),
            n_items=row["n_items"],
            n_judgments=row["n_judgments"],
            valid_rate=row["value"],
            doubt=_doubt(row, own),
        )


def _doubt(row: Row, values: pl.DataFrame) -> str | None:
    """Why a group may be no judging at all: constant, unreadable, or a value in place of none."""
    lead, name = lead_parts(row["lead"])
    n = int(values["n"].sum())
    if lead == LeadCode.FEW_VERDICTS.value:
        return "unreadable: fewer than half of the replies hold a verdict; judgerel rejudge, or " \
               "another reader of replies"  # fmt: skip
    if lead == LeadCode.ONE_ANSWER.value:
        return f"constant: every verdict is {name}, whatever is asked"
    if lead == LeadCode.ONE_PLACE.value:
        return f"constant: every verdict names place {name}, whatever stands there"
    if n and values.height > 1 and (most := int(str(values["n"].max()))) >= _NEARLY_ALL * n:
        word = str(values.filter(pl.col("n") == most)["__value"][0]).removeprefix("=")
        return (
            f"nearly constant: {most:,} of {n:,} verdicts are {word}; perhaps what was put in "
            "place of replies that could not be read"
        )
    return None


def _supports(judged: Judged, rows: pl.LazyFrame, names: list[str]) -> Iterator[Support]:
    """What can be asked of the judgments, and what is in the way."""
    facets = [name for name in FACETS if name in names]
    asked = rows.filter(SCORED).group_by("item_id", *facets).agg(n=pl.len())
    units = asked.collect(engine="streaming")
    n_items = units["item_id"].n_unique()
    most = int(str(units["n"].max() or 0))
    again = units.filter(pl.col("n") >= _PAIR)["item_id"].n_unique()
    labels = f"bring {min(_LABELS, n_items):,} labels in a column {GOLD}"
    once = "every item was judged once" if most == 1 else "no item has a verdict"
    yield Support(
        question="does it repeat itself", verb="reduce", is_supported=again > 0,
        found=f"{again:,} of {n_items:,} items asked up to {most:,} times" if again else once,
        unblock=None if again else f"ask 2 more times (replication 0, 1, 2), or {labels}",
    )  # fmt: skip
    few = n_items < _FEW_ITEMS
    yield Support(
        question="are intervals to be trusted", verb="gate", is_supported=not few,
        found=f"{n_items:,} items",
        unblock=f"{_FEW_ITEMS - n_items:,} more items: below {_FEW_ITEMS} they cover less than "
        "they say" if few else None,
    )  # fmt: skip
    for name in NUISANCE:
        yield _of_facet(units, name)
    orders = ORDER in names and units[ORDER].drop_nulls().n_unique() > 1
    yield Support(
        question="does it go by position", verb="reduce",
        is_supported=orders and SHOWN in names,
        found=f"{'several orders' if orders else 'one order'} of the options, "
        f"{'a' if SHOWN in names else 'no'} column {SHOWN}",
        unblock=None if orders and SHOWN in names else f"ask in both orders (option_order 0, 1), "
        f"and say in a column {SHOWN} where the chosen option stood",
    )  # fmt: skip
    gold = rows.filter(pl.col(GOLD).is_not_null()).select(pl.col("item_id").n_unique()) \
        if GOLD in names else None  # fmt: skip
    n_gold = int(gold.collect().item()) if gold is not None else 0
    known = n_gold > 0 or (gold is None and judged.run is not None)
    yield Support(
        # Scores are right or wrong, too, but nothing is kept or handed on by them.
        question="is it right", verb="select" if "verdict" in names else "reduce",
        is_supported=known,
        found=f"{n_gold:,} items with a right verdict" if GOLD in names else
        "the run's items say" if known else "no right verdicts",
        unblock=None if known else labels,
    )  # fmt: skip
    judges = units.group_by("item_id").agg(pl.col("judge").drop_nulls().n_unique()) \
        if "judge" in names else None  # fmt: skip
    several = units["judge"].drop_nulls().n_unique() if "judge" in names else 1
    n_shared = 0 if judges is None else judges.filter(pl.col("judge") >= _PAIR).height
    needs = [] if n_shared else ["ask another judge the same items"]
    needs += [] if known else [labels]
    yield Support(
        question="is a panel worth more", verb="panels", is_supported=not needs,
        found=f"{count_of(several, 'judge')}"
        + (f" on {count_of(n_shared, 'item')} that two judged" if several > 1 else "")
        + ("" if known else ", no right verdicts"),
        unblock=", and ".join(needs) or None,
    )  # fmt: skip


def _of_facet(units: pl.DataFrame, name: str) -> Support:
    """Whether a facet that should not matter was varied inside items."""
    crossed = 0
    if name in units.columns:
        levels = units.group_by("item_id").agg(pl.col(name).drop_nulls().n_unique())
        crossed = levels.filter(pl.col(name) >= _PAIR).height
    facet = name.replace("_", " ")
    return Support(
        question=f"does {facet} matter", verb="reduce", is_supported=crossed > 0,
        found=f"{crossed:,} items at several levels" if crossed else "no item at two levels",
        unblock=None if crossed else f"ask the same items at two levels of {name}",
    )  # fmt: skip
