"""From judgments to what ``agree`` prints, and to its section of a page."""

from __future__ import annotations

from judgerel_ray.analyses.agreement.agreement import AgreementTables, agreement_tables
from judgerel_ray.analyses.agreement.show import (
    agreement_blocks,
    agreement_section,
    reading_blocks,
    short_agreement_blocks,
)
from judgerel_ray.blocks.blocks import Block
from judgerel_ray.blocks.result import Result
from judgerel_ray.core import SweepError
from judgerel_ray.measuring.page_data import PageData


def agreement_result(
    found: AgreementTables, notes: tuple[str, ...], command: str | None = None
) -> Result[AgreementTables]:
    """Agreement with labels and between judges, as every format is made of it.

    `command` checks the same judgments against requirements.
    """
    tables = found.tables()
    return Result(
        found=found, tables=tables, notes=notes, full=lambda: agreement_blocks(tables),
        short=lambda: short_agreement_blocks(tables, command), legend=reading_blocks,
        rows=found.labels if found.pairs.is_empty() else found.pairs,
    )  # fmt: skip


def agreement_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's section; none where nothing is known to agree with."""
    try:
        found = agreement_tables(measured.judged)
    except SweepError:  # one judge without labels, or too many judges: the page has more to say
        return []
    return [agreement_section(found.tables())]
