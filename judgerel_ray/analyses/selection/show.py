"""Which answers to accept, and how systems compare, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.analyses.selection.selection import HALF
from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    Folded,
    Mark,
    Paragraph,
    Section,
    Table,
    counts,
    estimates,
    key_columns,
    numeric,
    rounded,
    row_columns,
)
from judgerel_ray.blocks.short import span
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    costing,
    ends_of,
    group_label,
    number,
    p_value,
    reason,
    unit_words,
)
from judgerel_ray.core import count_of

READ_RANKING = (
    "Does confidence rank right answers above wrong ones, and mean what it says? AUROC: how often "
    "a right answer is surer than a wrong one; AURC: mean share wrong over all shares accepted; of "
    "no use: the AURC of a confidence that has nothing to do with being right. AUROC to Brier rest "
    "on the answers that are not rejected. ECE: in {n_bins} bins of equal width; beside it the ECE "
    "that a calibrated confidence would have."
)
READ_ACCEPTED = (
    "Answers are accepted from the surest down. Only thresholds that occur are operating points: "
    "lines are steps. 95 %: at this threshold by itself; band: at all thresholds together "
    "({bands}). A reply without a verdict, or without a confidence, is rejected: never accepted, "
    "and counted in every denominator."
)
FEW = (
    "Few wrong (or right) answers: fewer than ten questions have one, and how confidence ranks "
    "rests on them."
)
"""What the flag of a ranking says."""
_EACH = ". The chance holds for each line by itself, not for the best of several lines"
_BANDS = {"bonferroni": "Bonferroni", "dkw": "Dvoretzky"}
_STEPS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_MOST_ROWS = 12  # of a table that is not folded


def selection_sections(
    selection: Mapping[str, pl.DataFrame], comparison: Mapping[str, pl.DataFrame]
) -> list[Block]:
    """Make the sections of a page; `comparison` is empty where there are no two systems.

    Examples
    --------
    See ``tests/analyses/selection/test_from_run.py``.
    """
    return [
        Section("Accept or reject", _accepted_share_section(selection)),
        Section("Confidence", _selection_confidences(selection)),
        Section("Systems compared", compared_blocks(comparison)),
        Section("Self-preference", preference_blocks(comparison)),
    ]


def selection_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say what selection is worth.

    Examples
    --------
    >>> selection_blocks({"systems": pl.DataFrame()})[0].text
    'no answer whose right answer is known'
    """
    if tables["systems"].is_empty():
        return [Paragraph("no answer whose right answer is known")]
    return [*_accepted_share_section(tables), *_selection_confidences(tables)]


def _accepted_share_section(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Accuracy if every answer is accepted, and against the share accepted, by role."""
    accuracy = _system_accuracy_table(tables["systems"])
    acceptance = tables["acceptance"]
    if acceptance.is_empty():
        return [accuracy]
    shown = acceptance.filter(pl.col("confidence") == acceptance["confidence"][0])
    roles = set(shown["role"]) if "role" in shown.columns else {"judge"}
    names = acceptance.columns[: acceptance.columns.index("system")]
    # Of several answers a question bands are made in one way only.
    bands = (_BANDS[one] for one in acceptance["band"].unique(maintain_order=True))
    return [
        accuracy,
        Paragraph(READ_ACCEPTED.format(bands=" or ".join(bands))),
        Figures(
            role_figures(shown, names),
            [LINES[role] for role in LINES if role in roles],
            numbers=[_operating_points(acceptance)],
        ),
        Folded(
            "Intervals and joint bands, system by system",
            [Figures(band_figures(shown))],
        ),
    ]


def _system_accuracy_table(systems: pl.DataFrame) -> Table:
    """Accuracy of every system."""
    rows = systems.unique("system", keep="first", maintain_order=True).to_dicts()
    by_chance = [
        number(row["noise_floor"]) + (f", {NOISE}" if row["noise"] else "") for row in rows
    ]
    columns = [
        *_system_name_columns(rows)[:1],
        numeric("right", [f"{row['n_right']:,} of {row['n_answers']:,}" for row in rows]),
        estimates("accuracy [95 %]", rows, "accuracy"),
        numeric("by chance", by_chance),
        counts("unread", [row["n_unread"] for row in rows]),
    ]
    left = sum(row["n_without_gold"] for row in rows)
    more = f"; {count_of(left, 'answer')} to questions of unknown gold left out" if left else ""
    caption = (
        f"Accuracy if every answer is accepted, {span(row['n_questions'] for row in rows)} "
        "questions; an unread reply counts as wrong"
        f"{more}; by chance: the same answers shuffled across questions"
    )
    return Table(caption, columns, cards=True)


def _operating_points(acceptance: pl.DataFrame) -> Table:
    """Accuracy among the accepted, near round shares accepted."""
    near: list[Row] = []
    for part in acceptance.partition_by("system", "confidence", maintain_order=True):
        rows = part.to_dicts()
        kept = {
            min(range(len(rows)), key=lambda t, step=step: abs(rows[t]["acceptance"] - step))  # type: ignore[misc]
            for step in _STEPS
        }
        near += [rows[place] for place in sorted(kept)]
    columns = [
        *_system_name_columns(near),
        numeric("from", [f"{row['threshold']:.4g}" for row in near]),
        numeric("accepted", [f"{row['n_accepted']:,} of {row['n_answers']:,}" for row in near]),
        rounded("share", near, "acceptance"),
        estimates(
            "accuracy [95 %]", near, "accuracy", lambda row: _system_accuracy_interval(row, "")
        ),
        numeric("band", [_system_accuracy_interval(row, "band_") for row in near]),
    ]
    return Table("Accepted from a confidence on: some of the thresholds that occur", columns)


def band_words(row: Row) -> str:
    """Say how a band was made.

    Examples
    --------
    >>> band_words({"band": "bonferroni", "band_thresholds": 12})
    'Bonferroni over 12 thresholds'
    """
    if row["band"] == "dkw":
        return f"Dvoretzky-Kiefer-Wolfowitz, {row['band_off']:.3f} either way of all judgments"
    return f"Bonferroni over {row['band_thresholds']} thresholds"


def _system_accuracy_interval(row: Row, which: str) -> str:
    """The interval of an accuracy, from that of its error."""
    low, high = row[f"{which}low"], row[f"{which}high"]
    if not isinstance(low, float) or not isinstance(high, float):
        return ""
    return f"[{1 - high:.3f}, {1 - low:.3f}]"


def _selection_confidences(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """How confidences rank, whether they mean what they say, and thresholds with a guarantee."""
    rows = tables["systems"].filter(pl.col("confidence").is_not_null()).to_dicts()
    if not rows:
        return [Paragraph("No answer has a confidence: nothing says which to accept.")]
    read = READ_RANKING.format(n_bins=rows[0]["n_bins"])
    few = f" {FEW}" if any(row["few"] for row in rows) else ""
    kinds = set(tables["acceptance"]["confidence"])
    return [
        Paragraph(f"{read}{few}"),
        Figures(
            confidence_figures(tables["acceptance"]),
            [CONFIDENCE_LINES[kind] for kind in CONFIDENCE_LINES if kind in kinds],
        ),
        _long_selection_table(
            "All confidences", "Confidence of every system", _system_ranking_table(rows)
        ),
        Folded(
            "Reliability diagrams, bins of equal mass",
            [Figures(reliability_figures(tables["reliability"]))],
        ),
        *_acceptance_guarantees(tables["guarantees"].to_dicts()),
    ]


def _system_ranking_table(rows: Sequence[Row]) -> list[Column]:
    """AUROC, AURC, calibration, Brier, rejected."""
    ece = [f"{number(row['ece'])} ({number(row['ece_floor'])})" for row in rows]
    brier = [f"{number(row['brier'])} ({number(row['brier_floor'])})" for row in rows]
    aurocs = [_system_auroc_cell(row) for row in rows]
    return [
        *_system_name_columns(rows),
        numeric("AUROC [95 %]", aurocs, [ends_of(row, "auroc") for row in rows]),
        estimates("AURC [95 %]", rows, "aurc", lambda row: ends_of(row, "aurc")),
        rounded("of no use", rows, "aurc_floor"),
        numeric("ECE (calibrated)", ece),
        numeric("Brier (by chance)", brier),
        counts("rejected", [row["n_rejected"] for row in rows]),
    ]


def _system_auroc_cell(row: Row) -> str:
    """AUROC and what must be known of it, or why there is none."""
    if row["auroc"] is None and row["undefined"]:
        return f"- ({reason(row['undefined'])})"
    ranked = number(row["auroc"]) + (f", {NOISE}" if row["auroc_noise"] else "")
    if isinstance(row["auroc"], float) and row["auroc"] < 0.5 and row["auroc_noise"] is False:
        ranked += ", surer of wrong answers"
    return f"{ranked}, {reason(row['few'])} answers" if row["few"] else ranked


def _acceptance_guarantees(rows: Sequence[Row]) -> list[Block]:
    """Thresholds with a guarantee."""
    if not rows:
        return []
    start = [
        f"none ({reason(row['undefined'])})" if row["threshold"] is None
        else f"{row['threshold']:.4g}"
        for row in rows
    ]  # fmt: skip
    columns = [
        *_system_name_columns(rows),
        Column(head="accept from", cells=start),
        counts("held out", [row["n_heldout"] for row in rows]),
        counts("accepted", [row["n_accepted"] for row in rows]),
        estimates("wrong of them [95 %]", rows, "error"),
    ]
    caption = (
        f"Threshold whose share wrong exceeds {rows[0]['risk']:g} with a chance of at most "
        f"{rows[0]['delta']:g}, learnt on {_split(rows[0])}, tried on the other half"
        + (_EACH if len(rows) > 1 else "")
    )
    return [_long_selection_table("All thresholds with a guarantee", caption, columns)]


def _split(row: Row) -> str:
    """How questions were split to learn a threshold."""
    what = "half of the questions" if row["split"] == HALF else reason(row["split"])
    return f"{what}, seed {row['seed']}"


def _system_name_columns(rows: Sequence[Row]) -> list[Column]:
    """The columns that say whose answers, and by which confidence."""
    return key_columns(rows, ("system", "confidence"))


def _long_selection_table(summary: str, caption: str, columns: Sequence[Column]) -> Block:
    """A table, folded under a line where it is long."""
    whole = Table(caption, columns, cards=True)
    return Folded(summary, [whole]) if len(columns[0].cells) > _MOST_ROWS else whole


LINES = {
    "responder": ("other", "alone"),
    "participant": ("share", "as judge, its own answer among those compared"),
    "evaluator_only": ("line", "as judge of the others' answers only"),
    "judge": ("line", "as judge"),
}
"""The line of each role, and what it is called."""
CONFIDENCE_LINES = {
    "stated": ("line", "as stated"),
    "support": ("share", "other replications that say the same"),
    "agreement": ("other", "agreement of the other replications"),
    "margin": ("baseline", "margin of the confusion matrix"),
    "probability": ("people", "probability of the verdict"),
}
"""The line of each confidence, and what it is called."""
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_NOT_SETTING = ("role", "system", "confidence")
_MOST_BARS = 20


def role_figures(acceptance: pl.DataFrame, names: Sequence[str]) -> list[Figure]:
    """Draw accuracy against the share accepted: a figure a judge, a line a role.

    Lines are steps: between two thresholds that occur lies no operating point. A model that was
    asked alone at one temperature only stands in every figure of its judge.

    Examples
    --------
    >>> role_figures(pl.DataFrame(), [])
    []
    """
    if acceptance.is_empty():
        return []
    setting = [name for name in names if name not in _NOT_SETTING]
    start = _acceptance_axis_start(acceptance)  # one for all, so that judges can be compared by eye
    varying = [name for name in setting if name == "judge" or acceptance[name].n_unique() > 1]
    return [
        _role_figure(part, start, group_label(part.row(0, named=True), varying))
        for part in _figure_parts(acceptance, setting)
    ]


def _figure_parts(acceptance: pl.DataFrame, setting: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The rows of each figure."""
    if not setting or "role" not in acceptance.columns:
        yield from acceptance.partition_by("system", maintain_order=True)
        return
    alone = acceptance.filter(pl.col("role") == "responder")
    judged = acceptance.filter(pl.col("role") != "responder")
    without_heat = [name for name in setting if name != "temperature"]
    drawn: set[str] = set()
    for part in judged.partition_by(list(setting), maintain_order=True):
        same = alone.join(part.select(setting).unique(), on=setting, how="semi", nulls_equal=True)
        if same.is_empty() and without_heat:
            here = part.select(without_heat).unique()
            same = alone.join(here, on=without_heat, how="semi", nulls_equal=True)
        drawn |= set(same["system"])
        yield pl.concat([part, same])
    rest = alone.filter(~pl.col("system").is_in(sorted(drawn)))
    yield from rest.partition_by(list(setting), maintain_order=True)


def _role_figure(part: pl.DataFrame, start: float, label: str) -> Figure:
    """One judge in its roles."""
    marks: list[Mark] = []
    texts = []
    for (system,), of_system in part.group_by("system", maintain_order=True):
        rows = of_system.sort("acceptance")
        role = str(rows["role"][0]) if "role" in rows.columns else "judge"
        style, name = LINES.get(role, LINES["judge"])
        marks += [_accepted_share_steps(rows, style), *_acceptance_interval_bars(rows, str(system))]
        texts.append(f"{name}: {_points_text(rows.to_dicts())}")
    caption = f"{label or 'all answers'}, {part['confidence'][0]} confidence"
    return _acceptance_figure(f", {label}", "; ".join(texts), marks, start, caption)


def _acceptance_figure(
    of: str, description: str, marks: Sequence[Mark], start: float, caption: str
) -> Figure:
    """Accuracy against the share accepted."""
    return Figure(
        title=f"Accuracy against share accepted{of}",
        description=description,
        caption=caption,
        x=Axis(title="share accepted, surest first", values=_QUARTERS),
        y=Axis(title="accuracy", start=start, values=_acceptance_axis_marks(start), grid=True),
        marks=marks,
        width=362,
        height=228,
    )


def _accepted_share_steps(rows: pl.DataFrame, style: str) -> Mark:
    """A line of steps through the operating points, from the strictest threshold on."""
    return Mark(shape="step", style=style, data=rows, x="acceptance", y="accuracy")


def confidence_figures(acceptance: pl.DataFrame) -> list[Figure]:
    """Draw one system's accuracy against the share accepted, a line a confidence.

    Examples
    --------
    >>> confidence_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    found = []
    start = _acceptance_axis_start(acceptance)
    for (system,), part in acceptance.group_by("system", maintain_order=True):
        if part["confidence"].n_unique() < 2:
            continue
        marks, texts = [], []
        for (kind,), of_kind in part.group_by("confidence", maintain_order=True):
            rows = of_kind.sort("acceptance")
            marks.append(_accepted_share_steps(rows, CONFIDENCE_LINES[str(kind)][0]))
            texts.append(f"{kind}: {_points_text(rows.to_dicts())}")
        name, of = str(system), f" by confidence, {system}"
        found.append(_acceptance_figure(of, "; ".join(texts), marks, start, name))
    return found


def band_figures(acceptance: pl.DataFrame) -> list[Figure]:
    """Draw one system's accuracy against the share accepted, with intervals and the joint band.

    Examples
    --------
    >>> band_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    found = []
    for (system, kind), part in acceptance.group_by("system", "confidence", maintain_order=True):
        rows = part.sort("acceptance")
        # Of error, turned round.
        ends = rows.with_columns((1 - pl.col("band_low", "band_high", "low", "high")).name.keep())
        marks = [
            *(
                Mark(shape="step_area", style="area", data=ends, x="acceptance", y=low, y2=high)
                for low, high in (("band_low", "band_high"), ("low", "high"))
            ),
            _accepted_share_steps(rows, "line"),
        ]
        label = f"{system}, {kind}"
        made = band_words(rows.row(0, named=True))
        description = f"{_points_text(rows.to_dicts())}; band: {made}"
        found.append(
            _acceptance_figure(
                f", {label}", description, marks, _acceptance_axis_start(part), label
            )
        )
    return found


def reliability_figures(reliability: pl.DataFrame) -> list[Figure]:
    """Draw accuracy against stated confidence, in bins of equal mass.

    Examples
    --------
    >>> reliability_figures(pl.DataFrame())
    []
    """
    if reliability.is_empty():
        return []
    found = []
    shown = reliability.filter(pl.col("binning") == "mass")
    for (system, kind), part in shown.group_by("system", "confidence", maintain_order=True):
        texts = [
            f"at {number(row['mean_confidence'], 2)}: {row['n_right']} of {row['n']} right"
            for row in part.to_dicts()
        ]
        rows = part.with_columns(label=pl.Series(texts, dtype=pl.String))
        even = pl.DataFrame({"confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]})
        label = f"{system}, {kind}"
        found.append(Figure(
            title=f"Accuracy against confidence, {label}",
            description="; ".join(texts),
            caption=label,
            x=Axis(title="confidence", values=_QUARTERS),
            y=Axis(title="accuracy", values=_QUARTERS, grid=True),
            marks=[
                Mark(shape="line", style="baseline", data=even, x="confidence", y="accuracy"),
                Mark(shape="rule", style="interval", data=rows, x="mean_confidence", y="low",
                     y2="high"),
                Mark(shape="point", style="point", data=rows, x="mean_confidence", y="accuracy",
                     label="label"),
            ],
        ))  # fmt: skip
    return found


def _acceptance_axis_start(part: pl.DataFrame) -> float:
    """Where a figure begins: a quarter that leaves room below all points, not all intervals."""
    room = cast(float, part["accuracy"].min()) - 0.1
    return max((q for q in _QUARTERS[:-1] if q <= room), default=0.0)


def _acceptance_axis_marks(start: float) -> list[float]:
    """Marks of the vertical axis."""
    if start < 0.5:
        return [q for q in _QUARTERS if q >= start]
    return [round(0.1 * tenth, 1) for tenth in range(1, 11) if 0.1 * tenth >= start - 1e-9]


def _acceptance_interval_bars(rows: pl.DataFrame, system: str) -> list[Mark]:
    """Operating points with their intervals, where there are not too many to see."""
    some = rows.gather_every(max(1, -(-rows.height // _MOST_BARS)))
    texts = [
        f"{system}: {row['n_accepted']} of {row['n_answers']}, {number(row['accuracy'])}"
        for row in some.iter_rows(named=True)
    ]
    some = some.with_columns(
        (1 - pl.col("low", "high")).name.keep(), label=pl.Series(texts, dtype=pl.String)
    )
    return [
        Mark(shape="rule", style="whisker", data=some, x="acceptance", y="low", y2="high"),
        Mark(shape="point", style="speck", data=some, x="acceptance", y="accuracy", label="label"),
    ]


def _points_text(rows: Sequence[Row]) -> str:
    """A few operating points in words."""
    return ", ".join(
        f"of the surest {number(row['acceptance'], 2)} right {number(row['accuracy'])}"
        for row in rows[:: max(1, len(rows) // 5)]
    )


READ_PAIRS = (
    "First only, second only: questions that one alone got right; p is exact McNemar's on them. "
    "Wrong at equal acceptance: mean difference of the share wrong over the shares accepted that "
    "both reach, of all replies, questions drawn anew for both. Holm: over these {n_comparisons} "
    "comparisons. The best of several systems looks better than it is on the questions it was "
    "picked by: pick on some questions, report on others."
)
READ_MATCHED = (
    "A judge of others' answers pays for them, too. For as much, the best model alone could be "
    "asked again and outvote itself. Single: that model, asked once; votes: its majority of as "
    "many replies as the judge costs. It is the best on these very questions, which favours the "
    "baseline."
)
READ_PREFERENCE = (
    "Self-preference: where models disagree, how often a judge picks the option that it answered "
    "itself, minus how often the same model picks it on the same questions as evaluator only, when "
    "that answer is not shown (its opinion). p: exact, the two roles exchanged within questions; "
    "noise: spread of the difference under those exchanges, about 0; Holm: over the judges of this "
    "table. Any option is picked more often when it is shown, and evaluators are not shown this "
    "one. So a judge counts as favouring its own answer only where it also picks it more often "
    "than the other participants, who saw the same answers. A judge that goes half by its opinion "
    "and half by what it is shown passes both comparisons, too; only its own answer under another "
    "model's name would settle it."
)
"""How self-preference is told."""
FINDINGS = {
    "favours_its_own": "favours its own answer: more than by opinion, and than others who saw it",
    "option_was_shown": "picks it because it is shown; whether also because it is its own is "
    "not known",
    "avoids_its_own": "avoids its own answer",
    "not_distinguishable": "not distinguishable from its opinion",
}
"""What is found of a judge, in words."""
LACKING = {
    "no_evaluator_only": 'unknown: ask roles = ["participant", "evaluator_only"]',
    "no_own_answer": "unknown: its answer alone is not among those compared",
    "several_answer_temperatures": "unknown: models answered at several temperatures; name the "
    "one that judges compared (answer_temperature)",
    "no_other_judge": "no other participant saw the same answers",
}
"""What self-preference cannot be told without, and what to ask."""
_ANSWERS = {
    "first": "the first reply to each question",
    "majority": "the majority of the replies to each question",
}
_SHARES = {
    "self": "picks its own (as evaluator)",
    "self_wrong": "the same where its own is wrong",
}


def systems_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say how systems compare on the questions they share, and what judges favour.

    Examples
    --------
    >>> systems_blocks({"pairs": pl.DataFrame()})[0].text
    'no two systems to compare'
    """
    if tables["pairs"].is_empty():
        return [Paragraph("no two systems to compare")]
    return [*compared_blocks(tables), *preference_blocks(tables)]


def compared_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say how systems compare two by two, and judges against the same cost.

    Examples
    --------
    >>> compared_blocks({})
    []
    """
    if not tables or tables["pairs"].is_empty():
        return []
    rows = tables["pairs"].to_dicts()
    caption = (
        "Accuracy on the questions both were asked, joined by question; "
        f"{_ANSWERS[rows[0]['answer']]}"
    )
    return [
        Paragraph(READ_PAIRS.format(n_comparisons=rows[0]["n_comparisons"])),
        Folded("All pairs", [Table(caption, _system_pair_table(rows), cards=True)]),
        *_system_equal_cost_table(tables["matched_cost"].to_dicts()),
    ]


def _system_pair_table(rows: Sequence[Row]) -> list[Column]:
    """Systems two by two; no counts where questions have several answers."""
    tests = [[p_value(row["p"]), p_value(row["p_holm"])] for row in rows]
    return [
        Column(head="first", cells=[str(row["first"]) for row in rows]),
        Column(head="second", cells=[str(row["second"]) for row in rows]),
        counts("questions", [row["n_questions"] for row in rows]),
        counts("first only", [row["first_only"] for row in rows]),
        counts("second only", [row["second_only"] for row in rows]),
        estimates("second - first [95 %]", rows, "difference"),
        *row_columns(["p", "p, Holm"], tests),
        estimates(
            "wrong at equal acceptance [95 %]",
            rows,
            "error_difference",
            lambda row: ends_of(row, "error"),
        ),
        numeric("its p, Holm", [p_value(row["error_p_holm"]) for row in rows]),
    ]


def _system_equal_cost_table(rows: Sequence[Row]) -> list[Block]:
    """Judges against the same cost, or why that cannot be told."""
    if not rows:
        return []
    known = [row["difference"] is not None or not row["undefined"] for row in rows]
    heads = ["judge", "baseline", "model", "replies, had of wanted", "its cost", "judge's cost"]
    lines = [
        [
            str(row["second"]), str(row["baseline"]),
            *([str(row["first"]), _system_replies_bought(row), costing(row["first_cost"]),
               costing(row["second_cost"])] if is_known else [""] * 4),
        ]
        for row, is_known in zip(rows, known, strict=True)
    ]  # fmt: skip
    tests = [[p_value(row["p"]), p_value(row["p_holm"])] for row in rows]
    remarks = [
        "" if is_known else reason(row["undefined"])
        for row, is_known in zip(rows, known, strict=True)
    ]
    columns = [
        *row_columns(heads, lines, words=heads[:3]),
        estimates("judge - baseline [95 %]", rows, "difference"),
        *row_columns(["p", "p, Holm"], tests),
        Column(head="remark", cells=remarks, kind="remark"),
    ]
    caption = (
        f"The same cost spent on a single model ({unit_words(rows[0])}; a judge pays for the "
        "answers it compares)"
    )
    return [Paragraph(READ_MATCHED), Table(caption, columns, cards=True)]


def _system_replies_bought(row: Row) -> str:
    """How many replies of a model make the baseline."""
    return f"{row['votes']} of {row['votes_wanted']}" if row["baseline"] == "votes" else "1"


def preference_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Say whether judges favour their own answers; nothing where none judged any of its own.

    Examples
    --------
    >>> preference_blocks({})
    []
    """
    if not tables or tables["self_preference"].is_empty():
        return []
    rows = tables["self_preference"].to_dicts()
    heats = ["" if row["temperature"] is None else f"{row['temperature']:g}" for row in rows]
    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in rows]),
        Column(head="temperature", cells=heats),
        estimates("accuracy, participant - evaluator only [95 %]", rows, "difference"),
        *(_self_selection_picks(head, rows, name) for name, head in _SHARES.items()),
        estimates("other participants pick it", rows, "own_picked_by_others", lambda _: ""),
        Column(head="remark", cells=[preference_remark(row) for row in rows], kind="remark"),
    ]
    return [Paragraph(READ_PREFERENCE), Table("Self-preference", columns, cards=True)]


def _self_selection_picks(head: str, rows: Sequence[Row], name: str) -> Column:
    """How often the own answer is picked, as evaluator, and the difference with its test."""
    return numeric(
        f"{head}, difference [95 %]",
        [
            f"{number(row[f'{name}_picked'])} ({number(row[f'{name}_picked_as_evaluator'])})"
            if row[f"n_{name}"]
            else "-"
            for row in rows
        ],
        [
            f"{number(row[f'{name}_difference'])} {ends_of(row, name)} of {row[f'n_{name}']}, "
            f"p {p_value(row[f'{name}_p'])}, Holm {p_value(row[f'{name}_p_holm'])}, "
            f"noise {number(row[f'{name}_noise_sd'])}"
            if row[f"n_{name}"]
            else ""
            for row in rows
        ],
    )


def preference_remark(row: Row) -> str:
    """Say what is found of a judge's preference for its own answer, or what is lacking.

    Examples
    --------
    >>> preference_remark({"finding": "avoids_its_own", "undefined": None})
    'avoids its own answer'
    >>> preference_remark({"finding": None, "undefined": "no_evaluator_only"})
    'unknown: ask roles = ["participant", "evaluator_only"]'
    """
    parts = [FINDINGS.get(str(row["finding"]), ""), LACKING.get(str(row["undefined"]), "")]
    return "; ".join(part for part in parts if part)
