"""Probabilities that a run read, on its page: uncertainty of judgments, limits of replication."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
from judgerel_ray.analyses.confusion.show import Uncertain, uncertainty_lead, uncertainty_sections
from judgerel_ray.analyses.distributions.distributions import limit_table, width_table
from judgerel_ray.analyses.distributions.show import Distributed, distribution_sections
from judgerel_ray.analyses.ratings.from_run import RatingOptions, weighted_ratings
from judgerel_ray.analyses.ratings.show import alignment_section
from judgerel_ray.analyses.reliability.unstable import Questions
from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.counting.given import Given
from judgerel_ray.counting.judged import Judged, declared_scales, made_matrices
from judgerel_ray.store import CHEAP_COLUMNS, RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import CONFUSIONS, DISTRIBUTIONS, read_distributions


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """What a run's probabilities say; None where it has none of the kind.

    Attributes
    ----------
    uncertain : Uncertain, optional
        Of confusion matrices.
    distributed : Distributed, optional
        Of verdict distributions.
    """

    uncertain: Uncertain | None = None
    distributed: Distributed | None = None

    @property
    def anything(self) -> bool:
        """Whether there is anything to show."""
        return bool(probability_sections(self))


def probability_lead(found: Probabilities | None) -> list[Block]:
    """Say first what probabilities show; nothing where there are none.

    Examples
    --------
    >>> probability_lead(None)
    []
    """
    if found is None:
        return []
    lead = uncertainty_lead(found.uncertain) if found.uncertain else []
    if found.distributed and not found.distributed.limits.is_empty():
        sentence = (
            "The probability of every verdict was computed at every temperature asked: see "
            "Infinitely many replications."
        )
        lead.append(Paragraph(sentence))
    return lead


def probability_sections(
    found: Probabilities | None, questions: Questions | None = None
) -> list[Block]:
    """Write the sections on probabilities; single questions by their texts, where known.

    Examples
    --------
    >>> probability_sections(Probabilities())
    []
    """
    if found is None:
        return []
    return [
        *(uncertainty_sections(found.uncertain, questions or {}) if found.uncertain else ()),
        *(_distributed(found.distributed) if found.distributed else ()),
    ]


def _distributed(found: Distributed) -> list[Block]:
    """Distributions, and what they make of ratings."""
    if found.limits.is_empty():
        return []
    return [
        *distribution_sections(found),
        *alignment_section(found.aligned),
    ]


def run_probabilities(run: RunDirectory) -> Probabilities:
    """Read what the page shows of a run's probabilities; nothing of what it has none."""
    return Probabilities(uncertain=_read_uncertain(run), distributed=_read_distributed(run))


def _read_uncertain(run: RunDirectory) -> Uncertain | None:
    """Of confusion matrices."""
    if not run.exists(CONFUSIONS):
        return None
    wanted = made_matrices() & pl.col("role").is_in(["judge", "assessor"])
    replies = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter(wanted)
        .group_by("judge", "benchmark", "role", "outcome")
        .agg(n=pl.len())
        .sort("judge", "benchmark", "role", "outcome")
        .collect()
    )
    return Uncertain(tables=run_uncertainty_tables(Given(rows=run.url, run=run)), replies=replies)


def _read_distributed(run: RunDirectory) -> Distributed | None:
    """Of verdict distributions."""
    if not run.exists(DISTRIBUTIONS):
        return None
    distributions = read_distributions(run)
    limits = limit_table(distributions, scales=declared_scales(run))
    return Distributed(limits=limits, widths=width_table(distributions))


def with_weighted(
    found: Probabilities | None, judged: Judged, options: RatingOptions
) -> Probabilities | None:
    """Add what distributions of ratings say of responses, and where none was sampled of alignment.

    Raises
    ------
    SweepError
        If there is no such reference, or nothing was rated for it.
    """
    if found is None or found.distributed is None:
        return found
    if (ratings := weighted_ratings(judged, options)) is None:
        return found
    weighted, aligned = ratings
    return replace(
        found, distributed=replace(found.distributed, weighted=weighted, aligned=aligned)
    )
