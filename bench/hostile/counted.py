"""The numbers that were meant, counted in plain Python on the clean table."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

Row = tuple[str, int, str | None]
"""item_id, replication, verdict; None is no verdict."""

N_ITEMS, N_REPLICATIONS = 12, 4


def base_rows() -> list[Row]:
    """Forty-eight judgments of twelve questions, agreement 2/3, two verdicts."""
    return [
        (f"q{i}", r, "PASS" if (i % 3 != 0) ^ ((i * 7 + r * 5) % 6 == 0) else "FAIL")
        for i in range(N_ITEMS)
        for r in range(N_REPLICATIONS)
    ]


def counted(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """Agreement, alpha and the valid share of judgments, by coefficient and missing policy."""
    found: dict[tuple[str, str], float] = {}
    lacking = any(verdict is None for *_, verdict in rows)
    for missing in ("category", "drop") if lacking else ("category",):
        units = by_item(rows, drop=missing == "drop")
        found["percent_agreement", missing] = agreement(units)
        found["krippendorff_alpha", missing] = alpha(units)
    valid = [verdict is not None for *_, verdict in rows]
    found["valid_rate", "category"] = sum(valid) / len(valid)
    found["n_judgments", ""] = len(rows)
    return found


def by_item(rows: Iterable[Row], *, drop: bool) -> list[list[str]]:
    """Verdicts of every question; a reply without one is a verdict of its own, or left out."""
    units: dict[str, list[str]] = defaultdict(list)
    for item, _, verdict in rows:
        if verdict is not None or not drop:
            units[item].append("(none)" if verdict is None else verdict)
    return [verdicts for verdicts in units.values() if len(verdicts) > 1]


def agreement(units: Sequence[Sequence[str]]) -> float:
    """Share of agreeing pairs, mean over questions."""
    if not units:
        return math.nan
    shares = []
    for verdicts in units:
        n = len(verdicts)
        same = sum(k * (k - 1) for k in Counter(verdicts).values())
        shares.append(same / (n * (n - 1)))
    return sum(shares) / len(shares)


def alpha(units: Sequence[Sequence[str]]) -> float:
    """Krippendorff's nominal alpha, from observed and expected disagreement of pairs."""
    totals = Counter(verdict for verdicts in units for verdict in verdicts)
    n = sum(totals.values())
    expected = sum(k * (n - k) for k in totals.values())
    if not expected:
        return math.nan
    observed = 0.0
    for verdicts in units:
        m, counts = len(verdicts), Counter(verdicts)
        observed += sum(k * (m - k) for k in counts.values()) / (m - 1)
    return 1 - (n - 1) * observed / expected
