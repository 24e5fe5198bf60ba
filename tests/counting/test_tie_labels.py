"""Labels that name no place: a tie's own letter, a tie among places, and a third of two places."""

import warnings
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting import tie_labels
from judgerel_ray.counting.groups.tally import tally_judgments
from judgerel_ray.counting.tie_labels import placed, placed_tally
from judgerel_ray.measuring.reliability import reduce_judgments
from tests.counting.test_places import coin, content, first_shown, pairs, value
from tests.opening import snapshot

OF_PLACES = ("krippendorff_alpha", "swap_consistency", "place_consistency", "position_bias")


def shared(_rng, _item):
    return ("x", "y")


def tied(frame: pl.DataFrame, word: str, label: str | None) -> pl.DataFrame:
    tie = pl.int_range(pl.len()) % 5 == 0
    return frame.with_columns(
        verdict=pl.when(tie).then(pl.lit(word)).otherwise("verdict"),
        label=pl.when(tie).then(pl.lit(label)).otherwise("label"),
    )


def figures(frame: pl.DataFrame, **asked) -> list[tuple]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = reduce_judgments(frame.lazy(), coefficients=OF_PLACES, **asked)
    columns = ("coefficient", "conditions", "missing", "value", "low", "high", "n_categories")
    return [*rows.select(columns).rows(), [str(one.message) for one in said]]


@pytest.mark.alike(2)
@pytest.mark.parametrize("menu", [None, shared])
@pytest.mark.parametrize(
    ("label", "says"), [("C", []), ("tie", []), ("B", ["verdict tie has the label B: "])]
)
def test_a_tie_stands_nowhere_whatever_its_label(menu, label, says):
    frame = pairs(content, menu=menu)
    *right, _ = figures(tied(frame, "tie", None))
    *found, said = figures(tied(frame, "tie", label))
    assert found == right
    assert len(said) == len(says)
    assert all(line.startswith(start) for line, start in zip(said, says, strict=True))


@pytest.mark.slow
def test_a_tie_of_another_name_is_known_by_its_own_letter():
    frame = pairs(first_shown, menu=shared)
    *right, _ = figures(tied(frame, "same", None))
    *found, said = figures(tied(frame, "same", "C"))
    assert found == right
    assert said == [
        "label C and verdict same occur with each other alone, in every order, and options move: "
        "taken for a tie, which stands nowhere"
    ]


def test_numbers_of_rows_that_are_equal_by_chance_prove_no_tie():
    # As many rows name z as name place C, and yet z moves, and y stays in the middle.
    rows = [
        ("q", 0, "x", "A"), ("q", 0, "z", "C"), ("q", 1, "z", "A"), ("q", 1, "x", "C"),
        ("r", 0, "y", "B"), ("r", 1, "y", "B"), ("r", 0, "x", "A"), ("r", 1, "x", "C"),
    ]  # fmt: skip
    columns = ["item_id", "option_order", "verdict", "label"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").lazy()
    assert not placed(frame).changed
    assert placed_tally(tally_judgments(frame))[0].nested.places == ("A", "B", "C")


def test_what_cannot_be_decided_is_said():
    frame = pairs(coin, menu=shared)
    once = pl.int_range(pl.len()) % 60 == 0  # the first order alone
    third = frame.with_columns(
        verdict=pl.when(once).then(pl.lit("z")).otherwise("verdict"),
        label=pl.when(once).then(pl.lit("C")).otherwise("label"),
    )
    assert placed(third.lazy()).notes == (
        "label C and verdict z occur with each other alone, in 1 of 2 orders (10 rows): taken for "
        "an option; a column n_options says how many options there are",
    )
    assert placed(third.lazy(), n_options=3).notes == ()
    moving = {
        "item_id": ["q"] * 4, "option_order": [0, 1] * 2, "label": ["A", "B", "B", "A"],
        "verdict": ["neither", "neither", "x", "x"],
    }  # fmt: skip
    found = placed(pl.LazyFrame(moving))
    assert not found.changed
    assert found.notes == (
        "verdict neither stands at another place in another order, as options do: it is taken for "
        "an option",
    )


def test_models_are_each_their_own_label():
    rows = {
        "item_id": ["q"] * 6, "option_order": [0, 1] * 3, "protocol": ["think_twice"] * 6,
        "verdict": ["m", "m", "n", "n", "o", "o"], "label": ["m", "m", "n", "n", "o", "o"],
    }  # fmt: skip
    assert not placed(pl.LazyFrame(rows)).changed


@pytest.mark.slow
@pytest.mark.parametrize("menu", [None, shared])
def test_one_row_with_a_third_label_makes_no_third_option(menu):
    frame = pairs(first_shown, items=134, menu=menu)
    *right, _ = figures(frame)
    stray = pl.when(pl.int_range(pl.len()) == 401).then(pl.lit("C")).otherwise("label")
    *found, said = figures(frame.with_columns(label=stray))
    for one, other in zip(right, found, strict=True):
        assert one[3] == pytest.approx(other[3], abs=0.006)
    assert said == [
        "label C of 1 of 804 rows names a place beyond the 2 options that verdicts show: "
        "its label is left out; a column n_options says how many options there are"
    ]


@pytest.mark.slow
def test_one_row_with_a_third_verdict_makes_no_third_option():
    frame = pairs(first_shown, items=134, menu=shared)
    *right, _ = figures(frame)
    stray = pl.int_range(pl.len()) == 401
    third = frame.with_columns(
        verdict=pl.when(stray).then(pl.lit("z")).otherwise("verdict"),
        label=pl.when(stray).then(pl.lit("C")).otherwise("label"),
    )
    *found, said = figures(third)
    for one, other in zip(right, found, strict=True):
        assert one[3] == pytest.approx(other[3], abs=0.006)
    assert said == [
        "label C and verdict z occur with each other alone, in 1 of 2 orders (1 row): too few for "
        "a third option, so the label is left out; a column n_options says how many options there "
        "are"
    ]
    assert placed(third.with_columns(n_options=3).lazy(), n_options=3).notes == ()


def thirds(frame: pl.DataFrame, every: int) -> pl.DataFrame:
    third = pl.int_range(pl.len()) % every == 0
    return frame.with_columns(label=pl.when(third).then(pl.lit("C")).otherwise("label"))


@pytest.mark.slow
def test_labels_beyond_what_verdicts_show_are_said_and_options_can_be_declared(tmp_path):
    frame = thirds(pairs(coin, menu=shared), 40)
    *_, said = figures(frame)
    assert said == [
        "labels name 3 places (A, B, C), more than the 2 options that verdicts show: 3 options "
        "are assumed; a column n_options says how many options there are"
    ]
    file = str(tmp_path / "judgments.parquet")
    three = frame.with_columns(n_options=3)
    three.write_parquet(file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judgerel_ray.reduce(file)
    assert value(found, coefficient="brennan_prediger", conditions="reproducibility")[
        "n_categories"
    ] == 3  # fmt: skip
    frame.with_columns(n_options=2).write_parquet(file)
    with pytest.raises(SweepError, match=r"name 3 places \(A, B, C\), more than the 2 options"):
        judgerel_ray.reduce(file)
    frame.with_columns(n_options=pl.lit("two")).write_parquet(file)
    with pytest.raises(SweepError, match=r"from 2 on, got 'two' \[file=.*row=\d+\]. Try: write"):
        judgerel_ray.reduce(file)


@pytest.mark.slow
def test_a_declared_number_goes_before_the_labels_that_occur(tmp_path):
    frame = pairs(content, menu=shared)
    three, two = str(tmp_path / "three.csv"), str(tmp_path / "two.csv")
    frame.with_columns(n_options=3).write_csv(three)
    frame.write_csv(two)
    for measured in (judgerel_ray.reduce, lambda file: judgerel_ray.compare(file, two)):
        declared, by_labels = measured(three), measured(two)
        alpha = {"coefficient": "krippendorff_alpha", "conditions": "reproducibility"}
        name = "value" if "value" in declared.columns else "value_a"
        # Of six orders two were asked: most pairs of judgments are of different ones.
        assert value(declared, **alpha)[name] < value(by_labels, **alpha)[name]
    assert snapshot(three).n_options == {"": 3}


@pytest.mark.slow
def test_a_tie_on_the_menu_is_shown_in_no_order():
    frame = pairs(content, menu=shared).with_columns(benchmark=pl.lit("b"))
    *right, _ = figures(frame, n_categories={"b": 2})
    *found, _ = figures(frame, n_categories={"b": 3}, n_options={"b": 2})
    assert [row[:-1] for row in found] == [row[:-1] for row in right]
    sides = pl.concat([frame, frame.with_columns(judge=pl.lit("k"))]).lazy()
    asked = {"by": ["judge"], "coefficients": ["krippendorff_alpha", "position_bias"]}
    two = compare_judgments(sides, **asked, n_categories={"b": 2})
    three = compare_judgments(sides, **asked, n_categories={"b": 3}, n_options={"b": 2})
    assert three["value_a"].to_list() == two["value_a"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("label", ["B", "C"])
def test_compare_and_advise_take_no_tie_for_a_place(label):
    both = [
        tied(pairs(first_shown, judge=one, seed=k, items=20), "tie", None)
        for k, one in enumerate("ab")
    ]
    right = pl.concat(both)
    is_tie = pl.col("verdict") == "tie"
    frame = right.with_columns(label=pl.when(is_tie).then(pl.lit(label)).otherwise("label"))
    names = ["krippendorff_alpha", "swap_consistency", "position_bias"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = (
            compare_judgments(one.lazy(), by=["judge"], coefficients=names).drop("n_judgments_a")
            for one in (frame, right)
        )
        assert found.equals(expected)
        advice, known = (advise_judgments(one.lazy()).tables() for one in (frame, right))
    assert advice["components"].equals(known["components"])


@pytest.mark.slow
def test_templates_that_name_places_their_own_way_have_the_options_of_one():
    letters = pairs(content, menu=shared).with_columns(template=pl.lit("letters"))
    by_number = pl.col("label").replace_strict({"A": "1", "B": "2"})
    numbers = letters.with_columns(template=pl.lit("numbers"), label=by_number)
    *found, said = figures(pl.concat([letters, numbers]), by=["template"])
    *right, _ = figures(letters, by=["template"])
    alphas = [row[3] for row in found if row[:2] == ("krippendorff_alpha", "reproducibility")]
    # Not those of two of the 24 orders that four options have.
    assert alphas == pytest.approx([right[0][3]] * 2, abs=1e-12)
    assert right[0][:2] == ("krippendorff_alpha", "reproducibility")
    assert said == []


def test_a_letter_of_its_own_takes_no_second_count(monkeypatch):
    frame = pairs(coin, menu=shared)
    own, none = (tally_judgments(tied(frame, "tie", label).lazy()) for label in ("C", None))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("rows were counted again")

    monkeypatch.setattr(tie_labels, "tally_judgments", refuse)
    found, notes = placed_tally(own)
    columns = ["item_id", "option_order"]
    counted = [one.nested.by_place().long(columns).sort(pl.all()) for one in (found, none)]
    assert counted[0].equals(counted[1])
    assert notes == ()
    with pytest.raises(AssertionError, match="counted again"):
        placed_tally(tally_judgments(tied(frame, "tie", "B").lazy()))


def test_a_letter_that_stays_where_options_move_is_said_though_it_is_declared_an_option():
    rows = pl.LazyFrame(
        {
            "item_id": ["q"] * 6,
            "option_order": [0, 1] * 3,
            "verdict": ["x", "x", "y", "y", "t", "t"],
            "label": ["A", "B", "B", "A", "C", "C"],
        }
    )
    found = placed(rows, n_options=3)
    assert not found.changed
    assert found.notes == (
        "label C and verdict t occur with each other alone, in every order, and options move, as "
        "of a tie: taken for an option, as n_options is 3, which counts no tie",
    )
    assert placed(rows, n_options=2).changed


@pytest.mark.slow
def test_two_letters_that_stay_in_all_orders_are_options(capsys):
    """Of four options in orders ABCD and BACD each of C and D passed for a tie."""
    path = str(Path(__file__).parents[1] / "cases/sheets/tables/two_of_24_orders.csv")
    with pytest.warns(UserWarning, match="labels C and D stay with their verdicts in all 2 orders"):
        found = judgerel_ray.reduce(path)
    with pytest.warns(UserWarning, match="n_options is 4"):
        declared = judgerel_ray.reduce(pl.read_csv(path).with_columns(n_options=4))
    columns = ["coefficient", "conditions", "missing", "value", "low", "high", "noise_floor"]
    assert found.select(columns).equals(declared.select(columns))
    alpha = found.filter(coefficient="krippendorff_alpha", conditions="reproducibility")
    assert alpha["value"].item() == pytest.approx(0.654, abs=5e-4)
    assert main(["reduce", path]) == 0
    assert "Orders recorded: 2 of 24" in capsys.readouterr().out
