"""Which flags of ``reduce`` go with which of its tables: none is taken and then ignored.

Judgments that a verb reads: where they are, and whether their verdicts are taken as written.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from judgerel_ray.cli.paths import judged_path
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError

if TYPE_CHECKING:
    from judgerel_ray.counting.given import Given

COEFFICIENTS = "coefficients"
TABLES = (
    "questions", "uncertainty", "limits", "settled", "reasoning", "scales", "ranking", "reference",
    "selection", "comparison",
    "weighted", "panels", "cascade",
)  # fmt: skip
"""What ``reduce`` prints in place of coefficients, by its flag; a reference alone is alignment."""
_RATINGS = frozenset({"scales", "ranking", "reference"})
_COUNTS = frozenset({COEFFICIENTS, "questions"})
_SYSTEMS = frozenset({"selection", "comparison"})
_TOGETHER = frozenset({"panels", "cascade"})
GOES_WITH: dict[str, frozenset[str]] = {
    "by": _COUNTS | _RATINGS | _SYSTEMS | _TOGETHER,
    "block": _COUNTS,
    "exact_values": _COUNTS | _RATINGS | _SYSTEMS | _TOGETHER,
    "missing": _COUNTS,
    "verdict_names": _COUNTS | _SYSTEMS | _TOGETHER,
    **dict.fromkeys(
        ("measurement", "items", "nuisance", "tolerance", "bands", "interval"),
        frozenset({COEFFICIENTS}),
    ),
    "resamples": frozenset({COEFFICIENTS}) | _SYSTEMS,
    "seed": frozenset({COEFFICIENTS}) | _SYSTEMS | _TOGETHER,
    "coefficient": frozenset({COEFFICIENTS, "reference"}),
    **dict.fromkeys(("threshold", "rule"), frozenset({"uncertainty"})),
    **dict.fromkeys(("risk", "delta"), frozenset({"uncertainty", "selection"})),
    **dict.fromkeys(("gold", "confidence"), _SYSTEMS | _TOGETHER),
    "price": _TOGETHER,
    **dict.fromkeys(("order", "person", "points"), frozenset({"cascade"})),
    **dict.fromkeys(("band", "bins"), frozenset({"selection"})),
    **dict.fromkeys(("answer", "family", "compared"), frozenset({"comparison"})),
    **dict.fromkeys(("mapping", "preset", "pairing"), frozenset({"scales", "ranking"})),
    "scale": _RATINGS,
    "outside": frozenset({"ranking"}),
}  # fmt: skip
"""Tables that each flag says something about."""


def table_of(parsed: argparse.Namespace, default: Callable[[str], object]) -> str:
    """Name the table that is asked for, and refuse what does not go with it.

    Parameters
    ----------
    parsed : Namespace
        Of ``reduce``.
    default : callable
        The value of a flag that was not given.

    Returns
    -------
    str
        One of `TABLES`, or `COEFFICIENTS`.

    Raises
    ------
    SweepError
        If two tables are asked for, or a flag is given that says nothing about the one that is.

    Examples
    --------
    >>> given = argparse.Namespace(**dict.fromkeys((*TABLES, *GOES_WITH)) | {"limits": True})
    >>> table_of(given, lambda flag: None)
    'limits'
    """
    asked = [name for name in TABLES if getattr(parsed, name) != default(name)]
    if "ranking" in asked and "reference" in asked:
        asked.remove("reference")  # ranks by alignment, too
    if len(asked) > 1:
        raise SweepError(
            f"{_flags(asked)} are tables of their own: ask for one of them",
            hint="--ranking --reference JUDGE ranks by alignment, too"
            if set(asked) <= _RATINGS
            else None,
        )
    table = asked[0] if asked else COEFFICIENTS
    idle = [
        flag
        for flag, tables in GOES_WITH.items()
        if table not in tables and getattr(parsed, flag) != default(flag)
    ]
    if idle:
        takes = ", ".join(
            sorted(one if one == COEFFICIENTS else f"--{one}" for one in GOES_WITH[idle[0]])
        )
        raise SweepError(
            f"{_flags(idle)} would do nothing with {table if not asked else f'--{table}'}",
            hint=f"leave it out, or ask for what {_flags(idle[:1])} goes with: {takes}",
        )
    return table


def _flags(names: list[str]) -> str:
    """Flags in words."""
    flags = ["--" + name.replace("_", "-") for name in names]
    return " and ".join([", ".join(flags[:-1]), flags[-1]]) if flags[1:] else flags[0]


def add_exact_values(verb: argparse.ArgumentParser) -> None:
    """Add the flag of verbs that read files of judgments."""
    verb.add_argument(
        "--exact-values",
        action="store_true",
        help="of a file: every spelling is a verdict of its own (else PASS = pass, 1 = 1.0)",
    )


def add_names(verb: argparse.ArgumentParser) -> None:
    """Add what verdicts name, of a file with several orders of the options and no labels."""
    verb.add_argument(
        "--verdict-names",
        metavar="WHAT",
        help="option or place: of a file with several option_orders and no column label",
    )


def judged(parsed: argparse.Namespace, name: str = "path") -> str | Given:
    """The judgments named, which must be there; of a run what has landed by now.

    Raises
    ------
    SweepError
        If nothing is there.
    StoreError
        If a folder is there that is neither a run directory nor holds files of judgments; or
        records of a run are torn, altered or gone.
    """
    from judgerel_ray.counting.given import given, looked_at

    path = given(
        judged_path(getattr(parsed, name)),
        exact_values=parsed.exact_values,
        verdict_names=parsed.verdict_names,
    )
    return looked_at(path)


def tell_basis(path: str | Given, formats: Sequence[str]) -> None:
    """Say before any number what it rests on, where a run owes requests or has damaged files.

    Beside JSON it is no part of it.
    """
    from judgerel_ray.analyses.reliability.basis import basis_lines

    for line in basis_lines(path):
        tell(line, aside="json" in formats)
