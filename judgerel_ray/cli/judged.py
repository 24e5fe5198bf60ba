"""Judgments that a verb reads: where they are, and whether their verdicts are taken as written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from judgerel_ray.cli.paths import judged_path

if TYPE_CHECKING:
    from judgerel_ray.pipeline.given import Given


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
    """The judgments named, which must be there.

    Raises
    ------
    SweepError
        If nothing is there.
    StoreError
        If a folder is there that is neither a run directory nor holds files of judgments.
    """
    from judgerel_ray.pipeline.given import given

    return given(
        judged_path(getattr(parsed, name)),
        exact_values=parsed.exact_values,
        verdict_names=parsed.verdict_names,
    )
