"""Progress of things under way, and small words of the core."""

from judgerel_ray.core.progress import fewer_groups, progress_shown, under_way
from judgerel_ray.core.text import closest, marked_encoding
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.core.verb import flag


def test_nothing_is_lost_under_way():
    with progress_shown(print):
        assert [*under_way([1, 2], of=2, what="numbers", hint="")] == [1, 2]


def test_a_hint_names_what_makes_groups():
    expected = "; groups are of judge, scale: --by names fewer columns"
    assert fewer_groups(["judge", "scale"]) == expected


def test_protocols_are_found_by_a_trait():
    assert protocols_where(lambda one: one.makes_matrices) == ("confusion",)


def test_an_option_carries_its_help():
    assert flag("how folds are drawn", "S")["flag"].help == "how folds are drawn"


def test_an_encoding_is_told_by_its_mark():
    assert marked_encoding("name".encode("utf-16")) == "UTF-16"
    assert marked_encoding(b"name") is None


def test_the_closest_name_is_found_whatever_its_case():
    assert closest("question", ["Question", "answer"]) == "Question"
