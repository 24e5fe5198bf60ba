"""Groups of ``reduce`` as a short answer shows them: their rows, how they are named, what leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.analyses.reliability.headlines import Lead, lead, of_ratings, of_their_kind
from judgerel_ray.blocks.columns import natural
from judgerel_ray.blocks.words import (
    Row,
    cell,
    group_columns,
    group_label,
    rows_by_group,
    telling_columns,
)
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.correctness import NEEDS_NOMINAL

NAMELESS = "this judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """A group's rows, its name, and what leads it."""

    rows: Sequence[Row]
    key: Mapping[str, object]  # The values of the columns that make groups.
    label: str  # As a sentence names it: `this judge` where there is no other.
    lead: Lead | None
    named: bool = False  # Whether its coefficients were chosen.

    def row(self, name: str, conditions: str | None = None) -> Row | None:
        """The first row of a coefficient: by the policy, the level and the conditions that lead.

        Of ratings with replies that hold none, by the policy that leaves those out.
        """
        rows = [
            row
            for row in self.rows
            if row["coefficient"] == name and conditions in (None, row.get("conditions"))
        ]
        alike = [row for row in rows if row.get("conditions") == rows[0].get("conditions")]
        known = (row for row in alike if row.get("undefined") != NEEDS_NOMINAL)
        return next(known, rows[0] if rows else None)

    @property
    def of_ratings(self) -> bool:
        """Whether its verdicts are numbers."""
        return of_ratings(self.rows)

    @property
    def shown(self) -> Sequence[Row]:
        """The rows whose numbers stand in the table or in a sentence."""
        if self.named:
            return self.rows
        rows = {name: self.row(name) for name in _SHOWN}
        return [row for row in rows.values() if row is not None]

    @property
    def classes(self) -> Sequence[Row]:
        """Agreement on each verdict, under the conditions that lead."""
        return [
            row
            for row in self.rows
            if str(row["coefficient"]).startswith("class_agreement:")
            and row is self.row(str(row["coefficient"]))
        ]

    @property
    def again(self) -> Row | None:
        """Alpha of the same prompt again, where that of other orders or wordings leads."""
        first = self.row("krippendorff_alpha")
        reproduced = first is not None and first.get("conditions") == REPRODUCIBILITY
        return self.row("krippendorff_alpha", REPEATABILITY) if reproduced else None


_SHOWN = (
    "krippendorff_alpha", "percent_agreement", "standard_error", "swap_consistency",
    "place_consistency", "position_bias", "first_place", "accuracy", "cohen_kappa",
)  # fmt: skip


def grouped(coefficients: pl.DataFrame, *, named: bool = False) -> list[ShownGroup]:
    """Gather the rows of every group, those that take ratings for mere names left out.

    None is left out where coefficients were chosen, so `named`.
    """
    names = group_columns(coefficients)
    groups = rows_by_group(coefficients, names)
    in_natural_order = sorted(groups, key=lambda key: [*map(natural, key)])
    telling = telling_columns([dict(zip(names, key, strict=True)) for key in groups] or [{}])
    return [
        ShownGroup(
            rows=rows if named else of_their_kind(rows),
            key={name: rows[0][name] for name in names},
            label=subject_of_group(rows[0], telling),
            lead=lead(rows),
            named=named,
        )
        for rows in map(groups.__getitem__, in_natural_order)
    ]


def subject_of_group(row: Row, varying: Sequence[str]) -> str:
    """A group as the subject of a sentence: its judge, the rest of what it is in brackets."""
    rest = group_label(row, [name for name in varying if name != "judge"]) if varying else ""
    rest = rest if any(name != "judge" for name in varying) else ""
    judge = cell(row["judge"]) if row.get("judge") is not None else NAMELESS
    if "judge" in varying and row["judge"] is None:
        judge = "the judge without a name"
    return f"{judge} ({rest})" if rest else judge
