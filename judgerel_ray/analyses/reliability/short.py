"""The short answer of ``reduce``: one table with a row a judge, what to distrust, what to do next.

It fits one screen. What was left out of it is in ``--full``, what its words mean in ``--explain``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from judgerel_ray.analyses.reliability.headlines import FEW_QUESTIONS
from judgerel_ray.analyses.reliability.short_tables import (
    MOST_TABLE_ROWS,
    ShownGroup,
    grouped,
    reliability_tables,
    right_table,
    subject_of_group,
    with_short_judges,
    wrapped_line,
)
from judgerel_ray.blocks.blocks import Block, Laid, Lines
from judgerel_ray.blocks.columns import WIDTH
from judgerel_ray.blocks.short import Remark, finding_lines
from judgerel_ray.blocks.short import named as named_groups
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    cell,
    coefficient_name,
    conditions,
    group_columns,
    noted,
    nuisance,
    number,
    percent,
    reason,
    share_with_ends,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag, no_interval_words
from judgerel_ray.counting.outcomes import failed_by_group, failures_in_words
from judgerel_ray.measuring.lead_codes import Lead, LeadCode, lead_parts, of_ratings, spans_prompts
from judgerel_ray.measuring.reliability import Reduced

LINES, LABEL_LINES = 14, 4
"""Lines of the short answer for two judges, and those more that labels take; of more judges as many
more as there are rows."""
_LEAST_ROOM = 5  # lines of remarks, however many rows the tables have
FOLLOWING = ("gate", "reduce", "doctor", "questions", "agree")
"""Verbs that may be the next step."""
FEW = "few questions decide (under 10)"
_PLURALS = {"benchmark": "benchmarks", "criterion": "criteria"}

Command = Callable[[str], str | None]
"""From the name of a verb to the command that does it on the same judgments; None of a frame."""


def reduced_blocks(found: Reduced, *, named: bool, standing: str, command: Command) -> list[Block]:
    """Lay the short answer out.

    `named` tells whether coefficients were chosen: they are the table's rows then. `standing` is
    how coefficients stand to tolerances, as text.
    """
    groups: Sequence[ShownGroup] = grouped(found.coefficients, named=named)
    if not groups:  # serving noise alone
        return []
    varying = [name for name in groups[0].key if len({one.key[name] for one in groups}) > 1]
    scope = "\n".join(wrapped_line(scope_line(groups, varying)))
    groups, short = with_short_judges(groups, named=named)
    labels = right_table(groups)
    table = "\n\n".join(text for _, text in reliability_tables(groups, named=named))
    step = following_step(groups, command)
    n_lines = scope.count("\n") + table.count("\n") + 4 + len(step)
    room = LINES + (LABEL_LINES if labels else 0) + max(0, len(groups) - 2) - n_lines
    if named or len(groups) > 2:
        room = max(_LEAST_ROOM, room) if not named else MOST_TABLE_ROWS
    findings = [*requests_findings(found, groups), *findings_of(groups)]
    findings = [replace(one, who=short.get(one.who, one.who)) for one in findings]
    below = "\n".join([*lines_of(findings, room), *step])
    text = "\n\n".join(filter(None, [scope, table, below]))
    return [Laid(text), *([Laid(standing)] if standing else [])]


def scope_line(groups: Sequence[ShownGroup], varying: Sequence[str]) -> str:
    """Say what was asked, of how many, and how often."""
    parts = []
    for name in varying:
        n = len({group.rows[0][name] for group in groups})
        words = name.replace("_", " ")
        parts += [f"{n:,} {_PLURALS.get(name, f'{words}s')}"] if n > 1 else []
    first = [group.rows[0] for group in groups]
    items = {cast(int, row["n_items"]) for row in first}
    each = " each" if len(groups) > 1 else ""
    most = f"{min(items):,} to " if len(items) > 1 else ""
    parts.append(f"{most}{count_of(max(items), 'question')}{each}")
    parts += (
        dict.fromkeys(_replies_each(group) for group in groups)
        if _questions_repeated_alike(groups)
        else []
    )
    n_replies = sum(cast(int, row["n_judgments"]) for row in first)
    return f"{', '.join(parts)}: {count_of(n_replies, 'reply', 'replies')}"


def _questions_repeated_alike(groups: Sequence[ShownGroup]) -> bool:
    return len({_replies_each(group) for group in groups}) == 1


def _replies_each(group: ShownGroup) -> str:
    """How often a question was asked: in how many orders or wordings, and each how often."""
    row, again = group.row("krippendorff_alpha") or group.rows[0], group.again
    n, items = cast(int, row["n_replications"]), cast(int, row["n_items"])
    answers, left = divmod(cast(int, row["n_judgments"]), max(1, items * n))
    if not left and answers > 1:  # to several things that were asked about, such as answers
        return f"{answers * n:,} replies each"
    replies = f"{'up to ' * (left > 0)}{n:,} replies each"
    if again is None:
        return "asked once" if n == 1 else replies
    facets, repeats = nuisance(row, again), cast(int, again["n_replications"])
    levels, rest = divmod(n, repeats)
    if rest or not facets:
        return replies
    what = f"{facets[0].replace('_', ' ')}s" if len(facets) == 1 else "prompts each"
    return f"{levels:,} {what}, {count_of(repeats, 'repeat')}"


_MEANINGS = {
    "alpha": "Krippendorff's alpha: 1 where the judge always gives a question the same verdict, 0 "
    "where it does as often as its own verdicts, shuffled across the questions, would. Where "
    "several orders or wordings were asked, those of two judgments are drawn at random: not every "
    "pair weighs the same. [95 %]: the interval over questions.",
    "shuffled": "what alpha comes out as, on average, when the verdicts are shuffled across the "
    "questions (the noise floor). Not distinguishable from noise: over 5 % of shuffles come as far "
    "from it as the judge did.",
    "same prompt": "alpha of asking the same prompt again, which hides bias to a position or a "
    "wording.",
    "agreement": "how often two judgments of a question have the same verdict, drawn as those of "
    "alpha; high by chance where one verdict dominates.",
    "error in points": "standard error of one rating, in points of the scale.",
    "valid": "share of replies that hold a verdict.",
    "accuracy": "share of replies that are the right verdict, by question.",
    "kappa with labels": "Cohen's kappa of judge and labels, weighted where verdicts are ratings: "
    "1 where they always agree, 0 where they agree as often as labels shuffled across the "
    "questions would, which is what stands under by chance.",
    FEW: "fewer than 10 questions show any disagreement, or any agreement, or fewer than 5 go "
    "another way than most: one question can move the interval.",
}


def legend_blocks(found: Reduced) -> list[Block]:
    """Say what the words of the short answer mean, those that stand in it."""
    groups = grouped(found.coefficients)
    few = any(Flag.FEW_INFORMATIVE in dict(noted(row)) for one in groups for row in one.shown)
    absent = {
        "same prompt": not any(group.again for group in groups),
        "agreement": all(group.of_ratings for group in groups),
        "error in points": not any(group.of_ratings for group in groups),
        "accuracy": not any(group.row("accuracy") for group in groups),
        "kappa with labels": not any(group.row("cohen_kappa") for group in groups),
        FEW: not few,
    }
    return [Lines([f"{name}: {text}" for name, text in _MEANINGS.items() if not absent.get(name)])]


def _reliability_has_labels(group: ShownGroup) -> bool:
    """Tell a group that was held against what people say is right."""
    kappa = group.row("cohen_kappa") or group.row("accuracy")
    return kappa is not None and kappa["value"] is not None


def following_step(groups: Sequence[ShownGroup], command: Command) -> list[str]:
    """Say what to do next, with the command that does it."""
    codes = {group.lead.code for group in groups if group.lead}
    name, what, more = "gate", "check what was measured against the usual limits", [""]
    if LeadCode.NAMES_UNKNOWN in codes:
        name, what = "reduce", "say what a verdict names, the option or the place where it stood"
        more = [" --verdict-names option", " --verdict-names place"]
    elif codes and codes <= {LeadCode.UNDEFINED, LeadCode.FEW_VERDICTS}:
        name, what = "doctor", "see what these judgments support"
        if LeadCode.UNDEFINED in codes and any(map(_reliability_has_labels, groups)):
            name, what = "agree", "see where judges and labels differ"
    bad = [group.label for group in groups if is_unusable(group)]
    if name == "gate" and len(bad) == len(groups):
        name, what = "questions", "see on which questions it disagrees with itself"
        if len(bad) > 1:
            what = "rely on none of them; see on which questions each disagrees with itself"
    elif name == "gate" and bad:
        less = f"leave out {named_groups(whole_judges(bad, groups))}; {what}"
        what = less if len(less) < WIDTH else f"leave out what the remarks name; {what}"
    line = command(name)
    if line is None:
        return []
    return [*wrapped_line(f"Next: {what}:"), *(f"  {line}{one}" for one in more)]


def requests_findings(found: Reduced, groups: Sequence[ShownGroup]) -> Iterator[Remark]:
    """What kept requests from being replies, and the serving's own noise."""
    names = group_columns(found.coefficients)
    by_group = {} if found.failures is None else failed_by_group(found.failures, names)
    for group in groups:
        reasons = by_group.get(tuple(cell(group.rows[0][name]) for name in names))
        if reasons:
            yield Remark(severity=2, who=group.label, text=f"{failures_in_words(reasons)}")
    if found.serving is None or "coefficient" not in found.serving.columns:
        return
    columns = group_columns(found.serving)
    varying = [name for name in columns if name != "temperature"]
    for row in found.serving.iter_rows(named=True):
        if row["coefficient"] == "serving_noise" and row["value"]:
            text = (
                f"serving noise: two replies to one prompt at temperature 0 differ "
                f"{share_with_ends(row)} of the time"
            )
            yield Remark(severity=4, who=subject_of_group(row, varying), text=text)


def findings_of(groups: Sequence[ShownGroup]) -> list[Remark]:
    """What to distrust in every group, and of one or two judges what is sound.

    What is true of all groups alike is said of none by name, what is true of all of a judge's of
    the judge; of more than two groups without figures, so that it can be one sentence.
    """
    found = []
    for group in groups:
        code, parts = "", [(severity, text, text) for severity, text in _reliability_doubts(group)]
        if group.lead is not None:
            code = group.lead.code.value
            severity, text = _lead_words(group, group.lead)
            if len(groups) > _PAIR:
                text = _IN_BRIEF.get(group.lead.code, text)
                if group.lead.code is LeadCode.FOLLOWS_PLACE and group.again:
                    text += "; repeats of the same prompt hide this"
            parts = [(severity, text, code), *parts]
        found += [
            Remark(severity=severity, who=group.label, text=text, kind=kind)
            for severity, text, kind in dict.fromkeys(parts)
            if severity < _SOUND or len(groups) <= _PAIR
        ]
    n_groups = Counter((one.severity, one.text) for one in found)
    return [
        replace(one, who="") if n_groups[one.severity, one.text] == len(groups) else one
        for one in by_judge(found, groups)
    ]


_IN_BRIEF = {
    LeadCode.FEW_VERDICTS: "fewer than half of the replies hold a verdict",
    LeadCode.ONE_ANSWER: "one answer whatever the question is: agreement says nothing",
    LeadCode.ONE_PLACE: "one place whatever the options are: agreement says nothing",
    LeadCode.NAMES_UNKNOWN: "whether a verdict names an option or a place is not known, so "
    "position bias is not either",
    LeadCode.FOLLOWS_PLACE: "position decides: with the order changed the same place is named more "
    "surely than the same option",
}

_BY_CODE: Mapping[str, str] = {code.value: text for code, text in _IN_BRIEF.items()}


def whole_judges(labels: Sequence[str], groups: Sequence[ShownGroup]) -> list[str]:
    """Name a judge once where all of its groups are named, unless every group there is is."""
    of_judge: dict[str, list[str]] = {}
    for group in groups:
        if group.key.get("judge") is not None:
            of_judge.setdefault(cell(group.key["judge"]), []).append(group.label)
    if len(set(labels)) < len(groups):
        for judge, members in of_judge.items():
            if len(members) > 1 and set(members) <= set(labels):
                labels = [judge if label in members else label for label in labels]
    return [*dict.fromkeys(labels)]


def by_judge(remarks: Sequence[Remark], groups: Sequence[ShownGroup]) -> list[Remark]:
    """Put what is true of all groups of a judge as one remark on the judge."""
    alike: dict[tuple[int, str, str], list[str]] = {}
    for one in remarks:
        alike.setdefault((one.severity, one.text, one.kind), []).append(one.who)
    return [
        Remark(severity=severity, text=text, kind=kind, who=who)
        for (severity, text, kind), labels in alike.items()
        for who in whole_judges(labels, groups)
    ]


_SOUND = 9  # from here on a finding is no reason to distrust
_PAIR = 2


def _lead_words(group: ShownGroup, first: Lead) -> tuple[int, str]:
    """What leads a group in a line or two, and how harmful it is."""
    row, replies = first.row, first.replies
    match first.code:
        case LeadCode.FEW_VERDICTS:
            n, of = (replies.n_valid, replies.n_replies) if replies else (0, 0)
            held = f"{n:,} of {of:,} replies ({percent(n / of)})" if of else "too few replies"
            return 0, f"only {held} hold a verdict: too few to report agreement"
        case LeadCode.ONE_ANSWER | LeadCode.ONE_PLACE:
            place = first.code is LeadCode.ONE_PLACE
            always = f"names the place {first.answer}" if place else f"answers {first.answer}"
            asked = "options are" if place else "question is"
            return 0, f"{always} whatever the {asked}: agreement says nothing"
        case LeadCode.NAMES_UNKNOWN:
            again = first.repeated
            steady = f"; the same prompt again: {share_with_ends(again)} agreement" if again else ""
            return 0, (
                f"whether a verdict names an option or a place is not known, so "
                f"position bias is not either{steady}"
            )
        case LeadCode.FOLLOWS_PLACE if first.place and first.option:
            again = group.again
            hidden = f". Repeats hide this: {number(again['value'])}" if again else ""
            return 1, (
                "goes by position; with the order changed it names the same place "
                f"{share_with_ends(first.place)} of the time, the same option "
                f"{share_with_ends(first.option)}{hidden}"
            )
        case LeadCode.NOISE:
            return 1, f"{NOISE}"
        case LeadCode.BELOW_CHANCE:
            return 1, "disagrees with itself more than chance would"
        case LeadCode.UNDEFINED:
            return 2, f"no agreement: {_why_repeats_give_none(row)}"
    return _SOUND, _sound_reliability_line(group, row)


def _why_repeats_give_none(row: Row | None) -> str:
    """Why there is no number."""
    code = (row or {}).get("undefined")
    if code == "single_replication":
        return "every question was asked once, so nothing shows how stable its verdicts are"
    return reason(code)


def _sound_reliability_line(group: ShownGroup, row: Row | None) -> str:
    """What a judge that is not to be distrusted does, in a line."""
    option, leaning = group.row("swap_consistency"), group.row("position_bias")
    classes = group.classes
    if row is not None and row["coefficient"] == "standard_error":
        return f"one rating has a standard error of {number(row['value'])} points"
    if option is not None and option["value"] is not None:
        text = f"keeps its option {share_with_ends(option)} of the time when the order changes"
        first = group.row("first_place")
        if leaning and leaning["value"] and not leaning["noise"] and first:
            text += f"; it names the first place {share_with_ends(first)}"
        return text
    if classes and all(one["value"] is not None for one in classes):
        shares = " and ".join(
            f"{lead_parts(one['coefficient'])[1]} {share_with_ends(one)}" for one in classes
        )
        return f"asked again, repeats {shares} of the time"
    if row is None or row["value"] is None:
        return "none of the coefficients asked for leads"
    asked = conditions(row, group.again).partition(" (")[0]
    return f"gives the same verdict {share_with_ends(row)} of the time, {asked}"


_NO_ALPHA = {
    "no_variance": "every verdict is the same one",
    "too_few_units": "too few questions have two verdicts to compare",
}
_IN_LEAD = (Flag.FEW_VERDICTS, Flag.SOME_WITHOUT, Flag.OTHER_ANSWERS)
"""Flags that a sentence of their own says."""
_OF_METHOD = (
    Flag.NO_REPEATS, Flag.IN_BLOCKS, Flag.RESAMPLES_UNDEFINED, Flag.PERMUTATIONS_UNDEFINED,
)  # fmt: skip
"""Flags that tell how a number was made, and take nothing from it: ``--full`` has them."""


def _reliability_doubts(group: ShownGroup) -> Iterator[tuple[int, str]]:
    """What weakens a group's numbers besides what leads it."""
    leading, alpha = group.lead, group.row("krippendorff_alpha")
    code = leading.code if leading else None
    silent = code in (LeadCode.NOISE, LeadCode.FEW_VERDICTS)  # said already, or of no number
    if not silent and alpha is not None and alpha["noise"]:
        yield 2, f"{NOISE}"
    kappa = group.row("cohen_kappa")
    if kappa is not None and kappa["noise"]:
        yield 2, f"kappa with labels is {NOISE}"
    if leading is not None and leading.replies is not None and leading.replies.flag:
        n = leading.replies.n_replies - leading.replies.n_valid
        text = f"{n:,} of {leading.replies.n_replies:,} replies hold no verdict"
        alone = leading.apart
        if alone is not None and alone["value"] is not None:
            text += (
                " and count as agreeing with each other; without them agreement is "
                f"{percent(alone['value'])}"
            )
        elif alpha is not None and alpha["missing"] == "drop":
            text += " and are left out"
        if code is not LeadCode.FEW_VERDICTS:
            yield 3, text
    explained = (
        LeadCode.UNDEFINED, LeadCode.NAMES_UNKNOWN, LeadCode.ONE_ANSWER, LeadCode.FEW_VERDICTS,
    )  # fmt: skip
    row = leading.row if leading else None
    n_questions = cast(int, (row or {}).get("n_compared") or 0)
    if 0 < n_questions < FEW_QUESTIONS:
        of_them = count_of(n_questions, "question")
        yield 4, f"this rests on {of_them}: a few more can change it"
    if alpha is not None and alpha["value"] is None and code not in explained:
        why = str(alpha["undefined"])
        yield 4, f"no alpha: {_NO_ALPHA.get(why, reason(why))}"
    for row in group.shown:
        first = row["coefficient"] == "krippendorff_alpha" or group.named
        several = group.named and len({one["coefficient"] for one in group.rows}) > 1
        about = f"{coefficient_name(row)}: " if several else ""
        if first and row.get("no_interval") and row["value"] is not None:
            n = cast(int, row.get("n_compared") or 0)
            words = no_interval_words(str(row["no_interval"]), n=n)
            yield 5, f"{about}{words}"
        for flag, numbers in noted(row):
            if flag is Flag.FEW_INFORMATIVE and first:
                yield 6, f"{FEW}"
            elif flag not in (Flag.FEW_INFORMATIVE, *_IN_LEAD, *_OF_METHOD):
                yield 6, f"{about}{flag.note(numbers)}"
    yield from _reliability_unknown(group, code)


_CONFOUNDED = (
    "repeats judge other answers, so the judge's variance and members are together "
    "(judgerel items log keeps the answers)"
)
_UNWORDED = "only the same prompt was repeated, so what another wording changes is unknown"
_UNPLACED = (
    "only the same prompt was repeated, so bias to a position or a wording is unknown "
    "(option_orders = 2 or two templates show it)"
)


def _reliability_unknown(group: ShownGroup, code: LeadCode | None) -> Iterator[tuple[int, str]]:
    """What was never asked, so that no number shows it."""
    rows = [row for row in group.rows if row.get("conditions") and row["value"] is not None]
    if not rows or code in (LeadCode.NAMES_UNKNOWN, LeadCode.FEW_VERDICTS):
        return
    if any(Flag.OTHER_ANSWERS in dict(noted(row)) for row in rows):
        yield 3, _CONFOUNDED
    elif not any(spans_prompts(row) for row in group.rows if row.get("conditions")):
        classes = any(str(row["coefficient"]).startswith("class_agreement") for row in rows)
        yield 5, _UNWORDED if of_ratings(group.rows) or classes else _UNPLACED


_HARMFUL = 2
"""Severity below which a judge is to be left out."""


def is_unusable(group: ShownGroup) -> bool:
    """Tell a judge to be left out: it goes by position, repeats one answer, or is noise."""
    return group.lead is not None and _lead_words(group, group.lead)[0] < _HARMFUL


def lines_of(findings: Sequence[Remark], room: int) -> list[str]:
    """Write findings, the most harmful first, as many as there is room for.

    Where there is too little, what makes judges unusable is written briefly, and never left out.
    """
    written = _reliability_findings(findings)
    if sum(map(len, written)) > room:
        brief = [
            replace(one, text=_BY_CODE.get(one.kind, one.text)) if one.severity < _HARMFUL else one
            for one in findings
        ]
        written = _reliability_findings(brief)
        n_kept = len(finding_lines(one for one in brief if one.severity < _HARMFUL))
    if sum(map(len, written)) <= room or len(written) == 1:
        return [line for lines in written for line in lines]
    kept = [line for lines in written[:n_kept] for line in lines]
    written = written[n_kept:]
    while written and len(kept) + len(written[0]) < room:
        kept += written.pop(0)
    more = [f"{count_of(len(written), 'more remark')}: --full."] if written else []
    return [*kept, *more]


def _reliability_findings(findings: Sequence[Remark]) -> list[list[str]]:
    """Findings as sentences, the lines of each."""
    names = tuple(one.who for one in findings if one.who)
    return [
        wrapped_line(f"{text if text.startswith(names) else text[0].upper() + text[1:]}.")
        for text in (line.rstrip(".") for line in finding_lines(findings))
    ]
