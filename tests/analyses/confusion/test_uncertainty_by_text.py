"""Judgments about one text are one piece of evidence, whatever is computed from them."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.confusion.groups import judged_groups
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions, scored_matrices
from judgerel_ray.analyses.confusion.worth import uncertainty_summary
from judgerel_ray.tables import Confusions

OPTIONS = ("yes", "no")
N_TEXTS = 60


def quantities(*, times, distinct=False):
    """Every judgment `times` over: of one text each time, or each of a text of its own."""
    rng = np.random.default_rng(5)
    sure = rng.uniform(0.5, 0.99, N_TEXTS)
    wrong = rng.random(N_TEXTS) > sure
    cells, own, right = [], [], []
    for n in range(N_TEXTS):
        for k in range(times):
            place = {"judge": "j", "benchmark": "b", "item_id": f"{n}-{k}", "template": "t",
                     "temperature": 0.0}  # fmt: skip
            for argued in OPTIONS:
                cells += [
                    {**place, "criterion": None, "mode": "columns", "assessment_option": argued,
                     "verdict_option": option, "probability": p}
                    for option, p in zip(OPTIONS, (sure[n], 1 - sure[n]), strict=True)
                ]  # fmt: skip
            own.append({**place, "verdict": "yes"})
            text = f"{n}-{k}" if distinct else str(n)
            right.append({"benchmark": "b", "item_id": f"{n}-{k}", "text": text,
                          "right": OPTIONS[int(wrong[n])]})  # fmt: skip
    table = pl.DataFrame(cells, schema=Confusions.create_empty().schema)
    options = UncertaintyOptions(threshold=0.8, risk=0.3, delta=0.1)
    matrices = tuple(scored_matrices(table, pl.DataFrame(own), pl.DataFrame(right), options))
    found = uncertainty_summary(judged_groups(matrices, options), options)
    return {row["quantity"]: row for row in found.iter_rows(named=True)}


@pytest.fixture(scope="module")
def told():
    return {"once": quantities(times=1), "often": quantities(times=4),
            "apart": quantities(times=4, distinct=True)}  # fmt: skip


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", ["accuracy", "accuracy_low", "share_low", "auroc"])
def test_asking_about_a_text_four_times_narrows_nothing(told, name):
    once, often, apart = (told[how][name] for how in ("once", "often", "apart"))
    assert often["value"] == pytest.approx(once["value"]) == pytest.approx(apart["value"])
    assert often["low"] <= once["low"] + 0.005
    assert often["high"] >= once["high"] - 0.005
    # Four texts alike would be four times the evidence, and are not.
    assert apart["high"] - apart["low"] < 0.7 * (often["high"] - often["low"])


def test_a_guarantee_rests_on_one_judgment_a_text(told):
    once, often, apart = (told[how]["guaranteed_threshold"] for how in ("once", "often", "apart"))
    assert often["value"] == once["value"] is not None
    assert apart["value"] < often["value"]
    assert told["often"]["guaranteed_share"]["n"] == N_TEXTS
    assert told["apart"]["guaranteed_share"]["n"] == 4 * N_TEXTS
