"""Figures of uncertainty labels: by threshold, by judge, by acceptance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.plot import Plane, area, axes, curve, dot, figure, segment, text
from judgerel_ray.blocks.words import Row, group_label, number

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROW = 40.0  # height of a judge in a figure of judges
_TOLD = (0.1, 0.3, 0.5, 0.7, 0.9)


def told_columns(frame: pl.DataFrame) -> list[str]:
    """Name the columns that tell groups apart; the judge always does.

    Examples
    --------
    >>> told_columns(pl.DataFrame({name: ["x"] for name in GROUP}))
    ['judge', 'benchmark']
    """
    return [
        name
        for name in GROUP
        if name in ("judge", "benchmark") or frame[name].n_unique() > 1
    ]  # fmt: skip


def threshold_figures(curves: pl.DataFrame, labels: pl.DataFrame) -> list[tuple[str, str]]:
    """Draw accuracy and share of low against the threshold, one figure a group.

    Parameters
    ----------
    curves : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.threshold_curves`.
    labels : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.label_table`, for the thresholds marked.

    Returns
    -------
    list of (str, str)
        The name of each group, and its figure.

    Examples
    --------
    >>> threshold_figures(pl.DataFrame(), pl.DataFrame())
    []
    """
    if curves.is_empty():
        return []
    told = told_columns(curves)
    found = []
    for name, part in curves.group_by(*GROUP, maintain_order=True):
        rows = part.to_dicts()
        mine = labels.filter(
            *(pl.col(column).eq_missing(value) for column, value in zip(GROUP, name, strict=True)),
            pl.col("criterion").is_null(),
            pl.col("threshold").is_not_null(),
        )
        label = group_label(rows[0], told)
        found.append((label, _threshold_figure(rows, mine.to_dicts(), label)))
    return found


def _threshold_figure(rows: Sequence[Row], marked: Sequence[Row], label: str) -> str:
    """One judge on one benchmark."""
    plane = Plane()
    points = [(_at(row), row) for row in rows]
    shapes = [*axes(plane, across="threshold", xs=QUARTERS, ys=QUARTERS)]
    for row in marked:
        x = plane.x(_at(row))
        kind = "lucky" if row["kind"] == "in-sample" else "stated"
        shapes.append(segment(kind, x, plane.top, x, plane.height - plane.bottom))
    baseline = plane.y(cast(float, rows[0]["all"]))
    shapes += [
        area(plane, [(t, _end(row, "low_from"), _end(row, "low_to")) for t, row in points]),
        segment("baseline", plane.left, baseline, plane.width - plane.right, baseline),
        curve(plane, "other", [(t, _end(row, "high")) for t, row in points]),
        curve(plane, "share", [(t, _end(row, "share")) for t, row in points]),
        curve(plane, "line", [(t, _end(row, "low")) for t, row in points]),
    ]
    told = "; ".join(
        f"at {t:g}: accuracy of low {number(row['low'])} of {row['n_low']}, of high "
        f"{number(row['high'])}, share of low {number(row['share'])}"
        for t, row in points
        if round(t, 2) in _TOLD
    )
    title = f"Accuracy and share of low against the threshold, {label}"
    caption = f"{label}; shares of {rows[0]['n_all']} judgments"
    return figure(plane, shapes, label=title, told=told, caption=caption)


def _at(row: Row) -> float:
    """The threshold of a row."""
    return cast(float, row["threshold"])


def _end(row: Row, name: str) -> float | None:
    """A number of a row, where there is one."""
    return cast("float | None", row[name])


def accuracy_figures(labels: pl.DataFrame) -> list[str]:
    """Draw accuracy of low and of high beside that of all, one figure a benchmark.

    Parameters
    ----------
    labels : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.label_table`.

    Examples
    --------
    >>> accuracy_figures(pl.DataFrame())
    []
    """
    if labels.is_empty():
        return []
    leading = leading_labels(labels).filter(pl.col("criterion").is_null())
    found = []
    for (benchmark,), part in leading.group_by("benchmark", maintain_order=True):
        rows, plane = part.to_dicts(), rows_plane(part.height)
        names = [group_label(row, _but_benchmark(part)) for row in rows]
        shapes = [*axes(plane, across="accuracy", xs=QUARTERS)]
        for place, (row, name) in enumerate(zip(rows, names, strict=True)):
            shapes += accuracy_row(plane, row, name, plane.top + _ROW * place)
        told = "; ".join(
            f"{name}: low {number(row['low'])} of {row['n_low']}, high {number(row['high'])} of "
            f"{row['n_high']}, all {number(row['all'])}"
            for row, name in zip(rows, names, strict=True)
        )
        title = f"Accuracy by label, {benchmark}"
        found.append(figure(plane, shapes, label=title, told=told, caption=str(benchmark)))
    return found


def leading_labels(labels: pl.DataFrame) -> pl.DataFrame:
    """Keep the labels that lead in each group: the first way of labelling.

    Examples
    --------
    >>> labels = pl.DataFrame({**{name: ["x", "x"] for name in GROUP}, "how": ["a", "b"]})
    >>> leading_labels(labels)["how"].to_list()
    ['a']
    """
    first = labels.group_by(*GROUP, maintain_order=True).agg(pl.col("how").first())
    return labels.join(
        first, on=[*GROUP, "how"], how="semi", nulls_equal=True, maintain_order="left"
    )


def _but_benchmark(frame: pl.DataFrame) -> list[str]:
    """Columns that tell groups of one benchmark apart."""
    return [name for name in told_columns(frame) if name != "benchmark"]


def rows_plane(n: int) -> Plane:
    """Lay out a figure of as many rows.

    Examples
    --------
    >>> rows_plane(2).height - rows_plane(1).height
    40.0
    """
    return Plane(height=12 + _ROW * n + 46, left=14, bottom=46)


def accuracy_row(plane: Plane, row: Row, name: str, top: float) -> Iterator[str]:
    """Draw one judge: low above high, and where all lies.

    Yields
    ------
    str

    Examples
    --------
    >>> row = {"all": 0.5, "low": None, "high": None}
    >>> len(list(accuracy_row(rows_plane(1), row, "judge", 0.0)))
    2
    """
    yield text(plane.left, top + 11, name, "start")
    x = plane.x(cast(float, row["all"]))
    yield segment("baseline", x, top + 15, x, top + 37)
    for label, kind, y in (("low", "point", top + 21), ("high", "noise", top + 32)):
        if row[label] is None:
            continue
        low, high = _end(row, f"{label}_from"), _end(row, f"{label}_to")
        if low is not None and high is not None:
            yield segment("interval", plane.x(low), y, plane.x(high), y)
        said = f"{name}, {label}: {number(row[label])} of {row[f'n_{label}']}"
        yield dot(kind, plane.x(cast(float, row[label])), y, said)


def share_figures(labels: pl.DataFrame) -> list[str]:
    """Draw the share of low, one figure a benchmark, a row a judge and criterion.

    Parameters
    ----------
    labels
        As of :func:`accuracy_figures`.

    Examples
    --------
    >>> share_figures(pl.DataFrame())
    []
    """
    if labels.is_empty():
        return []
    found = []
    for (benchmark,), part in leading_labels(labels).group_by("benchmark", maintain_order=True):
        several = part.filter(pl.col("criterion").is_not_null())
        rows = (several if several.height else part).to_dicts()
        plane = rows_plane(len(rows))
        columns = [*_but_benchmark(part), "criterion"]
        shapes = [*axes(plane, across="share of low", xs=QUARTERS)]
        said = []
        for place, row in enumerate(rows):
            top, name = plane.top + _ROW * place, group_label(row, columns)
            value = cast(float, row["share"])
            y = top + 25
            low, high = _end(row, "share_from"), _end(row, "share_to")
            shapes += [
                text(plane.left, top + 11, name, "start"),
                f'<rect class="bar" x="{plane.left:.1f}" y="{y - 8:.1f}" '
                f'width="{plane.x(value) - plane.left:.1f}" height="16"/>',
            ]
            if low is not None and high is not None:
                shapes.append(segment("interval", plane.x(low), y, plane.x(high), y))
            said.append(f"{name}: {number(value)} of {row['n_share']}")
            shapes.append(dot("point", plane.x(value), y, said[-1]))
        title = f"Share of low uncertainty, {benchmark}"
        found.append(
            figure(plane, shapes, label=title, told="; ".join(said), caption=str(benchmark))
        )
    return found


def acceptance_figures(acceptance: pl.DataFrame) -> list[str]:
    """Draw the share wrong among the surest judgments, one figure a group.

    Parameters
    ----------
    acceptance : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.acceptance_table`.

    Examples
    --------
    >>> acceptance_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    told, found = told_columns(acceptance), []
    for _, part in acceptance.group_by(*GROUP, maintain_order=True):
        plane, rows = Plane(), part.to_dicts()
        points = [(cast(float, row["accepted"]), row) for row in rows]
        label = group_label(rows[0], told)
        shapes = [
            *axes(plane, across="share accepted, surest first", xs=QUARTERS, ys=QUARTERS),
            area(plane, [(x, _end(row, "low"), _end(row, "high")) for x, row in points]),
            curve(plane, "line", [(x, _end(row, "error")) for x, row in points]),
        ]
        if len(points) < 12:
            shapes += [
                dot("point", plane.x(x), plane.y(cast(float, row["error"])), number(row["error"]))
                for x, row in points
            ]
        said = "; ".join(
            f"of the surest {number(x, 2)}: {number(row['error'])} wrong ({row['n_errors']} of "
            f"{row['n_accepted']})"
            for x, row in points[:: max(1, len(points) // 5)]
        )
        title = f"Share wrong against share accepted, {label}"
        found.append(figure(plane, shapes, label=title, told=said, caption=f"Share wrong, {label}"))
    return found
