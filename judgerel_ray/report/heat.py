"""Single confusion matrices as tables whose cells are tinted by their probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from judgerel_ray.report.words import Row, escape, group_label, number

_MOST_TINT = 45.0  # percent of the mark's colour: text stays readable on it, light and dark


def heat_table(
    cells: Sequence[Row],
    judgment: Row,
    *,
    why: str,
    columns: Sequence[str] = ("judge", "benchmark", "item_id"),
    question: str = "",
) -> str:
    """Draw one matrix: options are rows, assessments columns, probabilities raw and scaled.

    Parameters
    ----------
    cells : sequence of mapping
        From :meth:`judgerel_ray.reduce.gallery.Picked.cells`.
    judgment : mapping
        Its row of :func:`judgerel_ray.reduce.uncertainty.uncertainty_rows`.
    why : str
        What it was picked for.
    columns : sequence of str
        What names it.
    question : str
        The text of its question, where it is known.

    Returns
    -------
    str
        HTML. Colour repeats the numbers and says nothing of its own; the judge's own verdict and
        the right option are marked in words.

    Examples
    --------
    >>> cells = [{"option": o, "argued": a, "probability": 0.5, "scaled": 0.5}
    ...          for o in "xy" for a in "xy"]
    >>> judgment = {"judge": "j", "benchmark": "b", "item_id": "q", "chosen": "x", "right": "y",
    ...             "options": ["x", "y"], "u": [0.5, 0.5], "margin": 0.0, "correct": False}
    >>> "own verdict" in heat_table(cells, judgment, why="most torn")
    True
    """
    argued = list(dict.fromkeys(cell["argued"] for cell in cells))
    options = cast("Sequence[str]", judgment["options"])
    shares = dict(zip(options, cast("Sequence[float]", judgment["u"]), strict=True))
    heads = "".join(
        f'<th scope="col" class="number">{escape("all argued" if one is None else f"for {one}")}'
        "</th>"
        for one in argued
    )
    by_place = {(cell["option"], cell["argued"]): cell for cell in cells}
    rows = []
    for option in options:
        marks = [
            said
            for name, said in (("chosen", "own verdict"), ("right", "right"))
            if judgment[name] == option
        ]
        told = f" <small>{' · '.join(marks)}</small>" if marks else ""
        tinted = "".join(_cell(by_place[option, one]) for one in argued)
        u = f'<td class="number">{number(shares[option], 2)}</td>'
        rows.append(f'<tr><th scope="row">{escape(option)}{told}</th>{tinted}{u}</tr>')
    asked = f"; {question}" if question else ""
    caption = escape(f"{why}: {group_label(judgment, columns)}{asked}; {_standing(judgment)}")
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="heat"><caption>{caption}</caption>'
        f'<thead><tr><th scope="col">option</th>{heads}<th scope="col" class="number">u</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _standing(judgment: Row) -> str:
    """How sure, and whether right, in words."""
    said = f"margin {number(judgment['margin'], 2)}"
    if judgment["correct"] is None:
        return f"{said}, right option unknown"
    return f"{said}, {'right' if judgment['correct'] else 'wrong'}"


def _cell(cell: Mapping[str, object]) -> str:
    """One probability; a dash where the judge would not argue."""
    raw, scaled = cell["probability"], cell["scaled"]
    if not isinstance(raw, float):
        return '<td class="number">-</td>'
    tint = f' style="--tint:{_MOST_TINT * min(1.0, raw):.0f}%"'
    small = "" if scaled is None else f" <small>{number(scaled, 2)}</small>"
    return f'<td class="number tint"{tint}>{number(raw, 2)}{small}</td>'
