"""Sweep files in a folder of their own, and a driver without a cluster."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.lost import agree_to_losses, stray_commits
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.asking.run.pending import Pending, landed_texts
from judgerel_ray.config import read_sweep
from judgerel_ray.core import Completion, TokenCounts, request_key
from judgerel_ray.design import voices_of
from judgerel_ray.fleet import landed_rows
from judgerel_ray.store import (
    begin_session,
    end_session,
    land,
    read_ledger,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.status import read_status

JUDGE = '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n{more}\n'
ASK = '[[ask]]\nprotocol = "{protocol}"\nbenchmark = "mine"\npath = "{path}"\n{more}\n'
ITEMS = [
    '{"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}',
    '{"item_id": "q2", "question": "Warmer?", "options": ["sun", "moon"], "gold": "sun"}',
    '{"item_id": "q3", "question": "Older?", "options": ["a", "b"], "gold": "a", "turns": '
    '["Older?", "And newer?"]}',
]


def sweep(tmp_path):
    """Write, load and resolve a sweep."""

    def make(
        *,
        judges=(("j", ""),),
        asks=("",),
        items=ITEMS,
        protocol="best_of",
        more="",
        path="items.jsonl",
        folder="one",
    ):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / path).write_text("\n".join(items), encoding="utf-8")
        text = 'name = "s"\n'
        text += "".join(JUDGE.format(name=name, more=own) for name, own in judges)
        text += "".join(ASK.format(protocol=protocol, path=path, more=own) for own in asks)
        file = place / "s.toml"
        file.write_text(text + more, encoding="utf-8")
        return resolve(read_sweep(file))

    return make


class Driver:
    """Runs a sweep as `run` does, but for Ray: every item of a judge is a lease."""

    def __init__(self, resolved, out):
        self.resolved = resolved
        self.plan = plan_resolved(resolved)
        self.out = out
        self.told = io.StringIO()

    @property
    def run(self):
        return prepare_run(self.resolved, self.plan, self.out)

    def begin(self, *, ask_lost=False):
        run, console = self.run, Console(file=self.told, width=80)
        return begin_session(
            run,
            ask_lost=ask_lost,
            strays=lambda ledger: stray_commits(run, self.resolved, self.plan, ledger),
            agree=lambda losses: agree_to_losses(run, console, losses, ask_lost=ask_lost),
        )

    def go(self, words, *, waves=2, ask_lost=False, parents=True):
        """Ask all that is pending in some waves; responders answer in these words."""
        run, session = self.run, self.begin(ask_lost=ask_lost)
        lease = 0
        for wave in range(waves):
            ledger = session.ledger if wave == 0 else read_ledger(run)
            texts = landed_texts(run, ledger) if wave else {}
            for name in self.resolved.specs:
                asked = tuple(
                    (frame, voice)
                    for frame in self.resolved.frames
                    for voice in voices_of(frame, wave)
                    if voice.name == name
                )
                pending = Pending(asked=asked, wave=wave, texts=texts, ledger=ledger)
                for asks in pending.asks(None):
                    lease += 1
                    self._land(run, session.number, lease, asks, words, parents)
        end_session(run, session.number)
        return session

    def _land(self, run, session, lease, asks, words, parents, reply=None):
        reply = reply or (lambda ask, r: completion(ask, r, words))
        answered = [(ask, tuple(reply(ask, r) for r in ask.replications)) for ask in asks]
        rows = landed_rows(answered, attempt=1, prices=None, landed_at=datetime.now(UTC))
        assert land(
            run,
            session=session,
            lease=lease,
            attempt=1,
            judge=asks[0].condition.judge,
            judgments=rows.judgments,
            completions=rows.completions,
            conditions=_ranges(asks),
            tokens=TokenCounts(),
            seconds=1.0,
            parents={key for ask in asks for key in ask.condition.parents} if parents else (),
        )

    def check_whole(self):
        """All that was asked has landed, and is on texts that the run holds."""
        run = self.run
        assert [found for found in verify_run(run) if found.level == "error"] == []
        status = read_status(self.out)
        assert status.state == "done"
        planned = [(judge.requests, 0) for judge in self.plan.judges]
        assert [(one.landed, one.owed) for one in status.judges] == planned
        assert stray_commits(run, self.resolved, self.plan, read_ledger(run)) == set()
        keys = scan_judgments(run).collect()["key"]
        assert keys.n_unique() == keys.len() == self.plan.requests


def _ranges(asks):
    found = {}
    for ask in asks:
        found.setdefault(ask.condition.condition_key, []).append((ask.first, ask.n))
    return found


def completion(ask, replication, words):
    text = "[[A]]" if ask.condition.role == "judge" else f"{words} {replication}"
    return Completion(
        key=request_key(ask.condition.condition_key, replication), replication=replication,
        seed=1, text=text, finish_reason="stop", prompt_tokens=1, cached_tokens=0,
        completion_tokens=1,
    )  # fmt: skip


def driver_of(tmp_path):
    """A driver of a resolved sweep, always in the same run directory."""
    return lambda resolved: Driver(resolved, str(tmp_path / "run"))
