"""Judge actors, on Ray or in this process: their leases, retries and progress.

The only room that imports ray, and not before a cluster is wanted.

Imports engines, store, design, config, protocols, tables, stats and core.
"""

from judgerel_ray.core.rooms import offer
from judgerel_ray.fleet.board import Board as Board
from judgerel_ray.fleet.board import JudgeBoard as JudgeBoard
from judgerel_ray.fleet.board import JudgeState as JudgeState
from judgerel_ray.fleet.cluster import connected as connected
from judgerel_ray.fleet.in_process import in_process as in_process
from judgerel_ray.fleet.judge_actor import JudgeSpec as JudgeSpec
from judgerel_ray.fleet.landing import landed_rows as landed_rows
from judgerel_ray.fleet.landing import never_sent as never_sent
from judgerel_ray.fleet.lease import Unwritten as Unwritten
from judgerel_ray.fleet.lease import Work as Work
from judgerel_ray.fleet.lease import WorkQueue as WorkQueue
from judgerel_ray.fleet.lease import growing as growing
from judgerel_ray.fleet.lease import unqueued as unqueued
from judgerel_ray.fleet.outside import Outside as Outside
from judgerel_ray.fleet.pool import JudgePool as JudgePool
from judgerel_ray.fleet.scheduler import Fleet as Fleet

offer(__name__)
