"""Files: run directory, parts, commits, ledger. Exactly once lives here.

Actors :func:`land` what they brought, the driver settles an attempt with :func:`close_lease`, and
readers see what commits name and nothing else. Imports tables and core; ``made_tables``, which asks
a run's sweep what it makes, also config and protocols.
"""

from judgerel_ray.store.failures import read_errors, record_errors
from judgerel_ray.store.ledger import JudgeTotals, Ledger, read_ledger
from judgerel_ray.store.losses import (
    Losses,
    lost_files,
    read_losses,
    read_whole_ledger,
    whole_commits,
)
from judgerel_ray.store.manifest import (
    check_same_sweep,
    read_manifest,
    write_manifest,
    write_vouched,
)
from judgerel_ray.store.parts import close_lease, encode_rows, land, land_files, load_writers
from judgerel_ray.store.records import CommitRecord, Range
from judgerel_ray.store.rundir import RunDirectory, judge_folder
from judgerel_ray.store.scan import (
    CHEAP_COLUMNS,
    as_landed,
    checked_ledger,
    reading,
    scan_completions,
    scan_judgments,
)
from judgerel_ray.store.sessions import (
    Session,
    begin_session,
    end_session,
    is_superseded,
    leave_token,
    live_session,
    read_token,
    unseen_session,
)
from judgerel_ray.store.verification import Finding, verify_run

__all__ = [
    "CHEAP_COLUMNS",
    "CommitRecord",
    "Finding",
    "JudgeTotals",
    "Ledger",
    "Losses",
    "Range",
    "RunDirectory",
    "Session",
    "as_landed",
    "begin_session",
    "check_same_sweep",
    "checked_ledger",
    "close_lease",
    "encode_rows",
    "end_session",
    "is_superseded",
    "judge_folder",
    "land",
    "land_files",
    "leave_token",
    "live_session",
    "load_writers",
    "lost_files",
    "read_errors",
    "read_ledger",
    "read_losses",
    "read_manifest",
    "read_token",
    "read_whole_ledger",
    "reading",
    "record_errors",
    "scan_completions",
    "scan_judgments",
    "unseen_session",
    "verify_run",
    "whole_commits",
    "write_manifest",
    "write_vouched",
]
