"""No coefficient takes a judge that goes by position or wording for one that judges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import declaration

N_ITEMS = 20
N_REPLICATIONS = 22
"""Enough in each order for two majorities of eleven."""
OF_AGREEMENT = sorted(COEFFICIENTS.keys() - {"valid_rate"})


def asked(
    verdict: Callable[[int, int], int], slip: float, *, facet: str = "option_order"
) -> pl.DataFrame:
    """Questions asked again and again at two levels of a facet, some verdicts the other one."""
    rng = np.random.default_rng(0)
    rows = []
    for item in range(N_ITEMS):
        for level in range(2):
            for replication in range(N_REPLICATIONS):
                chosen = verdict(item, level) ^ int(rng.random() < slip)
                place = chosen ^ (item + level) % 2
                rows.append({
                    "item_id": f"q{item}", facet: level, "replication": replication,
                    "verdict": "xy"[chosen], "label": "AB"[place],
                })  # fmt: skip
    return pl.DataFrame(rows)


def first_shown(item: int, order: int) -> int:
    return (item + order) % 2


JUDGES = {
    "first place": asked(first_shown, 0.0),
    "nearly always first place": asked(first_shown, 0.03),
    "first place, no labels": asked(first_shown, 0.03).drop("label"),
    "orders asked unequally often": asked(first_shown, 0.03).filter(
        (pl.col("option_order") == 0) | (pl.col("replication") > 0)
    ),
    "by the wording": asked(first_shown, 0.03, facet="template").drop("label"),
}


@pytest.mark.alike(11)
@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("name", OF_AGREEMENT)
def test_no_gate_passes_a_judge_of_position(name, kind):
    declared = declaration(name)
    assert declared is not None
    rule = f"{name} <= .3" if declared.less_is_better else f"{name} >= .7"
    found = judgerel_ray.gate(JUDGES[kind], require=rule, exact_values=True)
    assert found.verdict != "PASS"
    # What is said to be missing is nothing that more questions like these would bring.
    open_rows = found.requirements.filter(verdict="INCONCLUSIVE")
    assert open_rows["more_questions"].null_count() == open_rows.height


@pytest.mark.alike(11)
@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("name", sorted(COEFFICIENTS))
def test_reduce_never_says_that_one_prompt_alone_was_asked(name, kind, tmp_path, capsys):
    file = tmp_path / "judgments.csv"
    JUDGES[kind].write_csv(file)
    assert main(["reduce", str(file), "--coefficient", name]) == 0
    said = " ".join(capsys.readouterr().out.split()).casefold()
    assert "only the same prompt" not in said
    if name == "icck" and kind != "first place, no labels":
        assert "no reproducibility: it is defined within one prompt" in said
