"""docs/add-a-protocol.md makes a protocol: one folder and one line, and a sweep goes through."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray import protocols
from judgerel_ray.cli import main
from judgerel_ray.config import parse_sweep, read_sweep
from judgerel_ray.core import SweepError, traits
from judgerel_ray.protocols import registry
from judgerel_ray.store import RunDirectory, scan_judgments

_SPEC = importlib.util.spec_from_file_location("page_blocks", Path(__file__).with_name("blocks.py"))
_BLOCKS = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _BLOCKS
_SPEC.loader.exec_module(_BLOCKS)
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "add-a-protocol.md").read_text("utf-8")


PACKAGE = "accept/__init__.py"  # of a protocol that ships


def _write_files(folder, without=()):
    """Write what the page shows, but for some of its files."""
    for name, content in _BLOCKS.files(PAGE).items():
        if name not in without:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")


@pytest.fixture
def accepting(tmp_path, monkeypatch):
    """The page's folder, its protocol registered as the page registers it; the sweep's file."""
    _write_files(tmp_path, without=[PACKAGE])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_known", dict(registry._known))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "accept.protocol", raising=False)
    (line,) = [block for block in _BLOCKS.blocks(PAGE, "text") if "register_protocol(" in block]
    exec(line, {})
    return tmp_path / "sweep.toml"


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """The page's folder beside those that ship, its name and traits in their list; the sweep."""
    _write_files(tmp_path)
    code = tmp_path / "accept/protocol.py"
    said = (
        "from judgerel_ray.core.traits import Traits\n",
        "    traits = Traits(judges_singly=True)\n",
    )
    text = code.read_text("utf-8")
    assert all(line in text for line in said)
    code.write_text(text.replace(said[0], "").replace(said[1], ""), "utf-8")
    monkeypatch.setattr(protocols, "__path__", [*protocols.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    for name in ("", ".protocol"):
        monkeypatch.delitem(sys.modules, f"{protocols.__name__}.accept{name}", raising=False)
    known = traits.Traits(judges_singly=True)
    monkeypatch.setitem(traits.SHIPPED, "accept", known)
    monkeypatch.setitem(traits._known, "accept", known)
    monkeypatch.setattr(registry, "_known", dict.fromkeys(traits.SHIPPED))
    return tmp_path / "sweep.toml"


def test_one_that_ships_is_planned(shipped, capsys):
    assert main(["plan", str(shipped), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requests"] == 3 * 2 * 4


def test_its_keys_are_its_own_and_others_know_them(accepting):
    (ask,) = read_sweep(accepting).ask
    assert (ask.strictness, ask.max_tokens, ask.temperatures) == ("partly", 8, (1.0,))
    text = accepting.read_text()
    for wrong, said in (
        ('strictness = "hardly"', r'strictness must be one of "fully" or "partly", got \'hardly\''),
        ('strictnes = "fully"', r"strictnes is not a key of an ask.*Try: strictness"),
        ("thresholds = [0.5]", r"thresholds needs protocol confusion, got accept.*accept takes"),
        ("option_orders = 2", r"needs protocol best_of or think_twice, got accept: it shows one"),
    ):
        with pytest.raises(SweepError, match=said):
            parse_sweep(text.replace('strictness = "partly"', wrong))
    with pytest.raises(SweepError, match=r"strictness needs protocol accept, got best_of"):
        parse_sweep(text.replace('protocol = "accept"', 'protocol = "best_of"'))


def test_without_its_line_nobody_knows_it(accepting, monkeypatch):
    monkeypatch.setattr(registry, "_known", dict.fromkeys(registry.SHIPPED))
    with pytest.raises(SweepError, match=r'protocol must be one of "respond".*, got \'accept\''):
        read_sweep(accepting)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_local")
def test_it_is_planned_asked_resumed_and_measured(accepting, tmp_path, capsys):
    assert main(["plan", str(accepting), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requests"] == 3 * 2 * 4
    out = tmp_path / "run"
    assert main(["run", str(accepting), "--out", str(out)]) == 0
    assert main(["run", str(accepting), "--out", str(out)]) == 0
    rows = scan_judgments(RunDirectory.open(str(out))).collect()
    assert rows.height == 3 * 2 * 4
    assert set(rows["protocol"]) == {"accept"}
    assert set(rows["verdict"]) <= {"correct", "incorrect"}
    assert rows["outcome"].unique().to_list() == ["scored"]
    assert rows.group_by("item_id", "responder").len()["len"].to_list() == [4] * 6
    found = judgerel_ray.reduce(str(out), coefficients="percent_agreement")
    assert found.select("n_items", "n_replications", "n_judgments").rows() == [(3, 4, 24)]
    assert main(["report", str(out), "--out", str(tmp_path / "report.html")]) == 0
    assert "accept on whys" in (tmp_path / "report.html").read_text()
