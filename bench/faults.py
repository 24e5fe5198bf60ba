"""Random faults in the files of a run: does any give other numbers, or go unseen?

    OMP_NUM_THREADS=1 python -m bench.faults [--faults 20_000] [--seed 1]
                                             [--bucket] [--every 40] [--processes 2]
                                             [--results FILE]

The run is that of `bench/small_run.py`, its texts read again twice; with odd seeds its records are
packed, as those of a large run are. A fault is a flipped bit, a
cut, or a file that is gone, in a file drawn by its kind and at a place drawn evenly. After each
fault `judgerel reduce` and `judgerel verify` are run on the directory, and the file is put back.
Every `--every`-th fault also runs `reduce` as it is by default, with its other tables, and status,
report, compare and advise: there, too, nothing but a clean end or one line with exit 2 counts.

With `--mixed` whole bytes are in the wrong place instead: ranges swapped between two files, an
older version of a file put back, another run's file of the same name (parts by their lease), parts
of one lease in the place of another's (stages mixed), a record over another. After each, all rows,
texts and tables must be read as they were, or one line name a file of the run; of every tenth five
faults also by `reduce` and another verb in turn.

Prints by kind of file what `reduce` did (equal numbers; refused in one line that names the file;
OTHER numbers; UNCLEAN: anything else) and how many faults `verify` names and ends with another code
than 0, the totals of each process every 500 faults. With `--results` each fault is a JSON line of
FILE as soon as it was tried, and those in it are not tried again: a run that was cut off goes on
(of the same code).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import polars as pl

from bench.small_run import make_run, read_again
from judgerel_ray import cli
from judgerel_ray.cli.acts import STOPPED
from judgerel_ray.core import JudgeRelError
from judgerel_ray.store import RunDirectory, as_landed, packs, scan_completions, scan_judgments
from judgerel_ray.store.files import Bucket, Disk
from judgerel_ray.store.made_tables import CONFUSIONS, DISTRIBUTIONS, SETTLED

GONE, CUT = 0.02, 0.18
"""Shares of the faults; the rest are flipped bits."""
PRINTED_EVERY = 500
REDUCE = (
    "--by", "judge", "--missing", "drop", "--coefficient", "percent_agreement",
    "--coefficient", "accuracy", "--format", "json",
)  # fmt: skip
VERBS: dict[str, Callable[[str, str], list[str]]] = {
    "reduce": lambda run, _: ["reduce", run],
    "status": lambda run, _: ["status", run, "--json"],
    "report": lambda run, out: ["report", run, "--out", f"{out}/page.html"],
    "compare": lambda run, _: ["compare", run, "--by", "judge"],
    "advise": lambda run, _: ["advise", run],
    "serving noise": lambda run, _: ["reduce", run, "--coefficient", "serving_noise_texts"],
    **{
        " ".join(words): lambda run, _, words=words: [words[0], run, *words[1:]]  # type: ignore[misc]
        for words in (
            ("uncertainty",),
            ("distributions",),
            ("distributions", "--view", "settled"),
            ("questions",),
            ("select",),
        )
    },
}
WEIGHTS = {"data": 8, "commits": 4, "items.parquet": 2, "manifest.json": 2, "sweep.toml": 2}
"""How often a kind of file is drawn, where more than once: what numbers are made of more often."""
WORDS = EQUAL, REFUSED, OTHER, UNCLEAN = "equal", "refused", "OTHER", "UNCLEAN"


def kind_of(name: str) -> str:
    """What a file of a run is, by its name."""
    top, _, rest = name.partition("/")
    if top != "commits":
        return top
    if rest == "token":
        return rest
    if rest.startswith("generation"):
        return "readings"
    if not rest.startswith("session"):
        return top
    return {"ended": "session ends", "pack": "packs"}.get(rest.rpartition(".")[2], "sessions")


@dataclass(frozen=True)
class Fault:
    """What came of one fault: a line of the results.

    Attributes
    ----------
    seed, trial : int
        What it was drawn from.
    kind, fault : str
        The kind of file; its name, and what was done to it.
    reduced : str
        What `reduce` did: EQUAL, REFUSED, OTHER or UNCLEAN.
    named : bool
        Whether `verify` names the file and ends with another code than 0.
    verbs : dict
        What other commands did, where they were run: EQUAL (ended clean), REFUSED or UNCLEAN.
    wrong : list of str
        What is none of what may be.
    """

    seed: int
    trial: int
    kind: str
    fault: str
    reduced: str
    named: bool
    verbs: dict[str, str]
    wrong: list[str]


@dataclass
class Tally:
    """Faults by kind of file and by what came of them."""

    faults: list[Fault] = field(default_factory=list)

    @property
    def reduced(self) -> Counter[tuple[str, str]]:
        """What `reduce` did, by kind of file."""
        return Counter((fault.kind, fault.reduced) for fault in self.faults)

    @property
    def named(self) -> Counter[tuple[str, bool]]:
        """Whether `verify` named the file, by its kind."""
        return Counter((fault.kind, fault.named) for fault in self.faults)

    @property
    def unnamed(self) -> list[str]:
        """Faults that `verify` did not name."""
        return [fault.fault for fault in self.faults if not fault.named]

    @property
    def wrong(self) -> list[str]:
        """Other numbers, and refusals that are none."""
        return [line for fault in self.faults for line in fault.wrong]

    @property
    def totals(self) -> str:
        """All kinds in a line."""
        words = Counter(fault.reduced for fault in self.faults)
        reduced = ", ".join(f"{word} {words[word]:,}" for word in WORDS)
        unnamed = len(self.unnamed)
        named = len(self.faults) - unnamed
        return f"reduce: {reduced}; verify: named {named:,}, not named {unnamed:,}"

    def lines(self) -> Iterator[str]:
        """The table."""
        reduced, named = self.reduced, self.named
        kinds = sorted({fault.kind for fault in self.faults})
        head = (*WORDS, "faults", "named", "not named")
        yield f"{'file':14}" + "".join(f"{word:>10}" for word in head)
        for kind in [*kinds, "all"]:
            of = [kind] if kind != "all" else kinds
            found = [sum(reduced[one, word] for one in of) for word in WORDS]
            found += [sum(found), *(sum(named[one, yes] for one in of) for yes in (True, False))]
            yield f"{kind:14}" + "".join(f"{n:10,}" for n in found)
        verbs = Counter(one for fault in self.faults for one in fault.verbs.items())
        if verbs:
            yield "other verbs (ended clean / refused in one line / UNCLEAN):"
            for verb in sorted({verb for verb, _ in verbs}):
                counts = [verbs[verb, word] for word in (EQUAL, REFUSED, UNCLEAN)]
                yield f"  {verb:14}" + "".join(f"{n:10,}" for n in counts)
        yield from (f"wrong: {line}" for line in self.wrong[:20])
        yield from (f"not named by verify: {line}" for line in self.unnamed[:20])


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: object
    out: str
    err: str

    @property
    def is_one_line(self) -> bool:
        """Whether it was refused as a caller is refused."""
        return self.code == 2 and not self.out and self.err.count("\n") == 1


def called(arguments: Sequence[str]) -> Ended:
    """Run a command in this process; what libraries write to stderr themselves is caught, too."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryFile() as raw:
        kept = os.dup(2)
        os.dup2(raw.fileno(), 2)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code: object = cli.main(list(arguments))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  whatever reaches a person is counted
            code = f"{type(error).__name__}: {error}"
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        raw.seek(0)
        below = raw.read().decode(errors="replace")
    if code == STOPPED:  # nothing came of this fault: it is tried again
        raise KeyboardInterrupt
    return Ended(code, out.getvalue(), err.getvalue() + below)


def damaged(
    data: bytes, rng: np.random.Generator, *, may_go: bool = True
) -> tuple[str, bytes | None]:
    """A fault in words, and what it leaves of a file; None where that is nothing."""
    which = rng.random()
    if which < GONE and may_go:
        return "gone", None
    if which < GONE + CUT or not data:
        size = int(rng.integers(0, max(1, len(data))))
        return f"cut at {size}", data[:size]
    place, bit = int(rng.integers(len(data))), int(rng.integers(8))
    flipped = bytes([data[place] ^ (1 << bit)])
    return f"bit {bit} of byte {place}", data[:place] + flipped + data[place + 1 :]


def try_faults(
    run: RunDirectory,
    *,
    n: int,
    seed: int = 1,
    every: int = 0,
    before: Sequence[Fault] = (),
    results: Path | None = None,
) -> Tally:
    """Damage a run n times, less those of before; it is whole again afterwards."""
    whole = called(["reduce", run.url, *REDUCE])
    assert whole.code == 0, whole
    assert called(["verify", run.url]).code == 0, called(["verify", run.url])
    kinds: dict[str, list[str]] = {}
    for name in run.files.sizes(""):
        if not name.startswith("."):
            kinds.setdefault(kind_of(name), []).append(name)
    order = [kind for kind in sorted(kinds) for _ in range(WEIGHTS.get(kind, 1))]
    tally = Tally([fault for fault in before if fault.seed == seed and fault.trial < n])
    tried = {fault.trial for fault in tally.faults}
    for trial in range(n):
        if trial not in tried:
            kind = order[trial % len(order)]
            all_verbs = bool(every) and trial % every == 0
            fault = try_fault(run, kinds, kind, (seed, trial), whole, all_verbs=all_verbs)
            tally.faults.append(fault)
            if results is not None:
                with results.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(asdict(fault)) + "\n")
        if (trial + 1) % PRINTED_EVERY == 0:
            print(f"seed {seed}, {trial + 1:,} of {n:,}: {tally.totals}", flush=True)
    after = called(["reduce", run.url, *REDUCE])
    assert after == whole
    return tally


def try_fault(
    run: RunDirectory,
    kinds: dict[str, list[str]],
    kind: str,
    drawn: tuple[int, int],
    whole: Ended,
    *,
    all_verbs: bool,
) -> Fault:
    """Damage one file of a kind, see what comes of it, and put the file back."""
    rng = np.random.default_rng(drawn)
    name = str(rng.choice(kinds[kind]))
    data = run.files.read(name)
    # A session without its end is one whose driver was killed, and a token is left by drivers of a
    # fleet alone: nothing else tells them apart.
    how, left = damaged(data, rng, may_go=kind not in ("session ends", "token"))
    what, wrong, verbs = f"{name}, {how}", [], {}
    put(run, name, left)
    try:
        reduced, named, trouble = outcome(run, name, whole)
        wrong += [f"{what}: {trouble}"] if trouble else []
        if all_verbs:
            for verb, ended in every_verb(run):
                clean = EQUAL if ended.code == 0 else REFUSED if ended.is_one_line else UNCLEAN
                verbs[verb] = clean
                wrong += [f"{verb}: {what}: {ended}"] if clean == UNCLEAN else []
    finally:
        put(run, name, data)
    return Fault(*drawn, kind, what, reduced, named, verbs, wrong)


MIXED = ("ranges swapped", "older version", "another run", "stages mixed", "record copied")
ANALYSES = ("uncertainty", "distributions", "distributions --view settled", "questions",
            "select", "serving noise")  # fmt: skip


@dataclass(frozen=True)
class Material:
    """What may be put in the place of a file of a run.

    Attributes
    ----------
    files : mapping
        Its files by name, as they are.
    older : mapping
        What they held before, where that is something else.
    others : mapping
        What another run of the same sweep holds in the place of each.
    """

    files: dict[str, bytes]
    older: dict[str, list[bytes]]
    others: dict[str, bytes]

    def drawn(self, kind: str, rng: np.random.Generator) -> dict[str, bytes]:
        """Files with other bytes."""
        if kind == "older version":
            name = str(rng.choice(sorted(self.older)))
            return {name: self.older[name][int(rng.integers(len(self.older[name])))]}
        if kind == "another run":
            name = str(rng.choice(sorted(self.others)))
            return {name: self.others[name]}
        records = [name for name in self.files if kind_of(name) not in _TABLES]
        parts = [name for name in self.files if kind_of(name) in ("data", "texts", "generations")]
        if kind == "record copied":
            one, two = rng.choice(records, 2, replace=False)
            return {str(one): self.files[str(two)]}
        one, two = (str(name) for name in rng.choice(parts, 2, replace=False))
        a, b = self.files[one], self.files[two]
        if kind == "stages mixed":
            return {one: b, two: a} if rng.random() < 0.5 else {one: b}
        n = int(rng.integers(1, min(len(a), len(b))))
        i, j = int(rng.integers(len(a) - n + 1)), int(rng.integers(len(b) - n + 1))
        return {one: a[:i] + b[j : j + n] + a[i + n :], two: b[:j] + a[i : i + n] + b[j + n :]}


_MADE = (CONFUSIONS, DISTRIBUTIONS, SETTLED, "items.parquet")
_TABLES = (
    "data", "texts", "generations", "errors", "distributions", "confusions", "settled",
    "items.parquet", "sweep.toml", "plan.json",
)  # fmt: skip


def try_mixed(seed: int, *, n: int) -> Tally:
    """Make two runs, and put bytes in wrong places of one n times."""
    older: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder, patch.object(packs, "MIN_RECORDS", 1):
        runs = []
        for name in ("one", "two"):
            Path(folder, name).mkdir()
            with patch.object(Disk, "write", _keeping(older if name == "one" else {})):
                runs.append(make_run(Path(folder, name)))
                read_again(runs[-1])
        run, other = (RunDirectory.open(one.url) for one in runs)
        material = _material(run, other, older)
        whole = {name: given(run) for name, given in _analyses().items()}
        assert {ended.code for ended in whole.values()} == {0}, whole
        tally = Tally()
        for trial in range(n):
            tally.faults.append(_try_mixed(run, material, whole, (seed, trial)))
            if (trial + 1) % PRINTED_EVERY == 0:
                print(f"seed {seed}, {trial + 1:,} of {n:,}: {tally.totals}", flush=True)
        assert _all_rows(run) == whole["rows"]
        return tally


def _keeping(older: dict[str, list[bytes]]) -> Callable[[Disk, str, bytes], None]:
    """A write that keeps what it replaces."""
    plain = Disk.write

    def write(disk: Disk, name: str, data: bytes) -> None:
        if there := disk.read_many([name]).get(name):
            older.setdefault(name, []).append(there)
        plain(disk, name, data)

    return write


def _material(run: RunDirectory, other: RunDirectory, older: dict[str, list[bytes]]) -> Material:
    """What is at hand of two runs."""
    here, theirs = (one.files.read_many(one.files.sizes("")) for one in (run, other))
    by_lease = {name.rpartition("-")[0]: data for name, data in theirs.items()}
    others = {name: theirs.get(name, by_lease.get(name.rpartition("-")[0])) for name in here}
    return Material(
        files=here,
        older={
            name: left
            for name, versions in older.items()
            if (left := [one for one in versions if one != here[name]])
        },
        others={n: data for n, data in others.items() if data is not None and data != here[n]},
    )


def _analyses() -> dict[str, Callable[[RunDirectory], Ended]]:
    """What gives a run's numbers: all its rows, texts and tables; and verbs."""

    def ended(verb: str, run: RunDirectory) -> Ended:
        found = called(VERBS[verb](run.url, "") if verb in VERBS else ["reduce", run.url, *REDUCE])
        # What is pending, or damaged and not used, is said beside the same numbers.
        lines = [
            one
            for one in found.out.splitlines()
            if not one.startswith(("unfinished: ", "damaged: "))
        ]
        return Ended(found.code, "\n".join(lines), found.err)

    verbs = {verb: partial(ended, verb) for verb in ("reduce", *ANALYSES)}
    return {"rows": _all_rows, **verbs}


def _all_rows(run: RunDirectory) -> Ended:
    """All that numbers are made of, through the checks that every reader goes through."""
    try:
        landed = as_landed(RunDirectory.open(run.url))
        frames = [scan_judgments(landed).collect(), scan_completions(landed).collect()]
        frames += [pl.read_parquet(io.BytesIO(run.read_bytes(name))) for name in _MADE]
        rows = "\n".join(line for one in frames for line in sorted(map(repr, one.iter_rows())))
        return Ended(0, rows, "")
    except JudgeRelError as error:
        return Ended(2, "", f"{error}\n")
    except BaseException as error:  # noqa: BLE001  whatever reaches a person is counted
        return Ended(f"{type(error).__name__}: {error}", "", "")


def _try_mixed(
    run: RunDirectory, material: Material, whole: dict[str, Ended], drawn: tuple[int, int]
) -> Fault:
    """Put bytes in a wrong place, see what comes of it, and put the files back."""
    rng = np.random.default_rng(drawn)
    kind = MIXED[drawn[1] % len(MIXED)]
    changed = material.drawn(kind, rng)
    while all(data == material.files[name] for name, data in changed.items()):
        changed = material.drawn(kind, rng)
    what, wrong = f"{kind}: {', '.join(changed)}", []
    analyses, words = _analyses(), {}
    turn = drawn[1] // len(MIXED)
    more = ("reduce", ANALYSES[turn // 10 % len(ANALYSES)]) if turn % 10 == 0 else ()
    for name, data in changed.items():
        put(run, name, data)
    try:
        for verb in ("rows", *more):
            ended = analyses[verb](run)
            if ended.code == 0:
                words[verb] = EQUAL if ended.out == whole[verb].out else OTHER
            else:
                is_named = ended.is_one_line and run.url in ended.err
                words[verb] = REFUSED if is_named else UNCLEAN
            if words[verb] in (OTHER, UNCLEAN):
                wrong.append(f"{verb} {words[verb]}: {what}: {ended.code} {ended.err[:300]}")
        verified = called(["verify", run.url])
        found = f"{verified.out}{verified.err}"
        named = verified.code in (1, 2) and any(name in found for name in changed)
        if verified.code not in (0, 1) and not verified.is_one_line:
            wrong.append(f"verify: {what}: {verified}")
    finally:
        for name in changed:
            put(run, name, material.files[name])
    return Fault(*drawn, kind, what, words.pop("rows"), named, words, wrong)


def every_verb(run: RunDirectory) -> Iterator[tuple[str, Ended]]:
    """Run the other commands."""
    with tempfile.TemporaryDirectory() as folder:
        for verb, arguments in VERBS.items():
            yield verb, called(arguments(run.url, folder))


def outcome(run: RunDirectory, name: str, whole: Ended) -> tuple[str, bool, str]:
    """What reduce did of a run with one fault, whether verify names it, and what is wrong."""
    ended = called(["reduce", run.url, *REDUCE])
    place = run.address(name)
    if ended.code == 0:
        word = EQUAL if ended.out == whole.out else OTHER
    else:
        word = REFUSED if ended.is_one_line and place in ended.err else UNCLEAN
    wrong = f"{word}: exit {ended.code}: {ended.err[:300]}" if word in (OTHER, UNCLEAN) else ""
    verified = called(["verify", run.url])
    named = name in verified.out or (verified.is_one_line and place in verified.err)
    return word, named and verified.code != 0, wrong


def put(run: RunDirectory, name: str, data: bytes | None) -> None:
    """Leave these bytes under a name, as no writer of a run would: in place, or gone."""
    if isinstance(run.files, Bucket):
        run.remove(name)
        if data is not None:
            run.files.write(name, data)
    elif data is None:
        Path(run.address(name)).unlink()
    else:
        Path(run.address(name)).write_bytes(data)


def into_bucket(run: RunDirectory, url: str) -> RunDirectory:
    """The same run in a store of objects."""
    files = cast(Any, Bucket(url=url))
    for name in run.files.sizes(""):
        files.write(name, run.files.read(name))
    return RunDirectory.open(url)


def read_results(file: Path | None) -> list[Fault]:
    """Faults of before; a last line that was cut off is tried again."""
    if file is None or not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    whole, _, rest = text.rpartition("\n")
    if rest:
        file.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    return [Fault(**json.loads(line)) for line in whole.splitlines()]


def try_seed(
    seed: int, *, n: int, every: int, in_bucket: bool, before: list[Fault], results: Path | None
) -> Tally:
    """Make a run and damage it n times, in a process of its own."""
    n_packed = 1 if seed % 2 else packs.MIN_RECORDS
    with tempfile.TemporaryDirectory() as folder, patch.object(packs, "MIN_RECORDS", n_packed):
        run = make_run(Path(folder))
        read_again(run)
        if in_bucket:
            run = into_bucket(run, "memory://faults")
        return try_faults(run, n=n, seed=seed, every=every, before=before, results=results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=40, help="faults between those of all verbs")
    parser.add_argument("--bucket", action="store_true", help="in memory://, through fsspec")
    parser.add_argument("--processes", type=int, default=2, help="each with a run of its own")
    parser.add_argument("--results", type=Path, help="JSON lines; faults in it are not tried again")
    parser.add_argument("--mixed", action="store_true", help="whole bytes in wrong places")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.processes)
    one = partial(
        try_seed,
        n=-(-given.faults // given.processes),
        every=given.every,
        in_bucket=given.bucket,
        before=read_results(given.results),
        results=given.results,
    )
    if given.mixed:
        one = partial(try_mixed, n=-(-given.faults // given.processes))
    try:
        with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
            tally = Tally([fault for part in pool.map(one, seeds) for fault in part.faults])
    except KeyboardInterrupt:
        sys.exit("cut off; with --results the same command goes on where it was")
    print("\n".join(tally.lines()))
    # An older version of what no number rests on is as whole as the newest.
    sys.exit(bool(tally.wrong or (tally.unnamed and not given.mixed)))


if __name__ == "__main__":
    main()
