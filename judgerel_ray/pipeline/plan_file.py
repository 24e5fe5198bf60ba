"""What a run directory says that is asked: plan.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from judgerel_ray.core import StoreError
from judgerel_ray.store import RunDirectory


class PlanFile(NamedTuple):
    """What a run was planned to ask, at least and at most."""

    sweep: str
    asked: dict[str, int]
    asked_at_most: dict[str, int]

    def asked_by_now(self, judge: str, board: Mapping[str, object]) -> int:
        """What is asked of a judge: where replication is adaptive, as its driver told it last."""
        least, told = self.asked[judge], board.get("asked")
        return max(least, min(told, self.asked_at_most[judge])) if isinstance(told, int) else least


def read_plan(run: RunDirectory) -> PlanFile | None:
    """Read a run's plan; None where it is gone, or the run ended before it was written.

    Raises
    ------
    StoreError
        If it is damaged.
    """
    if not run.exists("plan.json"):
        return None
    try:
        content = json.loads(run.read_text("plan.json"))
        costs = {str(cost["judge"]): cost for cost in content["judges"]}
        asked = {name: int(cost["requests"]) for name, cost in costs.items()}
        most = {
            name: int(cost.get("requests_at_most", asked[name])) for name, cost in costs.items()
        }
        return PlanFile(sweep=str(content["sweep"]), asked=asked, asked_at_most=most)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"the plan is damaged: {type(error).__name__}: {error}",
            where={"path": run.address("plan.json")},
            hint="judgerel run with the same sweep writes it again",
        ) from error
