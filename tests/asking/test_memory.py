"""A driver holds each item once: memory by item, counted in bytes and never by a clock."""

import gc
import json
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run import opening
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.config import read_sweep
from judgerel_ray.store.ledger import build_ledger

N = 4000
FIXED = 500_000  # bytes of what a step holds whatever the number of items
SWEEP = """
name = "s"
[[judge]]
name = "j"
engine = "simulated"
model = "dirichlet"
gpus = 0
"""
ASK = """
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
replications = 5
max_tokens = {}
temperatures = [{}]
"""


def prepared(folder, n, asks=((16, 1.0),)):
    """A sweep of items with some 370 characters of text each."""
    (folder / "sweep.toml").write_text(SWEEP + "".join(ASK.format(*ask) for ask in asks))
    with (folder / "items.jsonl").open("w") as file:
        for place in range(n):
            options = [
                {"option_id": f"a long name {name}", "text": f"{name} to {place} " + "text " * 12}
                for name in "abc"
            ]
            item = {
                "item_id": f"q{place:08d}",
                "question": f"Which answer to question {place} is best? " + "word " * 20,
                "category": f"a category of its own {place % 7}",
                "options": options,
                "gold": "a long name a",
            }
            file.write(json.dumps(item) + "\n")
    return read_sweep(folder / "sweep.toml")


def with_room_for_names():
    """Names kept alive, so many that Python's table of interned strings has just grown.

    It doubles at once, by some megabytes, whenever a process comes to hold enough of them: that
    may be at any step, and is no memory of an item.
    """
    tracemalloc.start()
    names, before, grown = [], tracemalloc.get_traced_memory()[0], False
    while not grown:
        names.append(sys.intern(f"a name to fill the table {len(names)}"))
        now = tracemalloc.get_traced_memory()[0]
        before, grown = now, now - before > 500_000
    tracemalloc.stop()
    return names


def traced_steps(folder):
    """Bytes held after each step of a run's start, and most of them during it."""
    steps = {}

    def go(n, name):
        (folder / name).mkdir()
        sweep = prepared(folder / name, n)
        out = str(folder / name / "run")
        made = {}

        def step(name, do):
            gc.collect()
            tracemalloc.reset_peak()
            made[name] = do()
            gc.collect()
            steps[name] = tracemalloc.get_traced_memory()

        step("resolve", lambda: resolve(sweep))
        resolved = made["resolve"]
        step("plan", lambda: plan_resolved(resolved))
        step("start", lambda: prepare_run(resolved, made["plan"], out))
        step("resume", lambda: prepare_run(resolved, made["plan"], out))
        (frame,) = resolved.frames
        pending = Pending(
            asked=((frame, frame.judges[0]),), wave=0, texts={}, ledger=build_ledger(0, []),
            request_size=32,
        )  # fmt: skip
        step("hand out", lambda: sum(work.n for works in pending.asks(None) for work in works))
        assert made["hand out"] == 5 * n

    go(10, "first")  # what is imported and kept on the way
    names = with_room_for_names()
    opening.ITEMS_AT_ONCE = 100
    tracemalloc.start()
    go(N, "traced")
    assert names
    return steps


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """In a process of its own: threads that other tests left would be counted, too."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        steps = pool.submit(traced_steps, tmp_path_factory.mktemp("traced")).result()
    print(steps)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("step", ["resolve", "plan", "start", "resume", "hand out"])
def test_an_item_takes_a_kilobyte_whatever_is_done_with_it(traced, step):
    held, most = traced[step]
    assert held < 1000 * N + FIXED
    assert most < 1100 * N + FIXED


def test_asks_of_one_file_hold_its_items_once(tmp_path):
    two = ((16, 1.0), (16, 0.5))
    resolved = resolve(prepared(tmp_path, 3, two))
    one, other = resolved.frames
    assert one.items is other.items is resolved.items


def test_a_name_that_stands_in_many_items_is_one_text(tmp_path):
    one, other = resolve(prepared(tmp_path, 8)).items[::7]
    assert one.category is other.category
    assert one.options[2].option_id is other.options[2].option_id
    assert one.gold is one.options[0].option_id
