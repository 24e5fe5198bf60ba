"""Pieces of figures drawn as inline SVG: scales, axes, lines, areas, points, legends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgerel_ray.blocks.words import escape

LINE_SAMPLE = '<svg viewBox="0 0 32 12" aria-hidden="true">{}</svg>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """From numbers to places in a figure; `x_to` and `y_to` are the ends of its axes."""

    width: float = 320
    height: float = 220
    left: float = 44
    right: float = 14
    top: float = 12
    bottom: float = 40
    x_from: float = 0.0
    x_to: float = 1.0
    y_from: float = 0.0
    y_to: float = 1.0

    def x(self, value: float) -> float:
        """Place on the horizontal axis; what lies outside stands at its end."""
        part = (min(max(value, self.x_from), self.x_to) - self.x_from) / (self.x_to - self.x_from)
        return self.left + (self.width - self.left - self.right) * part

    def y(self, value: float) -> float:
        """Place on the vertical axis; what lies outside stands at its end."""
        part = (min(max(value, self.y_from), self.y_to) - self.y_from) / (self.y_to - self.y_from)
        return self.top + (self.height - self.top - self.bottom) * (1 - part)


def figure(plane: Plane, shapes: Sequence[str], *, label: str, told: str, caption: str) -> str:
    """Make a figure with its caption; `told` says in words what those who cannot see it miss.

    Examples
    --------
    >>> "&lt;c&gt;" in figure(Plane(), [], label="A", told="b", caption="<c>")
    True
    """
    said = escape(f"{label}. {told}")
    return (
        f'<figure><svg viewBox="0 0 {plane.width:g} {plane.height:g}" role="img" '
        f'aria-label="{said}">{"".join(shapes)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def text(x: float, y: float, said: str, anchor: str = "middle") -> str:
    """Write a label.

    Examples
    --------
    >>> text(1, 2, "<a>")
    '<text x="1.0" y="2.0" text-anchor="middle">&lt;a&gt;</text>'
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def axes(
    plane: Plane, *, across: str, xs: Sequence[float], ys: Sequence[float] = ()
) -> Iterator[str]:
    """Draw grid lines at `ys`, numbers at both axes, and what the horizontal one is.

    Yields
    ------
    str
        SVG.
    """
    right, bottom = plane.width - plane.right, plane.height - plane.bottom
    for y in ys:
        place = plane.y(y)
        kind = "zero" if y == 0 else "grid"
        yield segment(kind, plane.left, place, right, place)
        yield text(plane.left - 9, place + 4, f"{y:g}", "end")
    for x in xs:
        if not ys:
            yield segment("grid", plane.x(x), plane.top, plane.x(x), bottom)
        yield text(plane.x(x), bottom + 18, f"{x:g}")
    yield text((plane.left + right) / 2, bottom + 35, across)


def segment(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw a straight line.

    Examples
    --------
    >>> segment("grid", 0, 1, 2, 3)
    '<line class="grid" x1="0.0" y1="1.0" x2="2.0" y2="3.0"/>'
    """
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def curve(plane: Plane, kind: str, points: Sequence[tuple[float, float | None]]) -> str:
    """Draw a line through points; where a value is missing it is broken.

    Examples
    --------
    >>> curve(Plane(), "line", [(0.0, 0.0), (0.5, None), (1.0, 1.0)])
    '<path class="line" d="M44.0 180.0M306.0 12.0"/>'
    """
    path, joined = "", False
    for x, y in points:
        if y is None:
            joined = False
            continue
        path += f"{'L' if joined else 'M'}{plane.x(x):.1f} {plane.y(y):.1f}"
        joined = True
    return f'<path class="{kind}" d="{path}"/>'


def area(plane: Plane, points: Sequence[tuple[float, float | None, float | None]]) -> str:
    """Fill between the ends of intervals, one piece for each run of points that have any.

    Examples
    --------
    >>> area(Plane(), [(0.0, 0.0, 1.0)])
    '<polygon class="area" points="44.0,12.0 44.0,180.0"/>'
    """
    pieces: list[list[tuple[float, float, float]]] = [[]]
    for x, low, high in points:
        if low is None or high is None:
            pieces.append([])
        else:
            pieces[-1].append((x, low, high))
    drawn = ""
    for piece in filter(None, pieces):
        upper = [f"{plane.x(x):.1f},{plane.y(high):.1f}" for x, _, high in piece]
        lower = [f"{plane.x(x):.1f},{plane.y(low):.1f}" for x, low, _ in reversed(piece)]
        drawn += f'<polygon class="area" points="{" ".join(upper + lower)}"/>'
    return drawn


def dot(kind: str, x: float, y: float, said: str) -> str:
    """Draw a point that says what it is when pointed at.

    Examples
    --------
    >>> dot("point", 1, 2, "low")
    '<circle class="point" cx="1.0" cy="2.0" r="4"><title>low</title></circle>'
    """
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="4"'
    return f'<circle class="{kind}" {place}><title>{escape(said)}</title></circle>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """List what marks mean: pairs of a kind and its meaning.

    Examples
    --------
    >>> legend([("line", "accuracy")]).count("<li>")
    1
    """
    items = "".join(
        f"<li>{LINE_SAMPLE.format(_sample(kind))}<span>{escape(said)}</span></li>"
        for kind, said in entries
    )
    return f'<ul class="legend">{items}</ul>'


def _sample(kind: str) -> str:
    """One mark of a kind."""
    if kind in ("point", "noise"):
        return f'<circle class="{kind}" cx="16" cy="6" r="4"/>'
    if kind == "area":
        return '<rect class="area" x="2" y="1" width="28" height="10"/>'
    if kind == "stated":
        return f'<line class="{kind}" x1="16" x2="16" y1="0" y2="12"/>'
    return f'<line class="{kind}" x1="2" x2="30" y1="6" y2="6"/>'
