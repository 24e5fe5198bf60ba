"""Judgments of several paths in one file."""

import json

import polars as pl
import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.importers.verbs import write_judgments


def released(tmp_path, judge):
    path = tmp_path / f"full_judgements_{judge}.json"
    texts = ["Best Response: [[A]]", "Best Response: [[B]]"]
    path.write_text(json.dumps({judge: {"temperature: 1": {"bbh:x": texts}}}))
    return str(path)


def test_several_paths_become_one_file(tmp_path):
    paths, out = [released(tmp_path, name) for name in ("j", "k")], str(tmp_path / "out.parquet")
    assert write_judgments("schroeder2024", paths, out) == 4
    assert pl.read_parquet(out)["judge"].to_list() == ["j", "j", "k", "k"]


def test_a_path_that_is_there_twice_is_one_line(tmp_path):
    path = released(tmp_path, "j")
    with pytest.raises(SweepError, match=r"a judgment more than once.*judge=j.*item_id=bbh:x"):
        write_judgments("schroeder2024", [path, path], str(tmp_path / "out.parquet"))
