"""Run cases: each in a folder and a process of its own, with a deadline.

The parent has imported what the command line needs and forks: a case costs its own work and no
start of an interpreter. Where the process itself matters (encodings, signals, closed streams) a
case is a line for a shell.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.hostile.case import Came, Case, Result, judged

DEADLINE_S = 120.0
LINES_KEPT = 20_000_000
QUIET = {
    "COLUMNS": "100",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass(slots=True)
class _Running:
    case: Case
    folder: Path
    pid: int
    began: float
    digests: dict[str, str]
    deadline: float


def run_cases(
    cases: Iterable[Case], *, bases: Path, jobs: int = 2, deadline: float = DEADLINE_S
) -> Iterator[Result]:
    """Run cases and judge each as it ends; `bases` holds the run directories they copy."""
    waiting = list(reversed(list(cases)))
    running: list[_Running] = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as root:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_start(waiting.pop(), Path(root), bases, deadline))
            for one in list(running):
                code = _ended(one)
                if code is not False:
                    running.remove(one)
                    yield judged(one.case, _came(one, code))
                    _remove(one.folder)
            time.sleep(0.002)


def _start(case: Case, root: Path, bases: Path, deadline: float) -> _Running:
    """Lay out a case's folder and start it."""
    number = len(list(root.iterdir()))
    top = root / f"{number}-{time.monotonic_ns()}"
    folder = top / "here"
    folder.mkdir(parents=True)
    for name in case.bases:
        shutil.copytree(bases / name, folder / name)
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if case.before is not None:
        case.before(folder)
    digests = _digests(folder)
    pid = os.fork()
    if not pid:
        _child(case, folder)
    return _Running(case, folder, pid, time.monotonic(), digests, deadline)


def _child(case: Case, folder: Path) -> None:
    """Be the process of a case; does not return."""
    os.setsid()
    top = folder.parent
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(top / name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.update({**QUIET, **case.environment})
    code = 1
    try:
        code = _shell(case) if case.shell is not None else _commands(case)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001  what a person would see of it
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code & 255)


def _shell(case: Case) -> int:
    """Run the line of a case."""
    command = f"{sys.executable} -m judgerel_ray"
    done = subprocess.run(
        ["bash", "-c", str(case.shell)], env={**os.environ, "JUDGEREL": command}, check=False
    )
    return done.returncode


def _commands(case: Case) -> int:
    """Run the commands of a case while they end with 0."""
    from judgerel_ray.cli import main

    code = 0
    for first, *rest in case.commands:
        if first == "python":
            exec(compile(rest[0], "case", "exec"), {"__name__": "case"})
        else:
            code = main([first, *rest])
        if code:
            break
    return code


def _ended(one: _Running) -> int | bool | None:
    """Exit code of a case; False while it runs, None where it had to be ended."""
    pid, status = os.waitpid(one.pid, os.WNOHANG)
    if pid:
        return os.waitstatus_to_exitcode(status)
    if time.monotonic() - one.began < one.deadline:
        return False
    os.killpg(one.pid, signal.SIGKILL)
    os.waitpid(one.pid, 0)
    return None


def _came(one: _Running, code: int | None) -> Came:
    """Collect what came of a case."""
    after = _digests(one.folder)
    texts = [
        (one.folder.parent / name).read_bytes()[:LINES_KEPT].decode("utf-8", "replace")
        for name in ("stdout", "stderr")
    ]
    return Came(
        code=code,
        stdout=texts[0],
        stderr=texts[1],
        folder=one.folder,
        changed=tuple(sorted(k for k, v in one.digests.items() if after.get(k) != v)),
        made=tuple(sorted(set(after) - set(one.digests))),
    )


def _digests(folder: Path) -> dict[str, str]:
    """What lies in a folder: digests of files, targets of links, and folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link {os.readlink(path)}"
        elif path.is_dir():
            found[name] = "folder"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _remove(folder: Path) -> None:
    """Remove a case's folder, whatever was done to its permissions; its name stays for counting."""
    for name in ("here", "stdout", "stderr"):
        path = folder.parent / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
