"""The result of a gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgerel_ray.core.meanings import Columns, shared_meanings

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.analyses.gate.looks import Look

EXIT_CODES = {"PASS": 0, "FAIL": 4, "INCONCLUSIVE": 5}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gated:
    """What a gate found.

    Attributes
    ----------
    verdict : str
        "FAIL" where any requirement fails in any group, else "INCONCLUSIVE" where any is, else
        "PASS".
    requirements : pl.DataFrame
        A row a requirement, group and missing policy: the group's columns, ``requirement``,
        ``verdict``, the value with its interval and its limit, ``reason`` where nothing is decided,
        and what would decide.
    look : Look
        Which look at these data it was, and the confidence of its intervals.
    notes : tuple of str
        Of every drop, how many questions one side alone has; of every judge some of whose requests
        failed, how many: they count in nothing.
    """

    verdict: str
    requirements: pl.DataFrame
    look: Look
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 of PASS, 4 of FAIL, 5 of INCONCLUSIVE."""
        return EXIT_CODES[self.verdict]

    def as_json(self) -> str:
        """Write it as one JSON object."""
        from judgerel_ray.analyses.gate.show import gate_json

        return gate_json(self)

    def as_markdown(self) -> str:
        """Write it for a pull request."""
        from judgerel_ray.analyses.gate.show import gate_markdown

        return gate_markdown(self)

    def as_junit(self) -> str:
        """Write it as JUnit XML, a test case a row."""
        from judgerel_ray.analyses.gate.show import gate_junit

        return gate_junit(self)


COLUMNS: Columns = {
    "gate": {
        "": {
            "verdict": (
                "FAIL where any requirement fails in any group, else INCONCLUSIVE where any is, "
                "else PASS."
            ),
            "exit_code": "0 of PASS, 4 of FAIL, 5 of INCONCLUSIVE.",
            "look": (
                "Which look at these data it was: number, confidence of its intervals, ledger, "
                "whether nothing was new (again), n_judgments."
            ),
            "notes": "What failed or was left out, and counts in nothing, a line each.",
        },
        "requirements": {
            "requirement": "The requirement as it was written.",
            "verdict": (
                "PASS where the whole confidence interval meets it, FAIL where all of it misses "
                "it, else INCONCLUSIVE."
            ),
            **shared_meanings("coefficient", "missing", "conditions"),
            "value": (
                "The coefficient; of a drop the baseline's less this one's, on the questions "
                "both have; null where there is none."
            ),
            "low": (
                "Lower end of the interval, at the confidence of the look (95 % without a "
                "ledger); null where there is none."
            ),
            "high": (
                "Upper end of the interval, at the confidence of the look (95 % without a "
                "ledger); null where there is none."
            ),
            "at_most": (
                "true where the value may be at most the limit, false where it must be at least "
                "that."
            ),
            "limit": "What the whole confidence interval must keep.",
            "baseline": "Of a drop the baseline's own value; else null.",
            "reason": (
                "Code of why nothing is decided, such as interval_crosses_limit or few_verdicts; "
                "null where it is."
            ),
            "more_questions": (
                "Further questions that would decide, should the value stay; null where it is "
                "decided, there is no interval, or 100,000 in all are not enough."
            ),
            "more_replications": (
                "Further replications of the same questions that would decide, should the value "
                "stay; null where it is decided, not known, or no number is enough."
            ),
            "n_items": "Questions of the group; of a drop those that both have.",
            "n_compared": (
                "Questions that the interval is over: asked twice, or with a right verdict; null "
                "where there is no interval by question, unless all questions come out alike."
            ),
            "n_replications": "Largest number of judgments of one unit; null of a drop.",
            "n_judgments": "Judgments of the group.",
            "flags": "Codes of what weakens the value; empty or null where nothing does.",
        },
    },
}
"""What each column means, and how to read it: of each verb, by table."""
