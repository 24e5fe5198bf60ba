"""The page on selection: what it shows of a judge in its roles, and what where there is none."""

import json
import re

import polars as pl
import pytest

from judgerel_ray.analyses.selection.show import (
    band_figures,
    confidence_figures,
    reliability_figures,
    role_figures,
)
from judgerel_ray.blocks.charts import chart
from judgerel_ray.cli import main


def _curve(system, role, points, **name):
    return [
        {"judge": "ada", "role": role, **name, "system": system, "confidence": "stated",
         "threshold": 1 - share, "acceptance": share, "n_accepted": int(100 * share),
         "n_errors": 1, "n_answers": 100, "error": 1 - right, "low": 0.9 - right,
         "high": 1.1 - right, "band_low": 0.85 - right, "band_high": 1.15 - right,
         "accuracy": right, "interval": "exact binomial", "band": "bonferroni",
         "band_thresholds": 2, "band_off": None}
        for share, right in points
    ]  # fmt: skip


ALONE = _curve("ada alone", "responder", [(0.5, 0.8), (1.0, 0.6)], temperature=0.7)
JUDGE = _curve("ada judges", "evaluator_only", [(0.4, 0.9), (1.0, 0.7)], temperature=0.0)
NAMES = ["judge", "role", "temperature"]


def _lines(figure):
    return [mark for mark in figure.marks if mark.shape == "step"]


def test_a_line_a_role_in_steps_at_points_that_occur():
    [figure] = role_figures(pl.DataFrame(ALONE + JUDGE), NAMES)
    assert sorted(mark.style for mark in _lines(figure)) == ["line", "other"]
    drawn = str(chart(figure).shapes)
    for path in re.findall(r'<g class="(?:line|other)"><path d="([^"]*)"', drawn):
        # Two operating points: along to the second's share at the first's height, then down.
        (x1, y1), (x2, y2), (x3, y3) = (one.split(",") for one in re.split("[MLHV]", path)[1:])
        assert (y1, x2) == (y2, x3)
        assert (x1, y2) != (x2, y3)
    bars = re.findall(r'<g class="whisker">.*?</g>', drawn)
    assert sum(group.count("<line") for group in bars) == drawn.count("<title>ada ") == 4
    assert "of the surest 0.40 right 0.900" in figure.description


def test_a_band_is_said_in_words_beside_its_figure():
    dkw = [{**row, "band": "dkw", "band_off": 0.1234, "system": "ada twice"} for row in ALONE]
    figures = band_figures(pl.DataFrame(ALONE + dkw, infer_schema_length=None))
    assert [figure.description.partition("; band: ")[2] for figure in figures] == [
        "Bonferroni over 2 thresholds",
        "Dvoretzky-Kiefer-Wolfowitz, 0.123 either way of all judgments",
    ]


def test_roles_at_one_temperature_stand_together_and_others_apart():
    rows = [
        *ALONE,
        *_curve("ada judges hot", "evaluator_only", [(1.0, 0.7)], temperature=0.7),
        *_curve("ada alone cold", "responder", [(1.0, 0.6)], temperature=0.0),
        *JUDGE,
    ]
    figures = role_figures(pl.DataFrame(rows), NAMES)
    assert [len(_lines(one)) for one in figures] == [2, 2]
    assert len(role_figures(pl.DataFrame(ALONE), NAMES)) == 1


def test_the_band_is_drawn_around_the_interval():
    [figure] = band_figures(pl.DataFrame(JUDGE))
    assert figure.caption == "ada judges, stated"
    band, near = (mark for mark in figure.marks if mark.style == "area")
    wide, narrow = (
        mark.data.select((pl.col(mark.y) - pl.col(mark.y2)).abs()).to_series()
        for mark in (band, near)
    )
    assert (wide > narrow).all()
    assert near.data[near.y].to_list() == pytest.approx([1.0, 0.8])  # of accuracy, not of error
    assert "Bonferroni over 2 thresholds" in figure.description


def test_confidences_of_a_system_lie_on_the_same_axes():
    agreed = [{**row, "confidence": "support"} for row in JUDGE]
    [figure] = confidence_figures(pl.DataFrame(ALONE + JUDGE + agreed))
    assert figure.caption == "ada judges"
    assert [mark.style for mark in _lines(figure)] == ["line", "share"]
    assert "stated: of the surest" in figure.description
    assert "support: of the surest" in figure.description


def test_nothing_selected_draws_nothing():
    nothing = pl.DataFrame()
    assert (role_figures(nothing, []), band_figures(nothing), reliability_figures(nothing)) == (
        [], [], []
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    rows = [
        {"judge": judge, "role": role, "stage": stage, "protocol": "think_twice",
         "item_id": f"q{n}", "replication": 0, "verdict": str((n + shift) % 3),
         "confidence": (n % 5) / 5, "outcome": "scored", "gold": "0" if n % 2 else str(n % 3)}
        for shift, judge in enumerate(("ada", "<b>"))
        for role, stage in (("responder", "choose"), ("participant", "judge"),
                            ("evaluator_only", "judge"))
        for n in range(24)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "answers.parquet")
    return folder / "answers.parquet"


@pytest.mark.slow
def test_the_page_shows_what_reduce_says(answers, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(answers), "--out", str(page)]) == 0
    text = page.read_text("utf-8")
    for heading in ("Accept or reject", "Confidence", "Systems compared", "Self-preference"):
        assert f"<h2>{heading}</h2>" in text
    assert "<b>" not in text
    assert text.count("Accuracy against share accepted, ") >= 2
    capsys.readouterr()
    assert main(["select", str(answers), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for row in found["systems"]:
        assert f"{row['n_right']} of 24" in text


@pytest.fixture
def twice(answers, tmp_path):
    """The answers at two temperatures."""
    rows, path = pl.read_parquet(answers), tmp_path / "twice.parquet"
    heats = [rows.with_columns(temperature=pl.lit(heat)) for heat in (0.0, 0.7)]
    pl.concat(heats).write_parquet(path)
    return str(path)


SEVERAL = "remark: several answer temperatures"


@pytest.mark.slow
def test_a_cost_that_cannot_be_told_says_why_on_a_terminal(twice, capsys):
    assert main(["systems", "--full", twice, "--resamples", "9"]) == 0
    assert SEVERAL in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_cost_that_cannot_be_told_says_why_on_a_page(twice, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", twice, "--out", str(page)]) == 0
    assert SEVERAL in " ".join(page.read_text("utf-8").split())


def test_a_file_without_gold_has_no_such_section(answers, tmp_path):
    plain = tmp_path / "plain.parquet"
    pl.read_parquet(answers).drop("gold").write_parquet(plain)
    page = tmp_path / "page.html"
    assert main(["report", str(plain), "--out", str(page)]) == 0
    assert "Accept or reject" not in page.read_text("utf-8")


@pytest.mark.slow
def test_gold_that_names_no_verdict_is_said_and_the_page_is_there_all_the_same(answers, tmp_path):
    odd = tmp_path / "odd.parquet"
    pl.read_parquet(answers).with_columns(gold=pl.lit("yes")).write_parquet(odd)
    page = tmp_path / "page.html"
    assert main(["report", str(odd), "--out", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "Not told: verdict and gold have no value in common" in text
    assert "All coefficients" in text
