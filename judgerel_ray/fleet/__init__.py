"""Judge actors, on Ray or in this process: their leases, retries and progress.

The only room that imports ray, and not before a cluster is wanted.

Imports engines, store, design, config, protocols, tables, stats and core.
"""

from judgerel_ray.fleet.board import (
    Board,
    ConsoleDisplay,
    Display,
    JudgeBoard,
    JudgeState,
    board_line,
    board_table,
)
from judgerel_ray.fleet.cluster import connected
from judgerel_ray.fleet.in_process import in_process
from judgerel_ray.fleet.judge_actor import JudgeActor, JudgeSpec
from judgerel_ray.fleet.landing import landed_rows, never_sent
from judgerel_ray.fleet.lease import (
    ActorFacts,
    FailedAsk,
    GrowingAsk,
    Lease,
    Receipt,
    Unwritten,
    Work,
    WorkQueue,
    growing,
    unqueued,
)
from judgerel_ray.fleet.outside import Outside
from judgerel_ray.fleet.pool import JudgePool
from judgerel_ray.fleet.retry import AskHistory, Fate, decide
from judgerel_ray.fleet.scheduler import Fleet

__all__ = [
    "ActorFacts",
    "AskHistory",
    "Board",
    "ConsoleDisplay",
    "Display",
    "FailedAsk",
    "Fate",
    "Fleet",
    "GrowingAsk",
    "JudgeActor",
    "JudgeBoard",
    "JudgePool",
    "JudgeSpec",
    "JudgeState",
    "Lease",
    "Outside",
    "Receipt",
    "Unwritten",
    "Work",
    "WorkQueue",
    "board_line",
    "board_table",
    "connected",
    "decide",
    "growing",
    "in_process",
    "landed_rows",
    "never_sent",
    "unqueued",
]
