import dataframely as dy
import polars as pl
import pytest

from judgerel_ray.core.schema import Bool, Float64, Int64, Json, List, Schema, String


class Ends(Schema):
    low = Float64("Low.")
    high = Float64("High.")


class Counts(Schema):
    """Counts."""

    n = Int64("How many.")
    ends = Ends
    from_ = String("Where.", alias="from")
    flags = List(List(Float64()), "Numbers of flags.")


class MoreCounts(Counts):
    is_all = Bool("Whether.")


def test_columns_stand_in_the_order_of_the_class_and_those_of_a_schema_in_its_place():
    assert [*Counts.descriptions] == ["n", "low", "high", "from", "flags"]
    assert [*MoreCounts.columns] == [*Counts.columns, "is_all"]
    assert Counts.dtypes["flags"] == pl.List(pl.List(pl.Float64()))


def test_a_frame_has_the_columns_of_groups_first_of_known_types_or_of_any():
    rows = [{"n": 1, "heat": 0.5, "from": "a", "left": "out"}, {"heat": 1, "n": 2}]
    assert Counts.frame(rows, {"heat": pl.Float64()}).rows() == [
        (0.5, 1, None, None, "a", None), (1.0, 2, None, None, None, None),
    ]  # fmt: skip
    assert Counts.frame(rows, ["heat"]).schema["heat"] == pl.Float64()
    assert Counts.groups(Counts.frame(rows, ["heat"])) == ["heat"]
    assert Counts.frame(groups=["heat"]).columns == ["heat", *Counts.columns]


def test_the_same_schema_of_dataframely_checks_frames_and_describes_columns():
    same = MoreCounts.dataframely()
    frame = MoreCounts.frame([{"n": 1}], {"judge": pl.String()})
    assert same.validate(frame).columns == [*MoreCounts.columns]
    assert {name: one.description for name, one in same.columns().items()} == dict(
        MoreCounts.descriptions
    )
    with pytest.raises(dy.exc.SchemaError):
        same.validate(frame.with_columns(n=pl.lit("one")))


def test_what_json_alone_holds_may_be_anything():
    class Answer(Schema):
        look = Json("Look.")

    assert Answer.dataframely().validate(pl.DataFrame({"look": [3]})).height == 1
