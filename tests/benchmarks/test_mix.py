from collections import Counter

import pytest

from judgerel_ray.benchmarks import load_items
from judgerel_ray.core import SweepError

PART = '[[part]]\nbenchmark = "{0}"\npath = "{0}.csv"\n'


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two"):
        rows = [f"{name}{n},Q{n}?,x{n},y{n}" for n in range(30)]
        text = "item_id,question,option_x,option_y\n" + "\n".join(rows)
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def mix(folder, text, **options):
    (folder / "mix.toml").write_text(text)
    return load_items("mix", str(folder / "mix.toml"), **options)


def test_as_many_responses_of_each_part(folder):
    items = mix(folder, "n = 20\n" + PART.format("one") + PART.format("two"))
    assert Counter((item.benchmark, item.category) for item in items) == {
        ("mix", "one"): 20, ("mix", "two"): 20,
    }  # fmt: skip
    assert {len(item.options) for item in items} == {1}
    assert all(item.item_id.endswith(f":{item.options[0].option_id}") for item in items)
    assert len({item.item_id.split(":")[0] for item in items}) == 40
    assert set(Counter(item.options[0].option_id for item in items)) == {"x", "y"}


def test_the_seed_decides_and_the_files_own_comes_first(folder):
    text = "n = 20\n" + PART.format("one")
    assert mix(folder, text) == mix(folder, text, seed=1) == mix(folder, "seed = 1\n" + text)
    assert mix(folder, text) != mix(folder, text, seed=2)
    assert mix(folder, text, seed=2) == mix(folder, "seed = 2\n" + text, seed=5)


def test_a_larger_draw_holds_a_smaller_one(folder):
    small, large = (mix(folder, f"n = {n}\n" + PART.format("one")) for n in (5, 25))
    assert {item.item_id for item in small} < {item.item_id for item in large}


def test_parts_of_one_benchmark_share_no_item(folder):
    parts = "".join(f'{PART.format("one")}name = "{o}"\noptions = ["{o}"]\n' for o in "xy")
    items = mix(folder, "n = 15\n" + parts)
    assert Counter(item.options[0].option_id for item in items) == {"x": 15, "y": 15}
    assert len({item.item_id.split(":")[0] for item in items}) == 30
    with pytest.raises(SweepError, match="asked for 16 responses of other items each, y has 14"):
        mix(folder, "n = 16\n" + parts)


def test_a_part_has_a_number_of_its_own(folder):
    items = mix(folder, "n = 20\n" + PART.format("one") + "n = 3\n" + PART.format("two"))
    assert Counter(item.category for item in items) == {"one": 3, "two": 20}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("n = ", "a mix is a TOML file"),
        ("n = 2\n", "missing column part.*add ..part.."),
        ("n = 2\npart = []\n", "a mix needs a"),
        ("m = 2\n" + PART.format("one"), "unknown key 'm', expected one of seed n part"),
        (PART.format("one"), "missing column n"),
        ("n = 0\n" + PART.format("one"), "n must be at least 1, got 0"),
        ("n = 2\n" + PART.format("one") + "seed = 3\n", "unknown key 'seed'"),
        ("n = 2\n" + PART.format("one") * 2, "two parts are called 'one'"),
        ("n = 2\n" + PART.format("one") + 'options = ["z"]\n', "no item has the option 'z'"),
        ("n = 2\n" + PART.format("absent"), "no such file.*absent.csv"),
        ('n = 2\n[[part]]\nbenchmark = "mix"\npath = "mix.toml"\n', "a mix has no mix for a part"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(folder, text, what):
    with pytest.raises(SweepError, match=what) as caught:
        mix(folder, text)
    assert "\n" not in str(caught.value)
