"""Figures drawn by Altair (Vega-Lite) as static SVG whose colours are those of the page's theme.

A chart has the colours of the light theme, so that its Vega-Lite looks the same in any editor; in
the SVG they become the page's variables, which dark windows and paper set anew. Altair and
vl-convert are imported by the first figure: they are the extra ``report``; a page without them has
its tables and says what it lacks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.core import cut_text, printable
from judgerel_ray.core.text import install_hint

if TYPE_CHECKING:
    import altair as alt

COLOURS = {
    "#1b1f24": "var(--text)",
    "#57606a": "var(--soft)",
    "#ffffff": "var(--page)",
    "#d0d7de": "var(--line)",
    "#0550ae": "var(--mark)",
    "#9a6700": "var(--band)",
    "#9a3412": "var(--warn)",
}
"""Colours of charts, and the variables that the page has for them."""
_TEXT, _SOFT, _PAGE, _LINE, _MARK, _BAND, _WARN = COLOURS


def _figure_line_look(
    colour: str, width: float, *dash: int, opacity: float = 1.0
) -> Mapping[str, Any]:
    """The look of a line."""
    look = {"color": colour, "strokeWidth": width, "opacity": opacity}
    return {**look, "strokeDash": list(dash)} if dash else look


def _figure_text_look(align: str, dx: float) -> Mapping[str, Any]:
    """The look of a text."""
    return {"color": _SOFT, "fontSize": 11, "align": align, "dx": dx}


STYLES: Mapping[str, Mapping[str, Any]] = {
    "line": _figure_line_look(_MARK, 2),
    "other": _figure_line_look(_SOFT, 1.5),
    "share": _figure_line_look(_BAND, 2, 6, 3),
    "baseline": _figure_line_look(_TEXT, 1.5, 2, 3),
    "people": _figure_line_look(_BAND, 1.5, 6, 3),
    "stated": _figure_line_look(_SOFT, 1.5),
    "in_sample": _figure_line_look(_WARN, 1.5, 4, 3),
    "join": _figure_line_look(_MARK, 1, opacity=0.5),
    "interval": _figure_line_look(_MARK, 2),
    "whisker": _figure_line_look(_SOFT, 1, opacity=0.6),
    "band": {"color": _BAND, "opacity": 0.45, "stroke": _BAND, "strokeWidth": 1},
    "area": {"color": _MARK, "opacity": 0.2},
    "bar": {"color": _MARK, "opacity": 0.2, "height": 16},
    "point": {"fill": _MARK, "stroke": _MARK, "strokeWidth": 2, "size": 44, "opacity": 1},
    "noise": {"fill": _PAGE, "stroke": _MARK, "strokeWidth": 2, "size": 44, "opacity": 1},
    "speck": {"fill": _PAGE, "stroke": _SOFT, "strokeWidth": 1, "size": 20, "opacity": 1},
    "name": _figure_text_look("left", 4),
    "name_before": _figure_text_look("right", -8),
    "name_behind": _figure_text_look("left", 10),
    "name_at": _figure_text_look("center", 0),
}
"""How marks look, by name."""
_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "line": {"type": "line"},
    "step": {"type": "line", "interpolate": "step-after"},
    "area": {"type": "area"},
    "step_area": {"type": "area", "interpolate": "step-after"},
    "rule": {"type": "rule"},
    "point": {"type": "point", "shape": "circle"},
    "bar": {"type": "bar"},
    "text": {"type": "text", "baseline": "middle"},
}
NAME_LINE = 24
"""Letters of a name before a row that stand in one line; a longer one is broken at a comma."""
_LINE_HEIGHT = 13  # of Vega, of letters of 11 points
_LONGEST_NAME = 40
_PATHS = ("line", "step", "area", "step_area")
_TAGS = {"g", "path", "line", "rect", "text", "tspan", "title"}
_PLACES = ("transform", "d", "x", "y", "x2", "y2", "dy", "width", "height")
_ATTRIBUTES = (
    *_PLACES, "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity",
    "stroke-opacity", "text-anchor", "font-size",
)  # fmt: skip
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEFAULTS = (("opacity", "1"), ("transform", "translate(0,0)"))


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure, drawn."""

    view_box: str
    shapes: Markup
    spec: Mapping[str, Any]  # Vega-Lite with its data.
    version: str


def not_drawn() -> str | None:
    """Say why figures cannot be drawn and what to do; None where they can."""
    missing = [name for name in ("altair", "vl_convert") if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"figures are not drawn: they need {' and '.join(missing)}, not installed. "
        f"Try: {install_hint('report')}"
    )


def chart(figure: Figure) -> Chart:
    """Draw a figure."""
    import altair as alt
    import vl_convert

    spec = vega_lite(figure)
    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    root = ElementTree.fromstring(drawn)
    shapes = "".join(map(_themed, root))
    version = alt.SCHEMA_VERSION.removeprefix("v").partition(".")[0]
    return Chart(root.attrib["viewBox"], Markup(shapes), spec, version)


def vega_lite(figure: Figure) -> dict[str, Any]:
    """Write a figure as Vega-Lite with its data, in the colours of the light theme."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    # Checked against the schema by tests, not at every figure; and Altair copies what it is given
    # at every step, so rows take part in none: both would be most of the time.
    rows: list[list[dict[str, object]]] = []
    with debug_mode(False):
        layers = [
            _figure_layer_of_mark(mark, place, figure, rows)
            for place, mark in enumerate(figure.marks)
        ]
        made = alt.layer(
            *layers, width=figure.width, height=figure.height, background="transparent",
            padding=_figure_padding(figure),
            config=alt.Config(
                font="system-ui, sans-serif", aria=True, view=alt.ViewConfig(stroke=None),
                axis=alt.AxisConfig(
                    aria=False, domain=False, ticks=False, labelColor=_SOFT, labelFontSize=11,
                    titleColor=_SOFT, titleFontSize=11, titleFontWeight="normal", labelPadding=8,
                    labelOverlap="greedy", labelSeparation=8,
                    labelFlush=False, format=",.6~r",
                ),
            ),
        )  # fmt: skip
        spec: dict[str, Any] = made.to_dict(validate=False)
    for part in (spec, *spec["layer"]):
        if "data" in part:
            part["data"] = {"values": rows[part["data"]["values"][0]["rows"]]}
    # No address on the page: the version stands beside.
    return {name: value for name, value in spec.items() if name != "$schema"}


def _figure_padding(figure: Figure) -> dict[str, float]:
    """Room around a figure: a browser's letters may be wider than those it was laid out by."""
    longest = dict.fromkeys(("name_before", "name_behind"), 0)
    for mark in figure.marks:
        if mark.style in longest and mark.label:
            names = mark.data[mark.label]
            lines = (line for name in names for line in _figure_mark_name_lines(mark, name))
            longest[mark.style] = max(map(len, lines), default=0)
    before, behind = (5 + min(40, n) for n in longest.values())
    return {"left": before, "right": behind, "top": 5, "bottom": 5}


def _figure_layer_of_mark(
    mark: Mark, place: int, figure: Figure, rows: list[list[dict[str, object]]]
) -> alt.Chart:
    """One mark, with the place of its data among `rows`, which take it in."""
    import altair as alt

    hollow = alt.value(STYLES["noise"]["fill"]) if mark.hollow else None
    look = {"aria": mark.shape == "point", **_SHAPES[mark.shape], **STYLES[mark.style]}
    encoding: dict[str, Any] = {
        name: value
        for name, value in (
            ("x", _figure_axis_channel(alt.X, mark.x, figure.x)),
            ("y", _figure_axis_channel(alt.Y, mark.y, figure.y)),
            ("x2", mark.x2 and alt.X2(field=mark.x2)),
            ("y2", mark.y2 and alt.Y2(field=mark.y2)),
        )
        if value
    }
    if mark.shape == "text":
        # Vega centres the first line on the row, not the two.
        more = f"(isArray(datum.{mark.label}) ? datum.{mark.label}.length - 1 : 0)"
        look["dy"] = {"expr": f"{-_LINE_HEIGHT / 2} * {more}"}
        encoding["text"] = alt.Text(field=mark.label, type="nominal")
        encoding.setdefault("x", alt.value(0))
        encoding.setdefault("y", alt.value(figure.height))
    elif mark.label:
        encoding["description"] = alt.Description(field=mark.label, type="nominal")
    if mark.hollow:
        encoding["fill"] = alt.condition(
            f"datum.{mark.hollow}", hollow, alt.value(STYLES[mark.style]["fill"])
        )
    values = list(_figure_mark_values(mark))
    if values not in rows:
        rows.append(values)
    data = alt.Data(values=[{"rows": rows.index(values)}])
    return alt.Chart(
        data, mark=look, encoding=alt.FacetedEncoding(**encoding), name=f"{mark.style}_{place}"
    )


def _figure_axis_channel(kind: Any, column: str | None, axis: Axis) -> Any:
    """A place on an axis; the same axis in all layers, or each would have a title of its own."""
    if column is None:
        return None
    import altair as alt

    scale = alt.Scale(domain=[axis.start, axis.end], clamp=True, nice=False, zero=False)
    if not axis.shown:
        return kind(field=column, type="quantitative", scale=scale, axis=None)
    zero = alt.condition("datum.value === 0", alt.value(_SOFT), alt.value(_LINE))
    shown = alt.Axis(
        title=_drawable_figure_text(axis.title) or None,
        values=list(axis.values),
        grid=axis.grid,
        gridColor=zero,
    )
    return kind(field=column, type="quantitative", scale=scale, axis=shown)


def _figure_mark_values(mark: Mark) -> Iterator[dict[str, object]]:
    """Rows with what is drawn of them; a path is broken where a number is missing."""
    used = [mark.x, mark.x2, mark.y, mark.y2, mark.label, mark.hollow]
    names = list(dict.fromkeys(name for name in used if name))
    for row in mark.data.select(names).iter_rows(named=True):
        values = {name: _drawable_figure_value(value) for name, value in row.items()}
        if mark.shape == "text" and mark.label:
            # Vega's own limit cuts letters outside the basic plane in half, and fails at the half.
            lines = _figure_mark_name_lines(mark, str(values[mark.label]))
            values[mark.label] = [cut_text(one, _LONGEST_NAME) for one in lines]
        places = [values[name] for name in (mark.x, mark.x2, mark.y, mark.y2) if name]
        if mark.shape in _PATHS or None not in places:
            yield values


def in_two(name: str) -> list[str]:
    """Break a name that is longer than a line, after the comma that is nearest to its middle."""
    name = _drawable_figure_text(name)
    breaks = [one.end() for one in re.finditer(", (?=.)", name)]
    if len(name) <= NAME_LINE or not breaks:
        return [name]
    place = min(breaks, key=lambda end: max(end, len(name) - end))
    return [name[:place].rstrip(), name[place:]]


def _figure_mark_name_lines(mark: Mark, name: str) -> list[str]:
    return in_two(name) if mark.style == "name_before" else [name]


def _drawable_figure_text(text: str) -> str:
    """A text that may be drawn: vl-convert takes the process down at what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", printable(text))


def _drawable_figure_value(value: object) -> object:
    """A value as JSON and SVG hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _drawable_figure_text(value) if isinstance(value, str) else value


def _themed(element: ElementTree.Element) -> str:
    """An element of a drawing: known tags and attributes, theme colours, its words as a title.

    Vega says nothing on a static mark that is pointed at; it has the words as a label, though.
    """
    tag = element.tag.rpartition("}")[2]
    kind = element.attrib.get("class", "")
    # Vega leaves empty frames, and labels that would cover others.
    hidden = kind in ("background", "foreground") or element.attrib.get("opacity") == "0"
    if tag not in _TAGS or hidden:
        return ""
    attribute_pairs = [
        (name, element.attrib[name]) for name in _ATTRIBUTES if name in element.attrib
    ]
    pairs = [pair for pair in attribute_pairs if pair not in _DEFAULTS]
    if found := re.search(r"([a-z]+(?:_[a-z]+)*)_\d+_marks$", kind):
        pairs.insert(0, ("class", found[1]))
    attributes = Markup("").join(
        Markup(' {}="{}"').format(*_short_drawing_attribute(*pair)) for pair in pairs
    )
    words = element.attrib.get("aria-label", "") if tag in ("path", "line", "rect") else ""
    title = Markup("<title>{}</title>").format(words) if words else ""
    inside = f"{title}{Markup.escape(element.text or '')}{''.join(map(_themed, element))}"
    if tag == "g" and not (inside and pairs):
        return inside
    return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"


def _short_drawing_attribute(name: str, value: str) -> tuple[str, str]:
    """An attribute with a colour of the theme, or places to a tenth of a point."""
    if name in _PLACES:
        return name, re.sub(r"-?\d+\.\d+", lambda one: f"{float(one[0]):.1f}", value)
    return name, COLOURS.get(value, value)


def sample(style: str) -> Markup:
    """Draw a small sample of a style for a legend, too small for a chart of its own."""
    look = STYLES[style]
    names = {"strokeWidth": "stroke-width", "opacity": "opacity", "fill": "fill",
             "stroke": "stroke", "strokeDash": "stroke-dasharray"}  # fmt: skip
    pairs = [(names[name], value) for name, value in look.items() if name in names]
    if "color" in look:
        pairs.append(("fill" if style in ("area", "band", "bar") else "stroke", look["color"]))
    attributes = Markup("").join(
        Markup(' {}="{}"').format(name, _drawing_attribute_value(value)) for name, value in pairs
    )
    shape = 'line x1="2" x2="30" y1="6" y2="6"'
    if style in ("point", "noise", "speck"):
        shape = f'circle cx="16" cy="6" r="{math.sqrt(look["size"] / math.pi):.1f}"'
    elif style in ("area", "band", "bar"):
        shape = 'rect x="2" y="1" width="28" height="10"'
    elif style == "stated":
        shape = 'line x1="16" x2="16" y1="0" y2="12"'
    drawn = f'<svg viewBox="0 0 32 12" aria-hidden="true"><{shape}{attributes}/></svg>'
    return Markup(drawn)


def _drawing_attribute_value(value: object) -> str:
    """An attribute's value: a variable for a colour, a dash as SVG writes it."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return COLOURS.get(str(value), str(value))
