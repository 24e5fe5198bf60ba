"""One self-contained page: what was asked, what came back, and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import cast

import polars as pl

from judgerel_ray.core import OUTCOMES
from judgerel_ray.report.chart import alpha_charts
from judgerel_ray.report.words import (
    Row,
    cell,
    coefficient_name,
    estimate,
    group_columns,
    headlines,
    missing_policy,
    number,
    percent,
    remark,
)

_FOOTER = (
    "Intervals are 95 %, by question. The noise floor deals a group's own verdicts to its "
    "questions at random; a coefficient as far from the floor as more than 5 % of such deals is "
    "not distinguishable from noise."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column of a table: its head, its cells, and whether they are numbers."""

    head: str
    cells: Sequence[str]
    is_number: bool = False
    kind: str = ""


def render_report(
    coefficients: pl.DataFrame,
    outcomes: pl.DataFrame,
    unstable: pl.DataFrame,
    *,
    title: str,
    asked: Sequence[tuple[str, str]] = (),
) -> str:
    """Write the report as one HTML page that asks nothing of any network and runs no script.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.reduce.reduce_judgments`.
    outcomes : pl.DataFrame
        From :func:`judgerel_ray.reduce.outcome_table`, with the same groups.
    unstable : pl.DataFrame
        From :func:`judgerel_ray.reduce.least_stable`.
    title : str
        Name of the sweep or file.
    asked : sequence of (name, value)
        What was asked, as the reader should see it: sweep, judges, requests asked and owed.

    Returns
    -------
    str
        A whole HTML document; every name in it is escaped.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.reduce import least_stable, outcome_table, reduce_judgments
    >>> rows = pl.LazyFrame({"item_id": ["<b>", "<b>"], "replication": [0, 1],
    ...                      "verdict": ["A", "B"]})
    >>> page = render_report(reduce_judgments(rows), outcome_table(rows), least_stable(rows),
    ...                      title="Two replies")
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    sections = [
        _section("What was asked", _facts(asked)) if asked else "",
        _section("What came back", _outcomes(outcomes)),
        _section("Alpha against temperature", _charts(coefficients)),
        _section("Coefficients", _coefficients(coefficients)),
        _section("The least stable questions", _unstable(unstable, group_columns(coefficients))),
    ]
    said = "".join(f"<li>{escape(line)}</li>" for line in headlines(coefficients))
    page = Template(files("judgerel_ray.report").joinpath("page.html").read_text("utf-8"))
    return page.substitute(
        title=escape(title),
        headlines=f'<ul class="headlines">{said}</ul>' if said else "",
        sections="\n".join(section for section in sections if section),
        footer=escape(_FOOTER),
    )


def _section(heading: str, body: str) -> str:
    """A heading and what it is about; nothing where there is nothing."""
    return f"<section><h2>{escape(heading)}</h2>\n{body}\n</section>" if body else ""


def _facts(asked: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in asked)
    return f"<dl>{pairs}</dl>"


def _table(caption: str, columns: Sequence[_Column]) -> str:
    """A table that scrolls sideways on its own, by keyboard too.

    What is the same in every row is said once, in the caption; what is empty in all is left out.
    """
    alike = [column for column in columns if len(column.cells) > 1 and len(set(column.cells)) == 1]
    said = [f"{column.head}: {column.cells[0]}" for column in alike if column.cells[0] not in "-"]
    if said:
        caption = f"{caption} ({'; '.join(said)})"
    columns = [column for column in columns if column not in alike]
    heads = "".join(
        f'<th scope="col"{_class(column)}>{escape(column.head)}</th>' for column in columns
    )
    lines = zip(*(_cells(column) for column in columns), strict=True)
    body = "\n".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )


def _cells(column: _Column) -> list[str]:
    """The cells of a column."""
    kind = _class(column)
    return [f"<td{kind}>{escape(text)}</td>" for text in column.cells]


def _class(column: _Column) -> str:
    """The class attribute of a column's cells."""
    kind = "number" if column.is_number else column.kind
    return f' class="{kind}"' if kind else ""


def _keys(rows: Sequence[Row], names: Sequence[str]) -> list[_Column]:
    """The columns that name a group."""
    return [
        _Column(head=name.replace("_", " "), cells=[cell(row[name]) for row in rows])
        for name in names
    ]


def _outcomes(outcomes: pl.DataFrame) -> str:
    """What became of the requests; outcomes that never occurred are left out."""
    rows = outcomes.to_dicts()
    seen = [name for name in OUTCOMES if name == "scored" or outcomes[name].sum()]
    names = outcomes.columns[: outcomes.columns.index("n_items")]

    def share(row: Row, name: str) -> str:
        return percent(cast(int, row[name]) / cast(int, row["n_landed"]))

    columns = [
        *_keys(rows, names),
        _Column(head="questions", cells=[str(row["n_items"]) for row in rows], is_number=True),
        _Column(head="replies", cells=[str(row["n_landed"]) for row in rows], is_number=True),
        *(
            _Column(
                head=name.replace("_", " "),
                cells=[share(row, name) for row in rows],
                is_number=True,
            )
            for name in seen
        ),
        _Column(head="valid verdicts", cells=[_valid(row) for row in rows], is_number=True),
    ]
    return _table("Outcome of every reply, as shares of what landed", columns)


def _valid(row: Row) -> str:
    """The share of replies with a verdict, with its interval."""
    if row["low"] is None:
        return percent(row["valid_rate"])
    return f"{percent(row['valid_rate'])} [{percent(row['low'])}, {percent(row['high'])}]"


def _charts(coefficients: pl.DataFrame) -> str:
    """Alpha against temperature, where there are temperatures."""
    figures = alpha_charts(coefficients)
    if not figures:
        return ""
    told = (
        "1 is perfect agreement of a judge with itself, 0 what chance gives. The band is where "
        "95 % of noise falls; hollow points are not distinguishable from it. Bars are 95 % "
        "intervals."
    )
    return f'<p>{told}</p><div class="charts">{"".join(figures)}</div>'


def _coefficients(coefficients: pl.DataFrame) -> str:
    """Every coefficient with its interval, floor and basis."""
    rows = coefficients.to_dicts()
    columns = [
        *_keys(rows, group_columns(coefficients)),
        _Column(head="coefficient", cells=[coefficient_name(row) for row in rows]),
        _Column(head="no verdict", cells=[missing_policy(row) for row in rows]),
        _Column(head="value [95 %]", cells=[estimate(row) for row in rows], is_number=True),
        _Column(
            head="noise floor", cells=[number(row["noise_floor"]) for row in rows], is_number=True
        ),
        _Column(head="p", cells=[number(row["p_noise"]) for row in rows], is_number=True),
        _Column(head="remark", cells=[remark(row) for row in rows], kind="remark"),
        _Column(head="unit", cells=[str(row["unit"]) for row in rows]),
        _Column(head="questions", cells=[str(row["n_items"]) for row in rows], is_number=True),
        _Column(
            head="replications", cells=[str(row["n_replications"]) for row in rows], is_number=True
        ),
        _Column(head="judgments", cells=[str(row["n_judgments"]) for row in rows], is_number=True),
        _Column(head="missing", cells=[str(row["n_missing"]) for row in rows], is_number=True),
        _Column(head="estimator", cells=[str(row["estimator"]) for row in rows], kind="prose"),
    ]
    return _table("Agreement of each judge with its own replications", columns)


def _unstable(unstable: pl.DataFrame, groups: Sequence[str]) -> str:
    """The questions whose replications agree least, with what they said."""
    rows = unstable.filter(pl.col("agreement") < 1).to_dicts()
    if not rows:
        return "<p>No question that was asked twice got two different verdicts.</p>"
    told = unstable.columns[: unstable.columns.index("agreement")]
    # Facets that say nothing, or the same everywhere, would only widen the table.
    names = [
        name
        for name in told
        if name == "item_id" or (name in groups or unstable[name].n_unique() > 1)
    ]
    columns = [
        *_keys(rows, names),
        _Column(
            head="agreement", cells=[number(row["agreement"], 2) for row in rows], is_number=True
        ),
        _Column(head="replies", cells=[str(row["n_replications"]) for row in rows], is_number=True),
        _Column(head="verdicts", cells=[_verdicts(row) for row in rows], kind="prose"),
    ]
    return _table("Questions by the share of agreeing pairs of replications", columns)


def _verdicts(row: Row) -> str:
    """What the replications said, the most frequent first."""
    shares = cast("list[dict[str, object]]", row["verdicts"])
    return ", ".join(f"{share['value']} {percent(share['share'])}" for share in shares)
