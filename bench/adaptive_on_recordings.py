"""What adaptive replication would have asked of two recorded judges, and what it would have said.

    JUDGEREL_DATA=DIR python -m bench.adaptive_on_recordings [--step 5] [--delta 0.05]

Replays the rule of ``replications = { adaptive = DELTA, first = 5, max = 100, step = STEP }`` on
the hundred recorded replications of every question (later draws carry block 1 and above), and
prints by judge and temperature: the share of the replications used, the questions with a stable
verdict (exact interval) and those stably without one (the authors' rule reads no letter in most of
these replies), how many of both are the mode of all hundred draws, and alpha from the
first block, from everything that was asked (biased: more was asked where draws disagreed), and from
all hundred.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from bench.recordings import recordings
from judgerel_ray.design import goal_of
from judgerel_ray.importers import import_schroeder2024
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats.intervals.shares import exact_share
from judgerel_ray.stats.intervals.stopping import StoppingRule, mode_is_settled

JUDGES = ("llama3", "starling")
CODES = dict(zip("ABCDE", range(5), strict=True))
NONE = len(CODES)  # a reply without a verdict is one of its own, whatever is wrong with it


def replayed(rows: pl.DataFrame, rule: StoppingRule) -> tuple[pl.DataFrame, int, int, int]:
    """The rows that the rule asks; questions settled, stably without a verdict, at their mode."""
    asked, settled, stably_none, at_mode = [], 0, 0, 0
    for _, question in rows.sort("replication").group_by("item_id", maintain_order=True):
        draws = [CODES.get(verdict, NONE) for verdict in question["verdict"]]
        goal = goal_of(dict(enumerate(draws)), NONE + 1, rule)
        later = (pl.col("replication") - rule.first) // rule.step + 1
        asked.append(
            question.head(goal.n).with_columns(block=pl.max_horizontal(later, 0).cast(pl.Int32))
        )
        leader = int(np.argmax(goal.seen))
        if mode_is_settled(goal.seen, delta=rule.delta):
            settled += leader != NONE
            stably_none += leader == NONE
            whole = np.bincount(draws, minlength=NONE + 1)
            at_mode += bool(whole[leader] == whole.max())
    return pl.concat(asked), settled, stably_none, at_mode


def alpha(rows: pl.DataFrame, block: int | str = 0) -> str:
    """Nominal alpha, replies without a verdict as a category, with its interval."""
    found = reduce_judgments(
        rows.lazy(), by=[], coefficients=["krippendorff_alpha"], missing=["category"], block=block
    ).row(0, named=True)
    if found["value"] is None:
        return f"none ({found['undefined']})"
    if found["low"] is None:
        return f"{found['value']:.3f} (no interval)"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=int, default=5)
    parser.add_argument("--delta", type=float, default=0.05)
    given = parser.parse_args()
    folder = recordings() / "seed000"
    rule = StoppingRule(delta=given.delta, first=5, most=100, step=given.step)
    print(
        "judge, temperature: used; stable verdict, stably none; of both the mode of 100; alpha of"
    )
    print("the first five, of everything asked (biased), of all hundred")
    for judge in JUDGES:
        judged = import_schroeder2024(str(folder / f"judgments_{judge}.parquet"))
        # Temperature 0 is asked once in a run: nothing is drawn there.
        for temperature in sorted(judged.filter(pl.col("temperature") > 0)["temperature"].unique()):
            rows = judged.filter(temperature=temperature)
            asked, settled, stably_none, at_mode = replayed(rows, rule)
            stable = exact_share(settled, rows["item_id"].n_unique())
            print(
                f"{judge} {temperature:g}: {asked.height / rows.height:.3f}; {stable.k} of "
                f"{stable.n} [{stable.low:.2f}, {stable.high:.2f}], stably none {stably_none}; "
                f"{at_mode} of {settled + stably_none}; "
                f"{alpha(asked)}, {alpha(asked, 'all')}, {alpha(rows)}"
            )


if __name__ == "__main__":
    main()
