"""What a page says of probabilities that were read, beside what was sampled."""

from __future__ import annotations

from dataclasses import dataclass

from judgerel_ray.analyses.confusion.lead import Uncertain, uncertainty_lead
from judgerel_ray.analyses.confusion.show import uncertainty_sections
from judgerel_ray.analyses.distributions.show import Distributed, distribution_sections
from judgerel_ray.analyses.ratings.show import alignment_section
from judgerel_ray.analyses.reliability.page import Questions
from judgerel_ray.blocks.blocks import Block, Paragraph


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
