"""Figures: what Vega-Lite is told is valid, what it draws is harmless, and the extra is named."""

from __future__ import annotations

import re
from importlib.util import find_spec

import altair as alt
import polars as pl
import pytest

from judgerel_ray.blocks import charts
from judgerel_ray.blocks.blocks import Axis, Figure, Figures, Mark
from judgerel_ray.blocks.charts import STYLES, chart, vega_lite
from judgerel_ray.cli import main
from judgerel_ray.examples import example
from tests.blocks.rendering import rendered

HOSTILE = '"><script>alert(1)</script>&\x1b[2J\u202e\x00\ufffe\uffff'


@pytest.fixture(scope="module")
def figure():
    """One figure with every shape, of a name that is hostile."""
    data = pl.DataFrame(
        {"t": [0.0, 0.5, 1.0], "alpha": [0.2, None, 0.9], "low": [0.1, None, 0.8],
         "high": [0.3, None, float("inf")], "noise": [True, False, False],
         "who": [HOSTILE, HOSTILE, "b"], "secret": ["not drawn"] * 3}
    )  # fmt: skip
    shapes = {"line": "line", "step": "other", "area": "area", "step_area": "band",
              "rule": "interval", "bar": "bar", "point": "point", "text": "name"}  # fmt: skip
    marks = [
        Mark(shape=shape, style=style, data=data, x="t", y="alpha", label="who",
             x2="high" if shape == "bar" else None,
             y2="low" if "area" in shape or shape == "rule" else None,
             hollow="noise" if shape == "point" else None)
        for shape, style in shapes.items()
    ]  # fmt: skip
    axis = Axis(title=HOSTILE, values=(0, 0.5, 1), grid=True)
    return Figure(title=HOSTILE, description="1", caption=HOSTILE, x=axis, y=axis, marks=marks)


@pytest.mark.slow
def test_the_specification_is_valid_and_has_no_more_data_than_it_draws(figure):
    spec = vega_lite(figure)
    alt.Chart.from_dict(spec, validate=True)
    assert "secret" not in str(spec)
    assert "inf" not in str(spec).replace("infer", "")
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    points = [layer for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    # A path is broken where a number is missing; a point that has none is not there.
    assert [len(layer["data"]["values"]) for layer in (lines[0], points[0])] == [3, 2]


def test_names_are_text_in_the_drawing_and_in_its_data(figure):
    page = rendered([Figures([figure])])
    assert "<script" not in page
    assert "alert(1)" in page
    assert not re.search(r"[\x1b\u202e]|url\(|https?:|javascript|\bon\w+=", page)
    assert set(re.findall(r"</?([a-z]+)", page)) <= {
        "div", "figure", "svg", "g", "path", "line", "text", "title", "figcaption", "details",
        "summary", "pre",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["\U0001f525" * 1000, "\U0001f525 " * 30, "q" * 100_000])
def test_a_name_of_any_length_is_drawn_and_cut_between_letters(name):
    rows = pl.DataFrame({"y": [0.5], "name": [name]})
    mark = Mark(shape="text", style="name_before", data=rows, y="y", label="name")
    drawn = chart(Figure(title="t", description="", caption="", x=Axis(), y=Axis(), marks=[mark]))
    (shown,) = re.findall(r">([^<]+)</text>", drawn.shapes)
    assert name[:20] in shown
    assert len(shown) < 45


def test_a_long_name_has_two_lines_centred_on_its_row():
    names = ["steady, temperature 1", "steady, rating, helpfulness, temperature 1"]
    rows = pl.DataFrame({"y": [0.25, 0.75], "name": names})
    mark = Mark(shape="text", style="name_before", data=rows, y="y", label="name")
    point = Mark(shape="point", style="point", data=rows, x="y", y="y", label="name")
    figure = Figure(
        title="t", description="", caption="", x=Axis(), y=Axis(start=1, end=0, shown=False),
        marks=[mark, point],
    )  # fmt: skip
    shapes = chart(figure).shapes
    assert re.findall(r"<text[^>]*>([^<]+)</text>", shapes)[-1] == names[0]
    assert re.findall(r"<tspan[^>]*>([^<]+)</tspan>", shapes) == [
        "steady, rating,", "helpfulness, temperature 1"
    ]  # fmt: skip
    texts = [
        float(y)
        for y, text in re.findall(
            r'<text transform="translate\(\S+?,(\S+?)\)"[^>]*>(.*?)</text>', shapes
        )
        if "steady" in text
    ]
    points = [
        float(y) for y in re.findall(r'<path[^>]*transform="translate\(\S+?,(\S+?)\)"', shapes)
    ]
    # The two lines are half a line higher, each, than the one of the other row.
    one, two = (text - point for text, point in zip(texts, points[-2:], strict=True))
    assert two == pytest.approx(one - 6.5, abs=0.15)


def test_colours_are_the_themes(figure):
    drawn = chart(figure)
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', drawn.shapes)) <= {
        *charts.COLOURS.values(), "none"
    }  # fmt: skip
    assert '"#0550ae"' in str(drawn.spec).replace("'", '"')
    assert all(charts.sample(style) for style in STYLES if not style.startswith("name"))


def test_equal_figures_are_drawn_alike(figure):
    assert chart(figure) == chart(figure)


@pytest.mark.slow
def test_without_the_extra_the_page_says_what_it_lacks(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        charts, "find_spec", lambda name: None if name == "altair" else find_spec(name)
    )
    page = tmp_path / "r.html"
    assert main(["report", example("run"), "--out", str(page)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "not drawn" in line]
    assert said == [
        "judgerel: figures are not drawn: they need altair, not installed. "
        "Try: pip install '.[report]' in a checkout of judgerel_ray"
    ]
    assert "(not drawn)" in page.read_text()
    assert 'role="img"' not in page.read_text()
