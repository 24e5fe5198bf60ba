"""What a page answers first: may these judges decide here, where, what is lacking, whom to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from judgerel_ray.analyses.gate.show import (
    SAID,
    SIGNS,
    TOO_MANY,
    decisions,
    more_words,
    verdict_line,
)
from judgerel_ray.analyses.gate.standing import COLUMNS, CROSSES, Verdict, overall
from judgerel_ray.analyses.reliability.headlines import first_rows
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figures,
    Lines,
    Paragraph,
    Span,
    Table,
    key_columns,
)
from judgerel_ray.blocks.words import (
    Row,
    cell,
    group_columns,
    group_label,
    interval,
    number,
    percent,
    percent_interval,
)
from judgerel_ray.measuring.alpha_figures import floor_figure
from judgerel_ray.measuring.unstable import UNSTABLE, Questions, question_text

_MOST = 8  # verdicts in words; all stand in the table
_NAMED = 3  # questions by their names, of verdicts and of ratings each
_WHOSE = ("judge", "criterion", "definition", "scale", "template", "temperature")
_SHARES = {
    "swap_consistency": "same option in another order",
    "valid_rate": "valid verdicts",
    "accuracy": "right, where that is known",
}
_READ = (
    "By the requirements that judgerel gate holds where none is given: the whole 95 % confidence "
    "interval must meet each. Alpha is 1 where a judge always agrees with itself and 0 where it "
    "does as often as its own verdicts, shuffled across the questions, would; ± is the standard "
    "deviation of that noise floor. Repeatability is of the same prompt again; reproducibility is "
    "of what should not matter (order of the options, template) drawn anew, and is what a decision "
    "rests on."
)


def first_screen(
    requirements: pl.DataFrame,
    coefficients: pl.DataFrame,
    unstable: pl.DataFrame,
    *,
    columns: Sequence[Callable[[Sequence[Row]], Column]] = (),
    questions: Questions | None = None,
) -> list[Block]:
    """Say whether each judge may decide here: a line each, their numbers, and one figure.

    Parameters
    ----------
    requirements : pl.DataFrame
        Of :func:`judgerel_ray.analyses.gate.from_run.gate_by_default`.
    coefficients, unstable : pl.DataFrame
        What the page measured.
    columns : sequence of callable
        What analyses add to the table, each from its groups (:class:`.FirstScreen`).
    questions : mapping of (str, str) to str, optional
        Texts of questions by benchmark and item_id.

    Returns
    -------
    list of Block
        For page and terminal alike.

    Examples
    --------
    >>> from judgerel_ray import example, gate, reduce
    >>> path = example("judgments.csv")
    >>> found = first_screen(gate(path).requirements, reduce(path), pl.DataFrame())
    >>> found[1].spans[0].text
    '? simulated-steady: undecided.'
    """
    if requirements.is_empty():
        return []
    groups = [name for name in requirements.columns if name not in COLUMNS]
    found = decisions(requirements)
    varying = [
        name
        for name in groups
        if name != "temperature"
        and (name == "judge" or len({cell(one.group[name]) for one in found}) > 1)
    ]
    blocks: list[Block] = [verdict_line(one, varying) for one in found[:_MOST]]
    if more := len(found) - _MOST:
        blocks += [Paragraph(f"{more:,} more stand in the table.")] if more > 0 else []
    blocks.append(_table(requirements, groups, coefficients, columns))
    blocks += _people(unstable, questions or {})
    blocks.append(Figures(floor_figure(coefficients), _LEGEND))
    return [*blocks, Paragraph(_READ, "soft")]


_LEGEND = (
    ("point", "alpha"),
    ("noise", "not distinguishable from noise"),
    ("interval", "95 % interval"),
    ("band", "where 95 % of noise falls"),
)


def _table(
    requirements: pl.DataFrame,
    groups: Sequence[str],
    coefficients: pl.DataFrame,
    added: Sequence[Callable[[Sequence[Row]], Column]],
) -> Table:
    """Every group's verdict and the numbers that made it."""
    parts: dict[tuple[object, ...], list[Row]] = {}
    for row in requirements.iter_rows(named=True):
        parts.setdefault(tuple(row[name] for name in groups), []).append(row)
    verdicts = [overall([str(row["verdict"]) for row in rows]) for rows in parts.values()]
    of = [_first_of(rows) for rows in parts.values()]
    alphas = [rows.get("krippendorff_alpha") for rows in of]
    names = group_columns(coefficients)
    floors = {
        tuple(row[name] for name in names): row
        for row in first_rows(coefficients, "krippendorff_alpha")
    }
    chance = [floors.get(key) for key in parts]
    keys = [dict(zip(groups, key, strict=True)) for key in parts]
    columns = [
        Column(head="verdict", cells=[f"{SIGNS[one]} {SAID[one]}" for one in verdicts]),
        *key_columns(keys, groups),
        Column(
            head="alpha [95 %]", is_number=True,
            cells=["-" if row is None else number(row["value"]) for row in alphas],
            small=["" if row is None else interval(row) for row in alphas],
        ),
        Column(
            head="noise floor", is_number=True,
            cells=["-" if row is None else number(row["noise_floor"]) for row in chance],
            small=["" if row is None or row["noise_floor_sd"] is None
                   else f"± {number(row['noise_floor_sd'])}" for row in chance],
        ),
        Column(
            head="alpha is of",
            cells=["-" if row is None else cell(row["conditions"]) for row in alphas],
        ),
        *(_share(head, [rows.get(name) for rows in of]) for name, head in _SHARES.items()),
        *(column(keys) for column in added),
        Column(head="what would decide", cells=[_needed(rows) for rows in parts.values()],
               kind="prose"),
    ]  # fmt: skip
    return Table("Whether each judge may decide, and the numbers that say so", columns, cards=True)


def _first_of(rows: Sequence[Row]) -> dict[str, Row]:
    """The first row of each coefficient."""
    return {str(row["coefficient"]): row for row in reversed(rows)}


def _share(head: str, rows: Sequence[Row | None]) -> Column:
    """Shares in percent with their intervals."""
    return Column(
        head=head, is_number=True,
        cells=["-" if row is None or row["value"] is None else percent(row["value"])
               for row in rows],
        small=["" if row is None else percent_interval(row["low"], row["high"]) for row in rows],
    )  # fmt: skip


def _needed(rows: Sequence[Row]) -> str:
    """What more would decide, or what is missed."""
    if overall([str(row["verdict"]) for row in rows]) is Verdict.FAIL:
        return "another judge, prompt or temperature"
    still = [row for row in rows if row["verdict"] == Verdict.INCONCLUSIVE.value]
    return "; ".join(dict.fromkeys(_ways(still)))


def _ways(rows: Sequence[Row]) -> Iterator[str]:
    """Ways to decide what is open; of questions the most that any requirement needs."""
    crossing = [row for row in rows if row["reason"] == CROSSES]
    counted = [row for row in crossing if row["more_questions"] is not None]
    if counted and len(counted) == len(crossing):
        yield more_words(max(counted, key=lambda row: int(str(row["more_questions"]))))
    elif crossing:
        yield TOO_MANY
    yield from (more_words(row) for row in rows if row["reason"] != CROSSES)


def _people(unstable: pl.DataFrame, questions: Questions) -> list[Block]:
    """Which questions a person should see."""
    if unstable.is_empty():
        return []
    rows = unstable.filter(pl.col("agreement") < 1)
    texts = []
    for rated in (False, True):
        of_kind = rows.filter(pl.col("rated") == rated)
        names = [one for one in _WHOSE if one in rows.columns and of_kind[one].n_unique() > 1]
        items = of_kind.unique("item_id", keep="first", maintain_order=True).head(_NAMED)
        texts += [_wavering(row, names, questions) for row in items.to_dicts()]
    if not texts:
        return []
    return [
        Paragraph(["A person should see the questions on which judges waver most, from these on: ",
                   Span(UNSTABLE, "section"), "."]),
        Lines(texts),
    ]  # fmt: skip


def _wavering(row: Row, names: Sequence[str], questions: Questions) -> str:
    """How far a judge wavers on a question, whose judgment that is, and the question."""
    apart = f"{percent(row['agreement'])} of pairs agree"
    if row["spread"] is not None:
        apart = f"ratings with a standard deviation of {number(row['spread'])} points"
    whose = group_label(row, names) if names else ""
    answer = f"answer of {row['responder']}" if row.get("responder") is not None else ""
    of = ", ".join(part for part in (whose, answer) if part)
    question = question_text(row, questions) or row["item_id"]
    return f"{apart}{f' ({of})' if of else ''}: {question}"
