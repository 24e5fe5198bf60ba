"""How far can an LLM judge be trusted? Ask it again, many times, and measure.

One function for every verb of the command, with its options and its result. Importing this package
loads none of ray, vllm, torch or polars: its functions do when called. What a flag takes as
NAME=VALUE is a mapping here (of pairs and sequences where a flag has commas), or a list of such
texts.

Examples
--------
On the tiny table of simulated judges that comes with the package:

>>> import judgerel_ray
>>> rows = judgerel_ray.reduce(judgerel_ray.example("judgments.csv"), tolerance={"flip_rate": 0.3})
>>> rows.filter(coefficient="flip_rate").select("judge", "standing").rows()
[('simulated-erratic', 'undecided'), ('simulated-steady', 'undecided')]
"""

from __future__ import annotations

import gc

from judgerel_ray.interrupts import catch_interrupts, is_the_command

if is_the_command():  # before anything else is imported, which takes longer than to press Ctrl-C
    catch_interrupts()
    gc.set_threshold(20_000)  # what is imported stays: looking through it for garbage is in vain

# In the order in which `judgerel --help` lists them. A function of an analysis imported here is a
# verb of the command line, too.
from judgerel_ray.asking.verb import init, plan, run, exact, status, verify, rejudge, replay  # isort: skip
from judgerel_ray.asking.verb import load_sweep  # isort: skip
from judgerel_ray.importers.verb import import_judgments, items  # isort: skip
from judgerel_ray.analyses.doctor.verb import doctor  # isort: skip
from judgerel_ray.analyses.reliability.verb import questions, reduce, serving  # isort: skip
from judgerel_ray.analyses.agreement.verb import agree  # isort: skip
from judgerel_ray.analyses.confusion.verb import uncertainty  # isort: skip
from judgerel_ray.analyses.distributions.verb import distributions  # isort: skip
from judgerel_ray.analyses.selection.verb import select, systems  # isort: skip
from judgerel_ray.analyses.panels.verb import cascade, panels  # isort: skip
from judgerel_ray.analyses.ratings.verb import align, rank, scales  # isort: skip
from judgerel_ray.analyses.advice.verb import advise  # isort: skip
from judgerel_ray.analyses.comparison.verb import compare  # isort: skip
from judgerel_ray.analyses.gate.verb import gate  # isort: skip
from judgerel_ray.analyses.correction.verb import correct, label  # isort: skip
from judgerel_ray.reporting.verb import refresh, report  # isort: skip
from judgerel_ray.examples import example  # isort: skip
from judgerel_ray.core import ReadingWarning, UnfinishedRunWarning  # isort: skip
from judgerel_ray.core.version import __version__  # isort: skip

__all__ = [
    "ReadingWarning",
    "UnfinishedRunWarning",
    "__version__",
    "advise",
    "agree",
    "align",
    "cascade",
    "compare",
    "correct",
    "distributions",
    "doctor",
    "exact",
    "example",
    "gate",
    "import_judgments",
    "init",
    "items",
    "label",
    "load_sweep",
    "panels",
    "plan",
    "questions",
    "rank",
    "reduce",
    "refresh",
    "rejudge",
    "replay",
    "report",
    "run",
    "scales",
    "select",
    "serving",
    "status",
    "systems",
    "uncertainty",
    "verify",
]


def __dir__() -> list[str]:
    """What a program may use: verbs, and the rooms of numbers."""
    return [*__all__, "papers", "stats"]
