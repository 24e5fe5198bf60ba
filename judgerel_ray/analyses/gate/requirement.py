"""What a judge must meet, as a person writes it: ``krippendorff_alpha >= .7``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgerel_ray.core import SweepError
from judgerel_ray.core.files import is_of_the_web, read_regular
from judgerel_ray.measuring.reliability import AT_MOST, possible_values
from judgerel_ray.stats.agreement.agreement import OF_GOLD

ALPHA = "krippendorff_alpha >= .667"
DEFAULTS = (
    ALPHA,
    "valid_rate >= .9",
    "swap_consistency >= .75",
    "accuracy >= .8",
    "cohen_kappa >= .7",
)
"""What a judge must meet where nothing is required, each where judgments can tell it.

Of ratings kappa stands in place of accuracy: one point beside the label is no error as large as
four. Of other verdicts accuracy does.

Krippendorff (2004, p. 241) draws no conclusion below an alpha of .667; below .9 more than one
reply in ten holds no verdict; below .75 more than one verdict in four moves with the order of the
options; two people agree on 81 % of answers (Zheng et al. 2023, MT-bench); and automated scores
are used from a quadratic weighted kappa with people's of .7 on (Williamson, Xi and Breyer 2012).
"""
RIGHT = ("accuracy", "cohen_kappa")
"""What tells, of those, how far a judge is right."""
OF_A_DROP = "accuracy"
"""What a drop of is a difference of right verdicts; of other names it is one of agreement."""
SHORT_FOR = {
    "alpha": "krippendorff_alpha", "agreement": "percent_agreement", "kappa": "cohen_kappa",
}  # fmt: skip
"""Names that short answers use, which requirements may use, too."""
FORM = "[drop of] NAME >= NUMBER [where COL=VALUE, ...] [against FILE]"
NOT_GATED = ("cronbach_alpha", "mcdonald_omega", "omega_hierarchical", "schroeder2024_alpha",
             "schroeder2024_omega")  # fmt: skip
"""Coefficients with intervals of their own, or none."""
LESS_IS_BETTER = (*AT_MOST, "standard_error", "position_bias", "order_effect")
_NEITHER = ("first_place", "place_consistency", "agreement_wrong")
_MEANT = re.compile(r"(?<![<>=])(?:(>)=?|(<)=?|=([<>]))(?!=)")
_NAME = r"[A-Za-z][A-Za-z0-9_]*(?::.+?)?"
_PATTERN = re.compile(
    rf"(?P<drop>drop\s+of\s+)?(?P<name>{_NAME})\s*(?P<sign>>=|<=|[\u2265\u2264])\s*"
    r"(?P<limit>[^\s,]+)"
    r"(?:\s+where\s+(?P<where>.+?))?(?:\s+against\s+(?P<against>.+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One requirement."""

    text: str  # As it was written, but for spaces.
    name: str  # The row that must meet it: a coefficient, or one class of `class_agreement`.
    limit: float
    at_most: bool = False  # Whether that is the most allowed; else the least.
    # The baseline: what must meet it is the drop, the baseline's value less this one.
    against: str | None = None
    # Groups of these values alone must meet it.
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def coefficient(self) -> str:
        """What has to be computed for it."""
        return self.name.partition(":")[0]


def requirement(text: str) -> Requirement:
    """Read a requirement.

    Examples
    --------
    >>> found = requirement("drop of accuracy <= .02 where judge=a against baseline.parquet")
    >>> found.name, found.at_most, found.limit, dict(found.where), found.against
    ('accuracy', True, 0.02, {'judge': 'a'}, 'baseline.parquet')
    >>> requirement("alpha >= .7").text
    'krippendorff_alpha >= .7'
    >>> requirement("krippendorff_alpha > .7")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: a requirement is [drop of] NAME >= NUMBER [where ...
    """
    written = " ".join(text.split())
    if percent := re.search(r"([<>\u2265\u2264]=? ?)(\d*\.?\d+) ?%", written):
        meant = f"{percent[1]}{float(percent[2]) / 100:g}"
        raise SweepError(
            "the limit of a requirement is a number, not a percentage",
            where={"require": text}, hint=f"{written.replace(percent[0], meant)!r}",
        )  # fmt: skip
    found = _PATTERN.fullmatch(written)
    if found is None:
        meant = _MEANT.sub(lambda one: f"{one[1] or one[2] or one[3]}=", written, count=1)
        hint = meant if meant != written and _PATTERN.fullmatch(meant) else ALPHA
        raise SweepError(f"a requirement is {FORM} (or <=), got {text!r}", hint=repr(hint))
    name = found["name"].strip()
    if name in SHORT_FOR:
        return requirement(written[: found.start("name")] + SHORT_FOR[name]
                           + written[found.end("name") :])  # fmt: skip
    try:
        limit = float(found["limit"])
    except ValueError:
        limit = float("nan")
    if not abs(limit) < float("inf"):
        raise SweepError(
            f"the limit of a requirement must be a finite number, got {found['limit']!r}",
            where={"require": written},
        )
    if (found["drop"] is None) is not (found["against"] is None):
        raise SweepError(
            "a drop needs a baseline, and a baseline a drop",
            where={"require": written},
            hint=f"'drop of {found['name']} <= .02 against FILE'",
        )
    of_a_drop, at_most = found["drop"] is not None, found["sign"] in ("<=", "\u2264")
    if of_a_drop:
        _check_loss(found["name"], at_most, limit, written)
    _check_possible(found["name"].strip(), limit, written, of_a_drop=of_a_drop)
    return Requirement(
        text=written,
        name=found["name"].strip(),
        limit=limit,
        at_most=at_most,
        against=found["against"],
        where=_requirement_columns(found["where"], written),
    )


def _check_possible(name: str, limit: float, written: str, *, of_a_drop: bool) -> None:
    """Refuse a limit that no value is beyond: the gate would pass, or fail, whatever comes."""
    if name == "standard_error":  # in points of its scale
        return
    least, most = possible_values(name)
    if of_a_drop:
        least, most = least - most, most - least
    if not least <= limit <= most:
        bound = f"at most {most:g}" if limit > most else f"at least {least:g}"
        what = f"a drop of {name}" if of_a_drop else name
        raise SweepError(
            f"the limit of {what} must be {bound}, which is all it can be, got {limit:g}",
            where={"require": written},
            hint=f"{limit / 100:g}, if {limit:g} % was meant",
        )


def _check_loss(name: str, at_most: bool, limit: float, written: str) -> None:
    """Refuse a drop that a worse judge meets (SweepError)."""
    if name in LESS_IS_BETTER and at_most:
        raise SweepError(
            f"less {name} is better, so its drop is a gain, and any rise of it would pass",
            where={"require": written},
            hint=f"'drop of {name} >= {-abs(limit):g} against FILE' lets it rise by {abs(limit):g}",
        )
    if name not in (*LESS_IS_BETTER, *_NEITHER) and not at_most:
        raise SweepError(
            f"a drop of {name} of at least {limit:g} is a loss, which no gate requires",
            where={"require": written},
            hint=f"'drop of {name} <= {limit:g} against FILE'",
        )


def _requirement_columns(text: str | None, written: str) -> dict[str, str]:
    """Columns and their values."""
    found: dict[str, str] = {}
    # A comma ends a value only before the next COL=: names of judges may hold commas.
    for part in re.split(r",(?=\s*[^\s,=]+\s*=)", text) if text else ():
        name, sign, value = (one.strip() for one in part.partition("="))
        if not (name and sign and value) or name in found:
            raise SweepError(
                f"where is written COL=VALUE, got {part.strip()!r}", where={"require": written}
            )
        found[name] = value
    return found


def _check_names(asked: Sequence[Requirement]) -> None:
    """Refuse coefficients that no gate judges."""
    for one in asked:
        if one.coefficient in NOT_GATED or one.coefficient.startswith("serving_"):
            raise SweepError(
                f"{one.coefficient} is not gated: it has intervals of its own, or none",
                where={"require": one.text},
                hint="judgerel reduce --tolerance",
            )
        if one.against and one.coefficient in OF_GOLD and one.name != OF_A_DROP:
            raise SweepError(
                f"a drop of {one.name} is not computed",
                where={"require": one.text},
                hint=f"a drop of {OF_A_DROP}, or of agreement",
            )


def requirements(texts: Sequence[str], rules: str | None) -> tuple[Requirement, ...]:
    """Read all requirements: those given, then those of the table ``[gate]`` of a file of rules.

    Without either there is none: :func:`default_requirements` then hold.

    Effects: reads the file. Retry: safe.

    Examples
    --------
    >>> [one.name for one in requirements(["valid_rate >= .95", "flip_rate <= .1"], None)]
    ['valid_rate', 'flip_rate']
    """
    written = [*texts, *([] if rules is None else _requirements_of_file(rules))]
    found = tuple(requirement(text) for text in written)
    if not found and rules is not None:
        raise SweepError("[gate] requires nothing", where={"rules": rules})
    # What somebody wrote into a file asks no server; who names an address in the call does.
    if of_the_web := [one for one in found[len(texts) :] if is_of_the_web(one.against or "")]:
        raise SweepError(
            f"rules fetch nothing from the web: {of_the_web[0].text}",
            where={"rules": rules},
            hint="download it and name the copy, or give this requirement by --require",
        )
    names = [one.text for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SweepError(f"a requirement is given twice: {twice!r}", hint="leave one out")
    _check_names(found)
    return found


def default_requirements(tolerance: Mapping[str, float]) -> tuple[Requirement, ...]:
    """Give what must be met where nothing is required: `DEFAULTS`, and a sweep's own tolerances.

    Examples
    --------
    >>> [one.text for one in default_requirements({"flip_rate": 0.1, "krippendorff_alpha": 0.8})]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['krippendorff_alpha >= 0.8', 'valid_rate >= .9', 'swap_consistency >= .75', 'accuracy >= .8',
     'cohen_kappa >= .7', 'flip_rate <= 0.1']
    """
    stated = {name: value for name, value in tolerance.items() if name not in NOT_GATED}
    texts = [f"{name} {'<=' if name in AT_MOST else '>='} {stated[name]:g}" for name in stated]
    asked: dict[str, Requirement] = {}
    for text in (*DEFAULTS, *texts):
        one = requirement(text)
        asked[one.name] = one
    return tuple(asked.values())


def _requirements_of_file(rules: str) -> list[str]:
    """The requirements of a TOML file."""
    import tomllib

    where, form = {"rules": rules}, "gate.require = ['krippendorff_alpha >= .7']"
    try:
        content = tomllib.loads(read_regular(rules).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SweepError(f"--rules cannot be read: {error}", where=where) from error
    table = content.get("gate")
    if not isinstance(table, dict):
        raise SweepError("--rules has no table [gate]", where=where, hint=form)
    if unknown := set(table) - {"require"}:
        raise SweepError(
            f"[gate] has the key require alone, got {', '.join(sorted(unknown))}", where=where
        )
    found = table.get("require")
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise SweepError("[gate] require must be a list of texts", where=where, hint=form)
    return found
