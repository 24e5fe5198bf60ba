"""Tables made of what landed: where they are damaged or gone, the hint is what lays them out."""

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.pipeline.confusing import read_confusions
from judgerel_ray.pipeline.exacting import read_distributions
from judgerel_ray.pipeline.settling import read_settled
from judgerel_ray.store import RunDirectory

HEAD = 'name = "s"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
PLAIN = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.jsonl"\n'
TABLES = [
    (read_settled, "settled", PLAIN + "replications = { adaptive = 0.05, first = 5, max = 60 }\n"),
    (
        read_confusions,
        "confusions",
        '[[ask]]\nprotocol = "confusion"\nbenchmark = "b"\npath = "i.jsonl"\n',
    ),
    (read_distributions, "distributions", PLAIN + 'mode = "exact"\n'),
]


def made(tmp_path, ask):
    run = RunDirectory.create(str(tmp_path / "run"))
    run.write_text("sweep.toml", HEAD + ask)
    return run


@pytest.mark.parametrize(("read", "name", "ask"), TABLES)
def test_a_damaged_table_says_how_to_have_it_again(read, name, ask, tmp_path):
    run = made(tmp_path, ask)
    run.write_bytes(f"{name}/{name}.parquet", b"garbage")
    with pytest.raises(StoreError, match="cannot be read") as caught:
        read(run)
    assert f"{name}.parquet" in str(caught.value)
    assert "SWEEP --out RUN" in caught.value.hint
    assert "lays it out again" in caught.value.hint
    assert "verify" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("read", "name", "ask"), TABLES)
def test_a_table_that_is_gone_is_not_blamed_on_the_sweep(read, name, ask, tmp_path):
    with pytest.raises(StoreError, match=f"lost its table {name}") as caught:
        read(made(tmp_path, ask))
    assert "lays it out again" in caught.value.hint


@pytest.mark.parametrize("read", [read for read, *_ in TABLES])
def test_a_sweep_that_asks_for_no_such_table_says_what_would(read, tmp_path):
    with pytest.raises(StoreError, match=r"the run (has no|asked nothing)") as caught:
        read(made(tmp_path, PLAIN))
    assert "[[ask]]" in caught.value.hint
