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
from importlib import import_module
from typing import TYPE_CHECKING

from judgerel_ray.interrupts import catch_interrupts, is_the_command

if is_the_command():  # before anything else is imported, which takes longer than to press Ctrl-C
    catch_interrupts()
    gc.set_threshold(20_000)  # what is imported stays: looking through it for garbage is in vain

if TYPE_CHECKING:
    from judgerel_ray.analyses.advice.verb import advise as advise
    from judgerel_ray.analyses.agreement.verb import agree as agree
    from judgerel_ray.analyses.comparison.verb import compare as compare
    from judgerel_ray.analyses.confusion.verb import uncertainty as uncertainty
    from judgerel_ray.analyses.correction.verb import correct as correct
    from judgerel_ray.analyses.correction.verb import label as label
    from judgerel_ray.analyses.distributions.verb import distributions as distributions
    from judgerel_ray.analyses.doctor.verb import doctor as doctor
    from judgerel_ray.analyses.gate.verb import gate as gate
    from judgerel_ray.analyses.panels.verb import cascade as cascade
    from judgerel_ray.analyses.panels.verb import panels as panels
    from judgerel_ray.analyses.ratings.verb import align as align
    from judgerel_ray.analyses.ratings.verb import rank as rank
    from judgerel_ray.analyses.ratings.verb import scales as scales
    from judgerel_ray.analyses.reliability.verb import questions as questions
    from judgerel_ray.analyses.reliability.verb import reduce as reduce
    from judgerel_ray.analyses.reliability.verb import serving as serving
    from judgerel_ray.analyses.selection.verb import select as select
    from judgerel_ray.analyses.selection.verb import systems as systems
    from judgerel_ray.asking.verb import exact as exact
    from judgerel_ray.asking.verb import init as init
    from judgerel_ray.asking.verb import load_sweep as load_sweep
    from judgerel_ray.asking.verb import plan as plan
    from judgerel_ray.asking.verb import rejudge as rejudge
    from judgerel_ray.asking.verb import replay as replay
    from judgerel_ray.asking.verb import run as run
    from judgerel_ray.asking.verb import status as status
    from judgerel_ray.asking.verb import verify as verify
    from judgerel_ray.core import ReadingWarning as ReadingWarning
    from judgerel_ray.core import UnfinishedRunWarning as UnfinishedRunWarning
    from judgerel_ray.core.version import __version__ as __version__
    from judgerel_ray.examples import example as example
    from judgerel_ray.importers.verb import import_judgments as import_judgments
    from judgerel_ray.importers.verb import items as items
    from judgerel_ray.reporting.verb import refresh as refresh
    from judgerel_ray.reporting.verb import report as report

HOMES = {
    name: f"{__name__}.{module}"
    for module, names in {
        "asking.verb": "init plan run exact status verify rejudge replay load_sweep",
        "importers.verb": "items import_judgments",
        "analyses.doctor.verb": "doctor",
        "analyses.reliability.verb": "reduce questions serving",
        "analyses.agreement.verb": "agree",
        "analyses.confusion.verb": "uncertainty",
        "analyses.distributions.verb": "distributions",
        "analyses.selection.verb": "select systems",
        "analyses.panels.verb": "panels cascade",
        "analyses.ratings.verb": "scales align rank",
        "analyses.advice.verb": "advise",
        "analyses.comparison.verb": "compare",
        "analyses.gate.verb": "gate",
        "analyses.correction.verb": "correct label",
        "reporting.verb": "report refresh",
        "examples": "example",
        "core": "ReadingWarning UnfinishedRunWarning",
        "core.version": "__version__",
    }.items()
    for name in names.split()
}
"""Names and the modules they are loaded from, in the order in which `judgerel --help` lists verbs.
A function of an analysis named here is a verb of the command line, too."""

__all__ = list(HOMES)


def __getattr__(name: str) -> object:
    """Load a name when it is first used: a command needs one verb, not all."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What a program may use: verbs, and the rooms of numbers."""
    return [*__all__, "papers", "stats"]
