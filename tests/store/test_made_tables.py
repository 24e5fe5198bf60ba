"""Tables made of what landed: where they are damaged or gone, the hint is what lays them out."""

import json
from io import BytesIO

import polars as pl
import pytest

from judgerel_ray.analyses.confusion import from_run as baselines
from judgerel_ray.analyses.confusion.from_run import plain_scores
from judgerel_ray.analyses.distributions.from_run import run_limits, run_weighted
from judgerel_ray.core import StoreError
from judgerel_ray.measuring.distributions import distribution_table, limit_table
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.made_tables import read_confusions, read_distributions, read_settled
from judgerel_ray.tables import Judgments

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


def test_distributions_that_lack_a_column_are_not_read(tmp_path):
    run = made(tmp_path, PLAIN + 'mode = "exact"\n')
    place = {"judge": "j", "benchmark": "b", "item_id": "q", "template": "default",
             "option_order": 0}  # fmt: skip
    text = json.dumps({"temperatures": [1.0], "verdicts": ["x", "y", None], "estimate": None,
                       "low": [[0.5, 0.3, 0.2]], "high": [[0.5, 0.3, 0.2]]})  # fmt: skip
    table = distribution_table([(place, text)])
    data = BytesIO()
    table.write_parquet(data)
    run.write_bytes("distributions/distributions.parquet", data.getvalue())
    assert read_distributions(run).equals(table)
    assert run_limits(run).equals(limit_table(table))
    with pytest.raises(StoreError, match="are of no ratings"):
        run_weighted(run)
    data = BytesIO()
    table.drop("probability").write_parquet(data)
    run.write_bytes("distributions/distributions.parquet", data.getvalue())
    with pytest.raises(StoreError, match="cannot be read"):
        read_distributions(run)


def test_probabilities_of_ratings_are_no_baseline_of_a_matrix(tmp_path, monkeypatch):
    run = made(tmp_path, PLAIN + 'mode = "exact"\n')
    places = [
        {"judge": "j", "benchmark": "b", "item_id": "q", "template": "default", **more}
        for more in ({"option_order": 0}, {"responder": "x", "scale": "binary"})
    ]
    texts = [
        json.dumps({"temperatures": [1.0], "verdicts": [*names, None], "estimate": None,
                    "low": [[0.5, 0.3, 0.2]], "high": [[0.5, 0.3, 0.2]]})
        for names in (("x", "y"), ("No", "Yes"))
    ]  # fmt: skip
    data = BytesIO()
    distribution_table(list(zip(places, texts, strict=True))).write_parquet(data)
    run.write_bytes("distributions/distributions.parquet", data.getvalue())
    asked = [
        {"key": f"{n}", "judge": "j", "benchmark": "b", "item_id": "q", "protocol": protocol,
         "stage": "exact", "role": "scorer", "prompt_tokens": 100, "completion_tokens": 0}
        for n, protocol in enumerate(("best_of", "rating"))
    ]  # fmt: skip
    judgments = pl.LazyFrame(asked, schema=Judgments.create_empty().schema)
    monkeypatch.setattr(baselines, "scan_judgments", lambda _, columns: judgments.select(columns))
    tokens = pl.DataFrame({"judge": ["j"], "benchmark": ["b"], "item_id": ["q"], "tokens": [9.0]})
    found = plain_scores(run, tokens).sort("verdict")
    assert found.select("verdict", "value", "tokens").rows() == [("x", 0.5, 100), ("y", 0.3, 100)]
