"""Numbers and reasons as a reader meets them: rounded here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from judgerel_ray.core import printable
from judgerel_ray.core.codes import Flag, IntervalMethod, Noted, NullMethod, no_interval_words

if TYPE_CHECKING:
    import polars as pl

NOISE = "not distinguishable from noise"
_EXTENDED = "extended to the value"
FEW_INFORMATIVE = Flag.FEW_INFORMATIVE.words()
GREEDY = (Flag.SERVING_NOISE.words(), Flag.GREEDY_LEFT_OUT.words())
_OF_INTERVALS = (Flag.FEW_INFORMATIVE, Flag.CARRIED_BY_FEW, Flag.BIASED)
_DRAWN_OUT = (
    IntervalMethod.POSTERIOR_EXTENDED, IntervalMethod.POSTERIOR_WITH_0_EXTENDED,
    IntervalMethod.JACKKNIFE_LESS_BIAS_EXTENDED,
)  # fmt: skip
_OF_PLACES = (NullMethod.PLACE_PERMUTATIONS, NullMethod.PLACES_CLOSED_FORM, NullMethod.PLACES_ALIKE)
_UNMARKED = (
    Flag.NO_REPEATS, Flag.IN_BLOCKS, Flag.RESAMPLES_UNDEFINED, Flag.PERMUTATIONS_UNDEFINED,
    Flag.SOME_WITHOUT,
)  # fmt: skip
"""What is said elsewhere, or tells no more than how a number was made."""
_MISSING = {
    "category": "counts as a verdict",
    "drop": "left out",
    "bounds": "worst to best case",
}
UNASKED = (
    "Reproducibility is unknown: only the same prompt was asked again, so a judge that goes by the "
    "position of an option or by the wording agrees with itself all the same. To learn it, ask "
    "again in another wording (a sweep: two templates; a file: a column template) or with the "
    "options in another order (option_orders = 2; a column option_order)."
)
CONFOUNDED = (
    "The judge's own repeatability is unknown: its repeats judge other answers, so its variance "
    "and that of the answers are together. To part them, keep the answers (judgerel items log) and "
    "ask the judge about each again."
)
_NAMES = {
    "krippendorff_alpha": "Krippendorff's alpha",
    "cronbach_alpha": "Cronbach's alpha",
    "mcdonald_omega": "McDonald's omega",
    "omega_hierarchical": "hierarchical omega",
    "icc1": "ICC(1)",
    "icck": "ICC(k)",
    "percent_agreement": "agreement",
    "cohen_kappa": "Cohen's kappa",
    "people_kappa": "Cohen's kappa of people",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan-Prediger",
    "flip_rate": "flip rate",
    "standard_error": "standard error of one rating",
    "valid_rate": "valid verdicts",
}

_REASONS = {
    "single replication": "every question was asked once, so nothing shows how stable the verdicts "
    "are; ask again with more replications",
    "no baseline": "the baseline has no judgments of this group, so nothing tells of a drop",
    "never given": "no reply of this group names this verdict, so nothing tells of agreement on it",
    "verdict names unknown": "several orders of the options, and nothing says whether a verdict "
    "names an option or the place where it stood: --verdict-names option or --verdict-names place "
    "says it, or a column label with the place",
    "first place unknown": "no label says which place comes first",
    "few verdicts": "fewer than half of the replies hold a verdict, so most pairs of replies "
    "compare none: no agreement leads",
    "facets not crossed": "no item has verdicts at two levels of what should not matter (two "
    "orders of its options, two templates); ask each item at both",
    "repeats on one side": "one side was asked the same prompt again and the other was not, so "
    "their judgments are not compared alike; ask both as often",
    "levels unequal": "levels were asked unequally often, and it takes judgments in equal numbers",
    "no verdicts": "no reply held a verdict",
    "score not computed": "no judgment has this score: its mode has no assessments read apart, or "
    "the run holds nothing to make it of",
    "no variance": "every verdict is the same one: with nothing to tell apart, agreement beyond "
    "chance has no meaning",
    "no total variance": "the sums over items are all the same",
    "no scores": "verdicts are names here, and this coefficient needs numbers, in the column score",
    "category needs nominal": "a reply without a verdict has no place on a scale of numbers: see "
    "the rows with those replies left out",
    "too few units": "too few questions have two verdicts to compare",
    "too few replications": "no question was asked often enough for it",
    "too few items": "it takes more distinct items that vary: two at least, six for hierarchical "
    "omega with its three group factors",
    "too few subjects": "it takes more questions than there are",
    "too few factors": "the items do not bear as many factors",
    "not converged": "the fit did not settle",
    "singular": "some items are sums of others: maximum likelihood has no answer",
    "non positive covariances": "the items do not go together: their covariances sum to 0 or less",
    "non positive total": "the items cancel out: their sum has no variance to speak of",
    FEW_INFORMATIVE: "fewer than 10 questions show any disagreement (or any "
    "agreement), or fewer than 5 go another way than most: one question can move this interval",
    _EXTENDED: "the interval made by this method does not hold the value, and was drawn out to it: "
    "it ends at the value because so few questions say little, and not because no more is possible",
    Flag.BIASED.words(): "with so few questions or replications the value itself is off by more "
    "than a quarter of its standard error: ask more",
    GREEDY[0]: "temperature 0 is greedy: asked again, it shows how steady the server is, not how "
    "far the judge's verdicts vary",
    "no common subjects": "two of the items share fewer than two questions on which both vary",
}

_FACETS = {
    "option_order": "the order of the options",
    "template": "the template of the prompt",
    "definition": "the definition of the criterion",
}
Row = Mapping[str, object]


def number(value: object, digits: int = 3) -> str:
    """Round a number; a dash where there is none."""
    # Rounded twice: the order in which rows are summed moves the last bits, and half a step up or
    # down must not turn on them. Adding 0 makes a rounded -0 a 0.
    if not isinstance(value, int | float):
        return "-"
    return f"{round(round(value, 12), digits) + 0:.{digits}f}"


def percent(value: object) -> str:
    """Round a share to whole percent, keeping what is not quite nothing or all apart from it.

    Examples
    --------
    >>> percent(0.6469), percent(0.9996), percent(1.0)
    ('65 %', '> 99 %', '100 %')
    """
    if not isinstance(value, (int, float)):
        return "-"
    if 0 < value < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= value < 1 else f"{number(100 * value, 0)} %"


def share_with_ends(row: Row) -> str:
    """Write a share with its interval, in percent.

    Examples
    --------
    >>> share_with_ends({"value": 0.5, "low": 0.361, "high": 0.64})
    '50 % (36-64 %)'
    """
    if row["low"] is None:
        return percent(row["value"])
    low, high = percent(row["low"]).removesuffix(" %"), percent(row["high"])
    to = " to " if low.startswith("<") or high.startswith(">") else "-"
    return f"{percent(row['value'])} ({low}{to}{high})"


def p_value(p: object) -> str:
    """Write a p value, never as nothing."""
    return "< 0.001" if isinstance(p, int | float) and p < 0.0005 else number(p)


def times(n: object) -> str:
    """Say how often."""
    return "once" if n == 1 else f"{n:,} times"


def replication_words(row: Row) -> str:
    """Say how often a question was asked, at most, and with what where its unit is finer."""
    often = times(row["n_replications"])
    most = often if row["n_replications"] == 1 else f"up to {often}"
    # The benchmark tells questions apart: every one is of one.
    finer = [name for name in str(row["unit"]).split(" x ") if name not in ("item_id", "benchmark")]
    return f"each {most}{' per ' * bool(finer)}{' and '.join(map(_spoken_table_column, finer))}"


def percent_interval(low: object, high: object) -> str:
    """Write the interval of a share in percent; nothing where there is none."""
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return ""
    return f"[{number(100 * low, 0)}, {number(100 * high, 0)}]"


def interval(row: Row) -> str:
    """Write the interval of a coefficient; nothing where there is none."""
    return "" if row["low"] is None else f"[{number(row['low'])}, {number(row['high'])}]"


def estimate(row: Row) -> str:
    """Give a coefficient with its interval, or the reason why there is none."""
    ends = interval(row)
    if row["value"] is None and ends:
        return ends
    if row["undefined"]:
        return f"undefined: {reason(row['undefined'])}"
    return f"{number(row['value'])} {ends or '[no interval]'}"


def short_estimate(row: Row | None) -> str:
    """Give a coefficient with its interval, or why there is none, as a narrow cell holds it."""
    return estimate(row).replace("undefined: ", "none: ") if row else "-"


def reason(undefined: object) -> str:
    """Write a reason in words."""
    return str(undefined).replace("_", " ")


def explanation(text: str) -> str:
    """Say what a reason or remark means, where it needs saying."""
    meaning = _REASONS.get(text)
    return f"{text}: {meaning}" if meaning else text


def noted(row: Row) -> list[Noted]:
    """List the flags of a row, each with its numbers."""
    flags, numbers = (
        cast(Sequence[Any], row.get(name) or ()) for name in ("flags", "flag_numbers")
    )
    return [(Flag(code), tuple(values)) for code, values in zip(flags, numbers, strict=True)]


def flag_words(row: Row, *wanted: Flag) -> list[str]:
    """Say what weakens a number: of the flags wanted, or of all.

    Of a comparison, ``flag_sides`` names the side that a flag is of.
    """
    found = noted(row)
    sides = cast(Sequence[Any], row.get("flag_sides") or [None] * len(found))
    return [
        flag.words(numbers) + (f" ({row[side]})" if side else "")
        for (flag, numbers), side in zip(found, sides, strict=True)
        if not wanted or flag in wanted
    ]


def _no_interval_cell_words(row: Row) -> str:
    """Why a row has no interval; nothing where it has one."""
    code = row.get("no_interval")
    n = row.get("n_missing" if row.get("missing") == "bounds" else "n_compared") or 0
    level = str(row.get("measurement") or "nominal")
    return no_interval_words(str(code), n=cast(int, n), level=level) if code else ""


def estimator_parts(row: Row) -> list[str]:
    """Say how a number was made, by its codes: estimate, interval, floor, and what weakens it."""
    parts = [str(row.get("statistic") or ""), _no_interval_cell_words(row)]
    if code := row.get("interval_method"):
        method, n = IntervalMethod(str(code)), row.get("n_compared") or row.get("n_replications")
        resamples = cast(int, row.get("n_resamples") or 0)
        parts.append(method.words(n=cast(int, n), n_resamples=resamples))
    parts += flag_words(row, *_OF_INTERVALS)
    if code := row.get("null_method"):
        n = cast(int, row.get("n_permutations") or 0)
        null = NullMethod(str(code))
        what = "p" if null in _OF_PLACES else "floor"  # of places the floor is 0
        parts.append(f"{what} of {null.words(n=n)}")
    parts += flag_words(row, *(flag for flag in Flag if flag not in _OF_INTERVALS))
    return [part for part in parts if part]


def estimator_words(row: Row) -> str:
    """Write the column ``estimator``, which no room reads."""
    return "; ".join(estimator_parts(row))


def remark(row: Row) -> str:
    """Say what a reader must know about a coefficient besides its value."""
    return "; ".join(remarks(row))


def remarks(row: Row) -> list[str]:
    """List what a reader must know about a coefficient, or a comparison, besides its value."""
    texts = [NOISE] if row.get("noise") else []
    why = reason(row["reason"]) if row.get("reason") else None
    why = "no value, or no test of it" if why == "undefined" else why
    texts += [f"undecided: {why}"] if why else []
    # Why there is no value is said where the value would be.
    if row.get("no_interval") and row["no_interval"] != row.get("undefined"):
        texts.append(_no_interval_cell_words(row))
    marked = flag_words(row, *(flag for flag in Flag if flag not in _UNMARKED))
    texts += [text for text in marked if text != why]
    return texts + [_EXTENDED] * (row.get("interval_method") in _DRAWN_OUT)


def coefficient_name(row: Row) -> str:
    """Name a coefficient, with its level where that is not nominal."""
    plain, _, of = str(row["coefficient"]).partition(":")
    if plain == "class_agreement" and of:
        return f"agreement on {of}"
    name = _NAMES.get(plain, reason(row["coefficient"]))
    level = row["measurement"]
    return name if level in (None, "nominal") else f"{name} ({level})"


def missing_policy(row: Row) -> str:
    """Say what a reply without a verdict counted as."""
    if row["coefficient"] == "valid_rate":
        return "-"
    return _MISSING.get(str(row["missing"]), "-")


def conditions(row: Row, repeated: Row | None = None) -> str:
    """Say under which conditions two judgments of a row are compared.

    `repeated` is the row of the same coefficient for the same prompt again.
    """
    if row.get("conditions") == "reproducibility":
        facets = [_FACETS.get(name, reason(name)) for name in nuisance(row, repeated)]
        drawn = " and ".join(facets) or "what should not matter"
        if Flag.NO_REPEATS in cast(Sequence[str], row.get("flags") or ()):
            return f"{drawn} another one (reproducibility; no prompt was asked twice)"
        return f"{drawn} drawn at random (reproducibility)"
    if not row.get("conditions"):
        return ""
    if judges_other_answers(row):
        return "the same question again, with other answers (the judge's and the answers' variance)"
    return "the same prompt again (repeatability)"


def judges_other_answers(row: Row) -> bool:
    """Tell a row whose repeats judge other answers, too."""
    return Flag.OTHER_ANSWERS in cast(Sequence[str], row.get("flags") or ())


def nuisance(row: Row, repeated: Row | None) -> list[str]:
    """Name the facets that a row of reproducibility draws at random."""
    if repeated is None:
        return []
    held = str(row["unit"]).split(" x ")
    return [name for name in str(repeated["unit"]).split(" x ") if name not in held]


def group_columns(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Name the columns that make a group: those before the coefficient."""
    names = coefficients.columns
    return tuple(names[: names.index("coefficient")])


def rows_by_group(
    frame: pl.DataFrame, columns: Sequence[str]
) -> dict[tuple[object, ...], list[Row]]:
    """Gather rows by their values of some columns, in the order in which they come."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in frame.iter_rows(named=True):
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    return groups


def group_label(row: Row, columns: Sequence[str]) -> str:
    """Name a group by its values, those that have none left out; but what is of no judge is said.

    Examples
    --------
    >>> group_label({"judge": None, "scale": None}, ["judge", "scale"])
    'judge not given'
    >>> group_label({"scale": None, "criterion": None}, ["scale", "criterion"])
    'scale and criterion not given'

    >>> group_label({"judge": "a", "scale": None, "temperature": 1.0}, ["judge", "scale",
    ...                                                                 "temperature"])
    'a, temperature 1'
    """
    parts = [
        cell(row[name])
        if isinstance(row[name], str)
        else f"{_spoken_table_column(name)} {cell(row[name])}"
        for name in columns
        if row[name] is not None
    ]
    # A block without a heading reads as of all.
    lacking = [name for name in columns if row[name] is None and (name == "judge" or not parts)]
    if "judge" in lacking:
        lacking = ["judge"]
    if lacking:
        parts.insert(0, f"{' and '.join(map(_spoken_table_column, lacking))} not given")
    return ", ".join(parts)


def telling_columns(keys: Sequence[Mapping[str, object]]) -> list[str]:
    """Name the columns by which groups differ, without those that the others imply.

    That is the judge's where there is one group.
    """
    kept = [name for name in keys[0] if len({key[name] for key in keys}) > 1]
    for name in [*kept]:
        rest = [one for one in kept if one != name]
        if name != "judge" and len({tuple(key[one] for one in rest) for key in keys}) == len(keys):
            kept = rest
    return kept or [name for name in keys[0] if name == "judge" and keys[0][name] is not None]


def _spoken_table_column(column: str) -> str:
    """A column's name as it is said."""
    return column.replace("_", " ")


def cell(value: object) -> str:
    """Write the value of a group's column."""
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else printable(str(value))


def ends_of(row: Row, name: str) -> str:
    """Write the interval of a number of one name."""
    return interval({"low": row[f"{name}_low"], "high": row[f"{name}_high"]})


def unit_words(row: Row) -> str:
    """Name the unit of a cost."""
    unit = row.get("cost_unit", row.get("unit"))
    return f"{'money' if unit == 'cost' else unit} a question"


def costing(value: object) -> str:
    """Write a cost.

    Examples
    --------
    >>> costing(0.000213), costing(1234.5), costing(None)
    ('0.000213', '1,234', '-')
    """
    if not isinstance(value, int | float):
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def numbers(row: Row) -> list[str]:
    """Write a value and its interval, or the reason why there is none."""
    value, low, high = row["value"], row["low"], row["high"]
    if not isinstance(value, float):
        return [f"- ({row['undefined']})" if row["undefined"] else "-", ""]
    if isinstance(low, float) and isinstance(high, float):
        return [f"{value:.3f}", f"[{low:.3f}, {high:.3f}]"]
    return [f"{value:.3f}", ""]
