"""What ``reduce`` prints of systems together: panels, and cascades."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from judgerel_ray.cli.reduced import tell_basis
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError

DONE = 0


def add_panels(reduce: argparse.ArgumentParser) -> None:
    """Add the flags of panels and cascades."""
    reduce.add_argument(
        "--panels", action="store_true", help="judges together: majorities, best panels, the next"
    )
    reduce.add_argument(
        "--cascade",
        action="store_true",
        help="ask the next one where confidence falls short; of a sweep with a cascade what it did",
    )
    reduce.add_argument("--order", metavar="A,B", help="of a cascade; default: by cost")
    reduce.add_argument(
        "--person", metavar="COST[,ACCURACY]", help="asked last in a cascade; accuracy is assumed"
    )
    reduce.add_argument("--points", type=int, default=10, metavar="N", help="of the cost curve")
    reduce.add_argument(
        "--price",
        action="append",
        metavar="NAME=...",
        help="of a judge: a reply's, or PROMPT,COMPLETION of a million tokens",
    )


def print_panels(
    parsed: argparse.Namespace, formats: Sequence[str], *, by: Sequence[str] | None
) -> int:
    """Print what panels or cascades are worth.

    Effects: reads a run or a file; with ``--out`` writes one file. Retry: safe.

    Raises
    ------
    SweepError
        If a name, a column or a file is wrong.
    """
    from judgerel_ray.analyses.advice.show import tables_json
    from judgerel_ray.analyses.panels.cascade_choice import CascadeChoice
    from judgerel_ray.analyses.panels.from_run import run_cascade, run_cascaded, run_panels
    from judgerel_ray.analyses.panels.show import cascade_text, cascaded_text, panels_text
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.selection.spending import parse_price

    told = [parse_price(text) for text in parsed.price or ()]
    if len(dict(told)) < len(told):
        raise SweepError("--price names a judge twice")
    seed, confidence = parsed.seed or 0, parsed.confidence or "stated"
    given = {"by": by, "gold": parsed.gold, "prices": dict(told) or None, "confidence": confidence}
    asked = None if parsed.panels or parsed.order else run_cascaded(parsed.path)
    if asked is not None:
        found, rows, text = {"cascaded": asked}, asked, cascaded_text(asked)
    elif parsed.panels:
        found = run_panels(parsed.path, **given, seed=seed).tables()
        rows, text = found["best"], panels_text(found)
    else:
        names = tuple(name.strip() for name in (parsed.order or "").split(",") if name.strip())
        cost, accuracy = _person(parsed.person)
        choice = CascadeChoice(
            order=names,
            person_cost=cost,
            person_accuracy=accuracy,
            n_budgets=parsed.points,
            seed=seed,
        )
        found = run_cascade(parsed.path, choice, **given).tables()
        rows, text = found["curve"], cascade_text(found)
    tell_basis(parsed.path, formats)
    for name in formats:
        print(tables_json(found)) if name == "json" else tell(text)
    if parsed.output is not None:
        write_coefficients(rows, parsed.output)
    return DONE


def _person(text: str | None) -> tuple[float | None, float]:
    """What asking a person costs, and how often that person is taken to be right."""
    if text is None:
        return None, 1.0
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise SweepError(f"--person must be COST or COST,ACCURACY, got {text!r}")
    return numbers[0], numbers[1] if numbers[1:] else 1.0
