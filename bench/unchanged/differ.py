"""What differs between what was recorded and what is said now, gathered by what it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isclose
from typing import Any

from bench.unchanged.spelling import EXPECTED, fields_today

WITHIN = 1e-9
NOT_NAMES = {
    "estimator", "statistic", "interval", "interval_method", "no_interval", "null_method", "band",
    "undefined", "lead", "reason", "standing", "how", "method", "split", "run", "a", "b", "error",
}  # fmt: skip
"""Texts of a row that say how a number was made, or where its judgments lie."""
NUMBERS_THAT_NAME = {"temperature", "n_members", "bin", "option_order", "replication"}
PROGRESS = re.compile(r"^judgerel: \d[\d,]* of .* left\b.*$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*\d|\d)?\.?\d+(?:e[-+]?\d+)?(?![\w])")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place of one case.

    ``kind`` is number, missing, new, row missing, row new, text, length, code or wording.
    """

    case: str
    field: str
    kind: str
    before: object
    now: object
    of: str = ""  # the coefficient of its row


@dataclass(slots=True)
class Found:
    """All differences of all cases, and how much was held against what was recorded."""

    cases: int = 0
    numbers: int = 0
    words: int = 0
    texts: int = 0
    reworded: int = 0
    unexplained: list[Difference] = field(default_factory=list)
    explained: Counter[str] = field(default_factory=Counter)

    def add(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        """Hold one case against its record."""
        self.cases += 1
        for one in self._of_case(before, now):
            reason = explanation(one)
            if reason is None:
                self.unexplained.append(one)
            else:
                self.explained[reason] += 1

    def _of_case(self, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Difference]:
        name = before["case"]
        if before["code"] != now["code"]:
            yield Difference(name, "", "code", before["code"], now["code"])
        numbers = fields_today(before["view"], before["numbers"])
        yield from self._of_json(name, "", numbers, now["numbers"])
        for text in sorted(before["texts"].keys() | now["texts"].keys()):
            was, is_now = before["texts"].get(text, ""), now["texts"].get(text, "")
            self.texts += 1
            if was != is_now:
                self.reworded += 1
                lost, gained = _numbers(was) - _numbers(is_now), _numbers(is_now) - _numbers(was)
                if lost or gained:
                    yield Difference(name, text, "wording", _listed(lost), _listed(gained))

    def _of_json(
        self, case: str, where: str, before: Any, now: Any, of: str = ""
    ) -> Iterator[Difference]:
        if isinstance(before, dict) and isinstance(now, dict):
            of = str(now.get("coefficient", of))
            for key in before.keys() | now.keys():
                place = f"{where}.{key}" if where else str(key)
                if key not in now:
                    yield Difference(case, place, "missing", before[key], None, of)
                elif key not in before:
                    yield Difference(case, place, "new", None, now[key], of)
                else:
                    yield from self._of_json(case, place, before[key], now[key], of)
        elif isinstance(before, list) and isinstance(now, list):
            place = f"{where}.#" if where else "#"
            pairs, gone, came = matched(before, now)
            if len(before) - len(gone) != len(now) - len(came):
                yield Difference(case, where, "length", len(before), len(now), of)
            for row in gone:
                yield Difference(case, place, "row missing", row, None, _coefficient(row, of))
            for row in came:
                yield Difference(case, place, "row new", None, row, _coefficient(row, of))
            for one, other in pairs:
                yield from self._of_json(case, place, one, other, of)
        elif _is_number(before) and _is_number(now):
            self.numbers += 1
            if not isclose(before, now, rel_tol=WITHIN, abs_tol=1e-12):
                yield Difference(case, where, "number", before, now, of)
        else:
            self.words += 1
            if before != now:
                kind = "text" if isinstance(before, str) and isinstance(now, str) else "number"
                yield Difference(case, where, kind, before, now, of)


def matched(
    before: list[Any], now: list[Any]
) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
    """Rows of both by what names them, wherever they stand; those of one alone, before and now.

    Lists of other things, rows of which no names are known to both, and as many rows of one as of
    the other that nothing pairs, are paired by place.
    """
    rows = [*before, *now]
    names = [
        name for name in (rows[0] if rows and isinstance(rows[0], dict) else {})
        if name not in NOT_NAMES
        and all(isinstance(row, dict) and name in row for row in rows)
        and (name in NUMBERS_THAT_NAME or all(row[name] is None or isinstance(row[name], str)
                                              for row in rows))
    ]  # fmt: skip
    if not names:
        return list(zip(before, now, strict=False)), [], []
    held: dict[tuple[object, ...], list[Any]] = {}
    for row in before:
        held.setdefault(tuple(row[name] for name in names), []).append(row)
    pairs, came = [], []
    for row in now:
        alike = held.get(tuple(row[name] for name in names))
        if alike:
            pairs.append((alike.pop(0), row))
        else:
            came.append(row)
    gone = [row for alike in held.values() for row in alike]
    if len(gone) == len(came):  # as where a name is called otherwise
        return [*pairs, *zip(gone, came, strict=True)], [], []
    return pairs, gone, came


def explanation(one: Difference) -> str | None:
    """Why a difference was meant; None where nobody says so."""
    for other in EXPECTED:
        if other.explains(one.case, one.field, one.kind, of=one.of, before=one.before, now=one.now):
            return other.reason
    return None


def lines_of(found: Found, most: int) -> Iterator[str]:
    """What to print: differences by view, field and kind, an example of each, and the counts."""
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for one in found.unexplained:
        view = one.case.split()[0]
        groups.setdefault((view, one.field, one.kind), []).append(one)
    for place, ((view, where, kind), all_) in enumerate(sorted(groups.items())):
        if place == most:
            yield f"... and {len(groups) - most} kinds more"
            break
        one, cases = all_[0], len({other.case for other in all_})
        yield f"{kind.upper():11} {view}: {where or 'exit'}  ({len(all_)} in {cases} cases)"
        yield f"            {one.case}: {_short(one.before)} -> {_short(one.now)}"
    for reason, n in found.explained.most_common():
        yield f"expected {n:6}  {reason}"
    yield (
        f"{found.cases:,} cases: {found.numbers:,} numbers and {found.words:,} other values "
        f"compared, {found.reworded:,} of {found.texts:,} texts worded otherwise; "
        f"{len(found.unexplained):,} differences unexplained, "
        f"{sum(found.explained.values()):,} expected"
    )


def _coefficient(row: Any, of: str) -> str:
    return str(row.get("coefficient", of)) if isinstance(row, dict) else of


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(text: str) -> Counter[float]:
    """Numbers of a text, however they are punctuated; none of how far long work is."""
    text = PROGRESS.sub("", text)
    return Counter(float(one.replace(",", "")) for one in NUMBER.findall(text))


def _listed(numbers: Counter[float]) -> str:
    several = (f"{one:g}" + (f" x{n}" if n > 1 else "") for one, n in numbers.items())
    return ", ".join(several) or "none"


def _short(value: object, most: int = 160) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}..."
