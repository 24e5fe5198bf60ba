import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.benchmarks import sample_items
from judgerel_ray.core import Item, SweepError


def made(benchmark, category, number):
    return Item(
        item_id=f"{benchmark}:{category}:{number}",
        benchmark=benchmark,
        category=category,
        question="?",
    )


SOME = tuple(made(b, c, i) for b in "pq" for c in "xyz" for i in range(12))

draws = st.fixed_dictionaries(
    {
        "per": st.sampled_from(["category", "benchmark", None]),
        "n": st.integers(1, 12),
        "seed": st.integers(0, 2**40),
    }
)


@given(draws, st.permutations(SOME))
def test_order_of_the_items_changes_nothing(draw, shuffled):
    assert sample_items(shuffled, **draw) == sample_items(SOME, **draw)


@given(draws)
def test_draw_is_a_sorted_subset_of_the_asked_size(draw):
    drawn = sample_items(SOME, **draw)
    n_strata = {"category": 6, "benchmark": 2, None: 1}[draw["per"]]
    assert len(set(drawn)) == len(drawn) == draw["n"] * n_strata
    assert set(drawn) <= set(SOME)
    assert list(drawn) == sorted(drawn, key=lambda i: (i.benchmark, i.category, i.item_id))


@given(st.integers(1, 11), st.integers(0, 999))
def test_larger_draw_holds_the_smaller(n, seed):
    small = sample_items(SOME, per="category", n=n, seed=seed)
    assert set(small) < set(sample_items(SOME, per="category", n=n + 1, seed=seed))


@given(st.integers(0, 999))
def test_strata_do_not_touch_each_other(seed):
    drawn = sample_items(SOME, per="category", n=3, seed=seed)
    alone = sample_items([i for i in SOME if i.category == "x"], per="category", n=3, seed=seed)
    assert set(alone) == {i for i in drawn if i.category == "x"}


def test_seeds_draw_differently_and_evenly():
    draws = [sample_items(SOME, per="category", n=1, seed=seed) for seed in range(400)]
    assert len(set(draws)) == 400
    counts = [sum(item in drawn for drawn in draws) for item in SOME]
    # Each item is drawn with chance 1/12: mean 33.3, sd 5.5; five sd either side.
    assert min(counts) > 5
    assert max(counts) < 62


def test_categories_are_drawn_too():
    titles = [made("squad", f"t{t}", i) for t in range(35) for i in range(3)]
    drawn = sample_items(titles, per="category", n=1, seed=1, categories=20)
    assert len({item.category for item in drawn}) == len(drawn) == 20
    assert set(drawn) < set(sample_items(titles, per="category", n=1, seed=1))
    assert drawn != sample_items(titles, per="category", n=1, seed=2, categories=20)


def test_same_category_of_two_benchmarks_is_two_strata():
    drawn = sample_items(SOME, per="category", n=1, seed=1)
    assert {(i.benchmark, i.category) for i in drawn} == {(b, c) for b in "pq" for c in "xyz"}


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ({"per": "category", "n": 13}, "asked for 13 items of each stratum, 'p' 'x' has 12"),
        ({"per": "benchmark", "n": 99}, "asked for 99 items of each stratum, 'p' has 36"),
        ({"per": None, "n": 73}, "all of them together has 72"),
        ({"per": "category", "n": 1, "categories": 7}, "asked for 7 strata, there are 6"),
        ({"per": "category", "n": 0}, "n must be at least 1, got 0"),
        ({"per": "category", "n": 1, "categories": 0}, "categories must be at least 1"),
        ({"per": None, "n": 1, "categories": 2}, "needs per"),
        ({"per": "title", "n": 1}, "per must be category, benchmark or nothing, got 'title'"),
    ],
)
def test_impossible_draw(draw, said):
    with pytest.raises(SweepError) as caught:
        sample_items(SOME, seed=1, **draw)
    assert said in str(caught.value)


def test_items_must_be_there_once():
    with pytest.raises(SweepError, match="no items"):
        sample_items([], per=None, n=1, seed=1)
    with pytest.raises(SweepError, match="stands twice"):
        sample_items([SOME[0], SOME[0]], per=None, n=1, seed=1)
