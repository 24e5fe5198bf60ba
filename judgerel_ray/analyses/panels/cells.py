"""Rows of tables on panels and cascades, written cell by cell."""

from __future__ import annotations

from judgerel_ray.blocks.words import Row, cell, costing, number, p_value, reason

MEMBER_HEADS = ("member", "accuracy [95 %]", "valid", "cost")
RULE_HEADS = (
    "votes count", "members", "accuracy [95 %]", "gain [95 %]", "by chance", "p", "tied", "silent",
    "cost", "questions",
)  # fmt: skip
BEST_HEADS = (
    "within", "panel", "cost", "chosen on", "held out [95 %]", "gain [95 %]", "same",
)  # fmt: skip
NEXT_HEADS = ("members", "accuracy [95 %]", "gain [95 %]")
STAGE_HEADS = ("stage", "asked", "cost", "accuracy [95 %]", "states a confidence")
CURVE_HEADS = (
    "budget", "cost", "accuracy [95 %]", "answered", "thresholds", "in sample", "over random",
    "over alone", "alone",
)  # fmt: skip
_RULES = {
    "majority": "alike",
    "confidence": "by confidence",
    "accuracy": "by accuracy elsewhere",
}


def worth_line(row: Row) -> str:
    """Say how many independent members a panel is worth.

    Examples
    --------
    >>> worth_line({"n_members": 3, "effective": None, "undefined": "too_few_units"})
    'worth in independent members: too few units'
    """
    if row["effective"] is None:
        return f"worth in independent members: {reason(row['undefined'])}"
    ends = ""
    if row["effective_low"] is not None and row["effective_high"] is not None:
        ends = f" [{number(row['effective_low'], 2)}, {number(row['effective_high'], 2)}]"
    most = (
        "" if row["most"] is None else f"; infinitely many of their kind {number(row['most'], 2)}"
    )
    return (
        f"{row['n_members']} members whose errors vary are worth {number(row['effective'], 2)}"
        f"{ends} with errors of their own (errors correlate {number(row['error_correlation'])})"
        f"{most}"
    )


def member_cells(row: Row) -> list[str]:
    """Write a member alone.

    Examples
    --------
    >>> member_cells({"member": "a", "accuracy": 0.5, "low": None, "high": None, "valid": 1.0,
    ...               "cost": 2.0, "cost_unit": "tokens"})
    ['a', '0.500 [no interval]', '1.000', '2']
    """
    return [str(row["member"]), share(row), number(row["valid"]), costing(row["cost"])]


def rule_cells(row: Row) -> list[str]:
    """Write a whole panel by one rule.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    floor = "-"
    if row["noise_floor"] is not None:
        floor = f"{number(row['noise_floor'])} ± {number(row['noise_floor_sd'])}"
    return [
        _RULES[str(row["rule"])], f"{row['n_members']}", share(row), share(row, "gain"), floor,
        p_value(row["p_noise"]), number(row["tied"]), number(row["silent"]), costing(row["cost"]),
        f"{row['n_items']:,}" + (f" ({row['n_dropped']:,} dropped)" if row["n_dropped"] else ""),
    ]  # fmt: skip


def best_cells(row: Row) -> list[str]:
    """Write a panel that was chosen.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    limit = f"size {row['limit']:.0f}"
    if row["chosen_by"] == "cost":
        limit = f"cost {costing(row['limit'])}"
    return [
        limit, str(row["members"]), costing(row["cost"]), number(row["in_sample"]), share(row),
        share(row, "gain"), f"{row['n_alike']} of {row['n_folds']}",
    ]  # fmt: skip


def next_cells(row: Row) -> list[str]:
    """Write panels of one size.

    Examples
    --------
    >>> next_cells({"n_members": 1, "accuracy": 0.5, "low": 0.25, "high": 0.75, "gain": None})
    ['1', '0.500 [0.250, 0.750]', '-']
    """
    return [f"{row['n_members']}", share(row), share(row, "gain")]


def stage_cells(row: Row) -> list[str]:
    """Write one who is asked.

    Examples
    --------
    >>> stage_cells({"stage": 2, "member": "person", "cost": 9.0, "accuracy": 1.0, "low": None,
    ...              "high": None, "confident": None})
    ['2', 'person', '9', '1.000, assumed', '-']
    """
    accuracy = f"{number(row['accuracy'])}, assumed" if row["confident"] is None else share(row)
    return [
        f"{row['stage']}", str(row["member"]), costing(row["cost"]), accuracy,
        number(row["confident"]),
    ]  # fmt: skip


def curve_cells(row: Row) -> list[str]:
    """Write a point of the curve.

    Examples
    --------
    See ``tests/cli/test_panels.py``.
    """
    alone = "-"
    if row["alone"] is not None:
        alone = f"{row['alone']}: {number(row['alone_accuracy'])} for {costing(row['alone_cost'])}"
    return [
        costing(row["budget"]), costing(row["cost"]), share(row), cell(row["answered"]),
        _thresholds(row), number(row["in_sample"]), share(row, "over_random"),
        share(row, "over_alone"), alone,
    ]  # fmt: skip


def _thresholds(row: Row) -> str:
    """Least confidences, in words where there is none to be reached."""
    words = {"-inf": "any", "inf": "none"}
    return ", ".join(words.get(one, one) for one in str(row["thresholds"]).split(", "))


def share(row: Row, name: str = "accuracy") -> str:
    """Write a number with its interval, a dash where there is none.

    Examples
    --------
    >>> share({"gain": -0.5, "gain_low": -0.75, "gain_high": -0.25}, "gain")
    '-0.500 [-0.750, -0.250]'
    """
    if row.get(name) is None:
        return "-"
    ends = ("low", "high") if name == "accuracy" else (f"{name}_low", f"{name}_high")
    if row[ends[0]] is None or row[ends[1]] is None:
        return f"{number(row[name])} [no interval]" if name == "accuracy" else number(row[name])
    return f"{number(row[name])} [{number(row[ends[0]])}, {number(row[ends[1]])}]"


CASCADED_HEADS = (
    "asked",
    "questions",
    "asks",
    "answered [95 %]",
    "accuracy [95 %]",
    "by chance",
    "spent",
)


def cascaded_cells(row: Row) -> list[str]:
    """Write one line.

    Examples
    --------
    >>> cascaded_cells({"asked": "a", "n_questions": 2, "n_asked": 2, "n_answered": 1,
    ...        "answered": 0.5, "answered_low": None, "answered_high": None, "accuracy": None,
    ...        "low": None, "high": None, "noise_floor": None, "noise": None, "spent": 22.5,
    ...        "unit": "tokens"})
    ['a', '2', '2', '1 (0.500)', '-', '-', '22.5 tokens']
    """
    chance = "-" if row["noise_floor"] is None else number(row["noise_floor"])
    note = ", not distinguishable from noise" if row["noise"] else ""
    spent = "-" if row["spent"] is None else f"{row['spent']:,.4g} {row['unit']}"
    answered = _share(row, "answered", "answered_low", "answered_high")
    return [
        str(row["asked"]),
        f"{row['n_questions']:,}",
        f"{row['n_asked']:,}",
        f"{row['n_answered']:,} ({answered})" if row["answered"] is not None else "-",
        _share(row, "accuracy", "low", "high"),
        f"{chance}{note}",
        spent,
    ]


def _share(row: Row, name: str, low: str, high: str) -> str:
    """A share with its interval, where there is one."""
    if row[low] is None:
        return number(row[name])
    return f"{number(row[name])} [{number(row[low])}, {number(row[high])}]"
