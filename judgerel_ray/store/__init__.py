"""Files: run directory, parts, commits, ledger. Exactly once lives here.

Actors :func:`land` what they brought, the driver settles an attempt with :func:`close_lease`, and
readers see what commits name and nothing else. Imports tables and core; ``made_tables``, which asks
a run's sweep what it makes, also config and protocols.
"""

from judgerel_ray.core.rooms import offer
from judgerel_ray.store.failures import read_errors as read_errors
from judgerel_ray.store.failures import record_errors as record_errors
from judgerel_ray.store.ledger import JudgeTotals as JudgeTotals
from judgerel_ray.store.ledger import Ledger as Ledger
from judgerel_ray.store.ledger import read_ledger as read_ledger
from judgerel_ray.store.losses import Losses as Losses
from judgerel_ray.store.losses import lost_files as lost_files
from judgerel_ray.store.losses import read_losses as read_losses
from judgerel_ray.store.losses import read_whole_ledger as read_whole_ledger
from judgerel_ray.store.losses import whole_commits as whole_commits
from judgerel_ray.store.manifest import check_same_sweep as check_same_sweep
from judgerel_ray.store.manifest import read_manifest as read_manifest
from judgerel_ray.store.manifest import write_manifest as write_manifest
from judgerel_ray.store.manifest import write_vouched as write_vouched
from judgerel_ray.store.parts import close_lease as close_lease
from judgerel_ray.store.parts import encode_rows as encode_rows
from judgerel_ray.store.parts import land as land
from judgerel_ray.store.parts import land_files as land_files
from judgerel_ray.store.parts import load_writers as load_writers
from judgerel_ray.store.records import CommitRecord as CommitRecord
from judgerel_ray.store.records import Range as Range
from judgerel_ray.store.rundir import RunDirectory as RunDirectory
from judgerel_ray.store.scan import CHEAP_COLUMNS as CHEAP_COLUMNS
from judgerel_ray.store.scan import as_landed as as_landed
from judgerel_ray.store.scan import checked_ledger as checked_ledger
from judgerel_ray.store.scan import reading as reading
from judgerel_ray.store.scan import scan_completions as scan_completions
from judgerel_ray.store.scan import scan_judgments as scan_judgments
from judgerel_ray.store.sessions import Session as Session
from judgerel_ray.store.sessions import begin_session as begin_session
from judgerel_ray.store.sessions import end_session as end_session
from judgerel_ray.store.sessions import is_superseded as is_superseded
from judgerel_ray.store.sessions import leave_token as leave_token
from judgerel_ray.store.sessions import live_session as live_session
from judgerel_ray.store.sessions import read_token as read_token
from judgerel_ray.store.sessions import renew_unread_token as renew_unread_token
from judgerel_ray.store.sessions import unseen_session as unseen_session
from judgerel_ray.store.verification import Finding as Finding
from judgerel_ray.store.verification import verify_run as verify_run

offer(__name__)
