from __future__ import annotations

import io
import json

import polars as pl
import pytest
from rich.console import Console

from judgerel_ray.reduce import load_judgments, reduce_judgments
from judgerel_ray.report import coefficients_json, print_coefficients

# A hand-made file: three questions asked four times.
ROWS = """item_id,judge,replication,verdict
capital,[bold]j,0,A
capital,[bold]j,1,A
capital,[bold]j,2,A
capital,[bold]j,3,A
river,[bold]j,0,B
river,[bold]j,1,B
river,[bold]j,2,B
river,[bold]j,3,
poem,[bold]j,0,A
poem,[bold]j,1,B
poem,[bold]j,2,C
poem,[bold]j,3,B
"""


@pytest.fixture
def coefficients(tmp_path) -> pl.DataFrame:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return reduce_judgments(load_judgments(str(path)))


def printed(coefficients: pl.DataFrame, **options) -> str:
    console = Console(file=io.StringIO(), width=200, **options)
    print_coefficients(coefficients, console=console)
    return console.file.getvalue()


def test_twelve_rows_print_a_table_a_person_understands(coefficients):
    lines = printed(coefficients).splitlines()
    assert lines[:3] == ["judge: [bold]j", "unit: item_id", ""]
    assert lines[3].split("  ")[0] == "coefficient"
    by_name = {line.split("  ")[0]: line for line in lines[4:11]}
    # Agreeing pairs: 6, 3 and 1 of 6.
    assert " 0.556 [" in by_name["agreement"]
    assert "counts as a verdict" in by_name["agreement"]
    assert "few informative questions" in by_name["agreement"]
    assert " 3 x 4 " in by_name["Krippendorff's alpha"]
    assert len(lines) == 4 + 6 + 6 + 1
    assert " 0.917 [" in lines[-1]


def test_noise_is_named_in_words():
    noise = pl.LazyFrame(
        {
            "item_id": ["q", "q", "r", "r"],
            "replication": [0, 1, 0, 1],
            "verdict": ["A", "B", "A", "B"],
        }
    )
    assert "not distinguishable from noise" in printed(reduce_judgments(noise))


def test_a_terminal_gets_a_table_that_says_the_same(coefficients):
    text = printed(coefficients, force_terminal=True, color_system=None)
    assert "judge: [bold]j" in text
    assert "0.556 [" in text
    assert "│" in text


def test_groups_are_columns_where_they_differ(coefficients):
    two = pl.concat([coefficients, coefficients.with_columns(judge=pl.lit("[red]k"))])
    text = printed(two, force_terminal=True, color_system=None)
    assert "[red]k" in text
    assert "judge:" not in text


def test_json_has_null_and_never_nan(coefficients):
    once = reduce_judgments(
        pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["A"], "judge": ["j"]})
    )
    text = coefficients_json(pl.concat([coefficients, once]))
    rows = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert rows == pl.concat([coefficients, once]).to_dicts()
    assert rows[-2]["value"] is None
    assert rows[-2]["undefined"] == "single_replication"


def test_nan_is_refused():
    with pytest.raises(ValueError):
        coefficients_json(pl.DataFrame({"value": [float("nan")]}))
