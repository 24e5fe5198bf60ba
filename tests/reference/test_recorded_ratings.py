"""Repeated ratings that others recorded: alpha at three levels, equal to another program's.

The page docs/recorded-ratings.md says these numbers; a line of it that is not computed here, or the
other way round, fails.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.analyses.confusion.confusion import people_table
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.importers.verb import import_judgments
from judgerel_ray.importers.verb import items as write_items
from judgerel_ray.measuring.reliability import ReduceOptions
from judgerel_ray.stats import krippendorff_alpha
from tests.opening import coefficients as coefficients_of

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recorded-ratings.md"
ALPHA = ("krippendorff_alpha",)
LEVELS = ("nominal", "ordinal", "interval")
FOLDER = "seed003"
REWARDBENCH = "RewardBench 2, 1 to 10"
TEN = list(range(1, 11))
REPEATS = [f"s{n}" for n in range(8)]
FILES = {
    "Vicuna, 1 to 5": (
        "gpt4_3x_vicuna",
        dict(
            columns={"item_id": "question_id", "responder": "response_model"},
            values={"judge": "gpt-4", "scale": "points5"},
        ),
    ),
    REWARDBENCH: (
        "repeated8_rewardbench2",
        dict(
            columns={"item_id": "subset,item", "responder": "response_idx"},
            repeats="s[0-7]",
            missing=("-1",),
            values={"temperature": "1", "scale": "points10"},
        ),
    ),
    "MT-Bench pairs, A tie B": (
        "pairwise_3reps_mtbench",
        dict(
            columns={
                "item_id": r"cmp_index:^(\d+);", "responder": "cmp_index", "verdict": "extracted",
            },
            order=("A", "C", "B"),
        ),
    ),
    "AlpacaFarm pairs, 1 2": (
        "alpaca_gpt4_b1_4seeds",
        dict(
            columns={"item_id": "pair_id", "replication": "seed", "verdict": "preference"},
            order=("1", "2"),
        ),
    ),
    "coin flip, A tie B": (
        "coinflip_t0_10reps",
        dict(columns={"item_id": "item"}, order=("A", "tie", "B")),
    ),
}  # fmt: skip


def plain_tables(name: str, folder: Path) -> dict[tuple[str, float | None], np.ndarray]:
    """Raters x units of one file by judge and temperature, laid out with no code of ours."""
    rows = pl.read_parquet(folder / FOLDER / f"{FILES[name][0]}.parquet")
    tables = {}
    if name == REWARDBENCH:
        for (judge, temperature), part in rows.group_by("judge", "temperature"):
            scores = part.select(REPEATS).to_numpy().astype(float)
            scores[scores < 0] = np.nan
            asked = 1.0 if temperature is None else round(temperature, 6)
            tables[str(judge), asked] = scores.T
        return tables
    unit, place, said, codes = {
        "Vicuna, 1 to 5": (["question_id", "response_model"], "replication", "score", None),
        "MT-Bench pairs, A tie B": (["cmp_index"], "replication", "extracted", "ACB"),
        "AlpacaFarm pairs, 1 2": (["pair_id"], "seed", "preference", None),
        "coin flip, A tie B": (["item"], "replication", "verdict", ("A", "tie", "B")),
    }[name]
    judges = rows["judge"] if "judge" in rows.columns else pl.Series(["gpt-4"] * rows.height)
    found = defaultdict(dict)
    for row, judge in zip(rows.to_dicts(), judges.to_list(), strict=True):
        key = (judge, row.get("temperature") if "temperature" in row else None)
        value = row[said]
        code = np.nan if value is None else float(codes.index(value) if codes else value)
        found[key][tuple(row[one] for one in unit), row[place]] = code
    for key, cells in found.items():
        units, places = (sorted({cell[n] for cell in cells}) for n in (0, 1))
        table = [[cells.get((one, at), np.nan) for one in units] for at in places]
        tables[key] = np.array(table)
    return tables


@pytest.fixture(scope="module")
def reduced(recordings, tmp_path_factory):
    """The judgments of a recording as imported, and their coefficients, made once."""

    @cache
    def made(name):
        file, mapping = FILES[name]
        out = str(tmp_path_factory.mktemp("imported") / f"{file}.parquet")
        source = str(recordings / FOLDER / f"{file}.parquet")
        import_judgments("table", [source], out=out, **mapping)
        options = ReduceOptions(measurement=LEVELS, missing=("drop",), coefficients=ALPHA)
        return out, coefficients_of(out, options)

    return made


def printed(row: dict) -> str:
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def lines_of(name: str, found: pl.DataFrame) -> list[str]:
    """Lines of the page."""
    rows = defaultdict(dict)
    for row in found.to_dicts():
        temperature = row.get("temperature")
        asked = "" if temperature is None else f"{temperature:g}"
        rows[row["judge"], asked, row["n_items"], row["n_judgments"] - row["n_missing"]][
            row["measurement"]
        ] = printed(row)
    return [
        f"| {' | '.join([name, *map(str, key)])} | {' | '.join(by[one] for one in LEVELS)} |"
        for key, by in rows.items()
    ]


@pytest.mark.parametrize("name", FILES)
def test_alpha_is_that_of_the_package_at_three_levels(name, reduced, recordings):
    _, found = reduced(name)
    expected = {
        (*key, level): float(krippendorff.alpha(table, level_of_measurement=level))
        for key, table in plain_tables(name, recordings).items()
        for level in LEVELS
    }
    assert found.height == len(expected)
    for row in found.to_dicts():
        value = expected[row["judge"], row.get("temperature"), row["measurement"]]
        assert row["value"] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", FILES)
def test_every_alpha_has_an_interval_and_is_beyond_its_floor(name, reduced):
    _, found = reduced(name)
    for row in found.to_dicts():
        assert row["low"] < row["value"] < row["high"]
        assert abs(row["noise_floor"]) < 0.2 * row["noise_floor_sd"]
        assert row["noise"] is False


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("Vicuna, 1 to 5", "interval"),
        ("AlpacaFarm pairs, 1 2", "nominal"),
        # Three places of an order that nobody called a scale are numbers.
        ("coin flip, A tie B", "interval"),
    ],
)
def test_the_own_level_is_the_default(name, level, reduced):
    out, found = reduced(name)
    own = coefficients_of(out, ReduceOptions(missing=("drop",), coefficients=ALPHA))
    assert set(own["measurement"]) == {level}
    assert own["value"].to_list() == found.filter(measurement=level)["value"].to_list()


@pytest.mark.parametrize("name", FILES)
def test_the_page_says_these_numbers(name, reduced):
    _, found = reduced(name)
    said = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {name} |")]
    assert said == lines_of(name, found)


def test_agreement_falls_with_temperature_on_rewardbench(reduced):
    out, found = reduced(REWARDBENCH)
    full = found.filter(judge="gpt-5.4-full").sort("temperature")
    assert full["temperature"].unique().sort().to_list() == [0.0, 0.7, 1.0]
    steps = defaultdict(list)
    for level in LEVELS:
        values = full.filter(measurement=level)["value"].to_list()
        assert values == sorted(values, reverse=True)
        pairs = compare_judgments(
            tally_file(out).rows,
            by=["temperature"],
            coefficients=ALPHA,
            missing=["drop"],
            measurement=level,
        )
        assert pairs["n_items"].to_list() == [1730] * 3
        # On the questions both have; even the small step from 0.7 to 1 is beyond chance.
        assert pairs.filter(pl.col("high") >= 0).is_empty()
        for row in pairs.to_dicts():
            steps[f"{row['a']} to {row['b']}"].append(printed({**row, "value": row["difference"]}))
    said = PAGE.read_text().splitlines()
    assert len(steps) == 3
    for name, cells in steps.items():
        assert f"| {name} | {' | '.join(cells)} |" in said


def test_agreement_falls_with_temperature_on_each_subset(recordings):
    raw = pl.read_parquet(recordings / FOLDER / "repeated8_rewardbench2.parquet")
    raw = raw.filter(pl.col("judge").cast(pl.String) == "gpt-5.4-full")
    raw = raw.with_columns(pl.col("temperature").fill_null(1.0).round(6))
    assert raw["subset"].n_unique() == 5
    for _, part in raw.group_by("subset"):
        by_temperature = part.partition_by("temperature", as_dict=True)
        for level in LEVELS:
            series = []
            for asked in sorted(by_temperature):
                rows = by_temperature[asked].select(REPEATS).to_numpy()
                counts = np.stack([(rows == value).sum(axis=1) for value in TEN], axis=1)
                series.append(krippendorff_alpha(counts, values=TEN, level=level).value)
            assert len(series) == 3
            assert series == sorted(series, reverse=True)


@pytest.fixture(scope="module")
def summeval(recordings, tmp_path_factory):
    """Items of SummEval, and the coefficients of its people."""
    folder = tmp_path_factory.mktemp("summeval")
    rated, out = str(folder / "items.parquet"), str(folder / "people.parquet")
    write_items("summeval", str(recordings / "items"), out=rated)
    assert import_judgments("people", [rated], out=out) == 15360
    options = ReduceOptions(measurement=LEVELS, coefficients=ALPHA)
    return pl.read_parquet(rated), coefficients_of(out, options)


def test_people_of_summeval_agree_as_the_package_says(summeval, recordings):
    _, found = summeval
    raw = pl.read_parquet(recordings / "items" / "summeval_ratings.parquet")
    raw = raw.cast({"rater_type": pl.String, "dimension": pl.String, "rater": pl.Int64})
    assert found.height == 2 * 4 * 3
    for row in found.to_dicts():
        part = raw.filter(rater_type=row["judge"], dimension=row["criterion"])
        wide = part.pivot("rater", index=["system", "doc_id"], values="score")
        table = wide.drop("system", "doc_id").to_numpy().astype(float).T
        assert table.shape == ({"expert": 3, "turker": 5}[row["judge"]], 480)
        expected = krippendorff.alpha(table, level_of_measurement=row["measurement"])
        assert row["value"] == pytest.approx(float(expected), abs=1e-9)
        assert (row["n_items"], row["unit"]) == (40, "item_id x responder")
        assert row["low"] < row["value"] < row["high"]


def test_experts_agree_by_the_rule_of_wagner_2024(summeval, recordings):
    items, found = summeval
    people = people_table(items)
    raw = pl.read_parquet(recordings / "items" / "summeval_ratings.parquet")
    by_unit = defaultdict(list)
    for row in raw.to_dicts():
        place = (row["rater_type"], row["dimension"], row["system"], row["doc_id"])
        by_unit[place].append(row["score"])
    shares = defaultdict(list)
    for (kind, criterion, *_), scores in by_unit.items():
        pairs = list(combinations(scores, 2))
        shares[kind, criterion].append(sum(a == b for a, b in pairs) / len(pairs))
    lines = []
    for kind, criterion in sorted(shares):
        told = people.filter(raters=kind, criterion=criterion).row(0, named=True)
        assert told["value"] == pytest.approx(np.mean(shares[kind, criterion]), abs=1e-12)
        alphas = found.filter(judge=kind, criterion=criterion).to_dicts()
        by = {row["measurement"]: printed(row) for row in alphas}
        cells = [kind, criterion, printed(told), *(by[level] for level in LEVELS)]
        lines.append(f"| {' | '.join(cells)} |")
    said = [line for line in PAGE.read_text().splitlines() if line.startswith(("| exp", "| tur"))]
    assert said == lines
