"""From a run directory, a file of judgments or a series to one self-contained page.

The page of a run says what was asked, what came back, and how far to trust it; the verbs make its
sections. It answers first whether these judges may decide here, where, what is lacking, and whom to
ask. That of a series says what moved, beside its history and summary.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name

import polars as pl

from judgerel_ray.analyses.drift.show import series_blocks
from judgerel_ray.analyses.drift.standing import history_of, summary_of
from judgerel_ray.analyses.gate.from_run import gate_by_default
from judgerel_ray.analyses.gate.show import (
    SIGNS,
    STANDINGS,
    TOO_MANY,
    Decision,
    decisions,
    more_words,
    verdict_line,
)
from judgerel_ray.analyses.gate.standing import CROSSES, Verdict, overall
from judgerel_ray.analyses.gate.tables import Requirements
from judgerel_ray.analyses.ratings.from_run import RatingOptions, unknown_scales, with_scales
from judgerel_ray.analyses.reliability.headlines import WARNINGS, cautions, first_rows, group_leads
from judgerel_ray.analyses.reliability.sections import ABSENT, answer_section, floor_column
from judgerel_ray.blocks.blocks import (
    PLACES,
    Block,
    Column,
    Facts,
    Figures,
    FirstScreen,
    Lines,
    Paragraph,
    Place,
    Section,
    Span,
    Table,
    estimates,
    key_columns,
    numeric,
)
from judgerel_ray.blocks.charts import not_drawn
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.blocks.words import (
    Row,
    cell,
    coefficient_name,
    group_columns,
    group_label,
    missing_policy,
    number,
    percent,
    percent_interval,
    rows_by_group,
    times,
)
from judgerel_ray.config import AskTable, Judge, parse_sweep
from judgerel_ray.config.series import Series
from judgerel_ray.core import count_of
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.verb import all_verbs
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.outcomes import failure_lines
from judgerel_ray.counting.snapshot import Snapshot, replicated, unread_damage
from judgerel_ray.measuring.alpha_figures import floor_figure
from judgerel_ray.measuring.page_data import PageData, page_data
from judgerel_ray.measuring.reliability import AT_MOST
from judgerel_ray.measuring.unstable import UNSTABLE, QuestionTexts, question_text, replied_shares
from judgerel_ray.reporting.standing import no_verdicts, unfinished_notice
from judgerel_ray.store import RunDirectory, checked_ledger, read_errors, scan_judgments
from judgerel_ray.store.parts import encode_parquet
from judgerel_ray.store.series import MADE, Refresh, SeriesDirectory
from judgerel_ray.store.status import read_status

_MOST_REASONS = 3  # of each judge; the rest lies in errors/
_MOST_VERDICTS = 8  # verdicts in words; all stand in the table
_NAMED = 3  # questions by their names, of verdicts and of ratings each
_WHOSE = ("judge", "criterion", "definition", "scale", "template", "temperature")
_SHARES = {
    "swap_consistency": "same option in another order",
    "valid_rate": "valid verdicts",
    "accuracy": "right, by labels",
}
_READ = (
    "By the requirements that judgerel gate holds where none is given: the whole 95 % confidence "
    "interval must meet each. Alpha is 1 where a judge always agrees with itself and 0 where it "
    "does as often as its own verdicts, shuffled across the questions, would; ± is the standard "
    "deviation of that noise floor. Repeatability is of the same prompt again; reproducibility is "
    "of what should not matter (order of the options, template) drawn anew, and is what a decision "
    "rests on."
)


def build_page(
    opened: Snapshot, options: RatingOptions, *, labels: str | None = None
) -> tuple[str, str]:
    """Make the page of a run or of judgments, and say why it has no numbers, where it has none.

    Of ratings `options` say what they are held against and how scales are compared. By `labels`
    of some items, as of :func:`judgerel_ray.correct`, scores are corrected. A run without any
    verdict (it only wrote answers, or nothing landed yet) has a page, too, which says so.
    """
    if lacks := not_drawn():
        warn_of([lacks])
    judged = with_scales(replicated(opened), options)
    absent = _page_without_verdicts_reason(judged)
    texts = _page_question_texts(judged.run) if judged.run else None
    options_of = {"scales": options, "align": options, "correct": labels}
    probabilities = _page_blocks_of_verbs("probabilities", judged, texts or {}, options=options_of)
    measured = None if absent else page_data(judged, texts)
    page = render_report(
        measured,
        title=_page_title(judged),
        asked=[
            *_ask_rows(judged),
            *unknown_scales(judged),
            *_page_tolerance_rows(measured),
        ],
        standing=_page_run_standing(judged.run) if judged.run else None,
        answers=_page_answers_landed(judged.frame) if judged.run else None,
        absent=absent,
        probabilities=probabilities,
        sections=_page_blocks_of_verbs("section", measured, options=options_of) if measured else (),
        requirements=gate_by_default(judged, measured.coefficients) if measured else None,
    )
    return page, "" if probabilities else absent


def _page_question_texts(run: RunDirectory) -> dict[tuple[str, str], str]:
    """Texts of a run's questions, by benchmark and item_id; without its items there are none."""
    if not run.exists("items.parquet"):
        return {}
    names = ["benchmark", "item_id", "question"]
    items = pl.read_parquet(BytesIO(run.read_bytes("items.parquet")), columns=names)
    return {(benchmark, item): text for benchmark, item, text in items.iter_rows()}


def _page_blocks_of_verbs(
    field: str, *found: object, options: Mapping[str, object]
) -> list[Block | FirstScreen]:
    """What the functions that verbs name in a field make, each by the options of its verb."""
    named = {name: getattr(one, field) for name, one in all_verbs().items()}
    makers = {name: resolve_name(maker) for name, maker in named.items() if maker}
    return [block for name, make in makers.items() for block in make(*found, options.get(name))]


def _page_tolerance_rows(measured: PageData | None) -> list[tuple[str, str]]:
    """How the confidence intervals of coefficients stand to the tolerances of the sweep."""
    if measured is None or "standing" not in measured.coefficients.columns:
        return []
    rows = measured.coefficients.filter(pl.col("standing").is_not_null())
    varying = [name for name in group_columns(rows) if rows[name].n_unique() > 1]
    policies = rows["missing"].n_unique() > 1
    found: dict[str, list[str]] = {}
    for row in rows.iter_rows(named=True):
        limit = "at most" if row["coefficient"] in AT_MOST else "at least"
        wanted = f"{coefficient_name(row)} {limit} {row['tolerance']:g}, as sweep.toml asks"
        counted = f"replies without a verdict: {missing_policy(row)}" if policies else ""
        who = ", ".join(filter(None, [group_label(row, varying), counted]))
        standing = f"{row['standing']}" if row["low"] is not None else "undecided, no interval"
        found.setdefault(wanted, []).append(f"{who}: {standing}" if who else standing)
    return [
        ("tolerance", f"{wanted}, by the whole confidence interval. {'; '.join(standings)}")
        for wanted, standings in found.items()
    ]


def _page_without_verdicts_reason(judged: Snapshot) -> str:
    """Why a run has no verdicts; nothing where it has rows of judges, or is a file."""
    if judged.run is None:
        return ""
    roles = dict(judged.frame.group_by("role").len().collect().iter_rows())
    verdicts = judged.frame.filter(is_judge(judged.frame.collect_schema().names()))
    if not verdicts.head(1).collect().is_empty():
        return ""
    answers = f"{roles.get('responder', 0):,} candidate answers landed"
    asks = parse_sweep(judged.run.read_text("sweep.toml")).ask
    if all(_page_ask_reads_chances(ask) for ask in asks):
        return (
            "This sweep reads probabilities; their tables are written when the run ends, and are "
            "not there yet."
        )
    if not any(ask.kind.traits.judges for ask in asks):
        return f"{answers}; this sweep asks for answers only, and for no judgment of them."
    return f"{answers}, and no judgment yet."


def _page_answers_landed(frame: pl.LazyFrame) -> pl.DataFrame:
    """Candidate answers that landed, counted."""
    written = frame.filter((pl.col("role") == "responder") & pl.col("outcome").is_null())
    by = ["judge", "benchmark", "stage", "temperature"]
    return (
        written.group_by(by)
        .agg(
            questions=pl.col("item_id").n_unique(),
            answers=pl.len(),
            tokens=pl.col("completion_tokens").mean(),
        )
        .collect()
        .sort(by)
    )


def _page_run_standing(run: RunDirectory) -> dict[str, object]:
    """How a run stands, and why requests are pending."""
    standing = read_status(run).as_json()
    if standing["state"] == "done":
        return standing
    landed = scan_judgments(run, columns=("key",))
    found = (
        read_errors(run)
        .lazy()
        .join(landed, on="key", how="anti")
        # What follows in brackets names the item: the reason is the same without it.
        .with_columns(pl.col("message").str.replace(r"\s*\[[^\[\]]*\]\s*$", ""))
        .group_by("judge", "kind", "message")
        .agg(requests=pl.col("key").n_unique())
        .sort(["judge", "requests", "message"], descending=[False, True, False])
        .group_by("judge", maintain_order=True)
        .head(_MOST_REASONS)
        .collect()
    )
    return {**standing, "reasons": found.to_dicts()}


def _page_title(judged: Snapshot) -> str:
    """What the report is about."""
    if judged.run is None:
        return Path(judged.name).name
    return parse_sweep(judged.run.read_text("sweep.toml")).name


def _ask_rows(judged: Snapshot) -> list[tuple[str, str]]:
    """What was asked, as the report says it."""
    if judged.run is None:
        read = [("read", note) for note in judged.notes]
        return [("file", judged.name), ("asked", _page_varied_facets(judged.frame)), *read]
    sweep = parse_sweep(judged.run.read_text("sweep.toml"))
    damage = unread_damage(judged.run)
    tokens = checked_ledger(judged.run).tokens
    several = len(sweep.ask) > 1
    return [
        ("sweep", sweep.name),
        ("judges", ", ".join(f"{judge.name} ({_page_judge_kind(judge)})" for judge in sweep.judge)),
        *(
            (f"asked ({index + 1})" if several else "asked", _page_ask_in_words(ask))
            for index, ask in enumerate(sweep.ask)
        ),
        (
            "tokens",
            f"prompt {tokens.prompt:,} ({tokens.cached:,} from the prefix cache), "
            f"generated {tokens.generated:,}",
        ),
        *([("damaged", damage)] if damage else []),
    ]


def _page_ask_in_words(ask: AskTable) -> str:
    """One ask in words: what was repeated, and what was varied."""
    if _page_ask_reads_chances(ask):
        heats = ", ".join(f"{value:g}" for value in ask.temperatures)
        return ask.kind.probability_words(ask, ", ".join(ask.templates), heats)
    warm = [f"{value:g}" for value in ask.temperatures if value > 0]
    often = [f"{_page_ask_repeats(ask)} at temperature {', '.join(warm)}"] if warm else []
    if 0.0 in ask.temperatures:
        greedy = (
            "greedy: repeats show the serving's noise only" if ask.repeat_greedy > 1 else "greedy"
        )
        often.append(f"{times(ask.repeat_greedy or 1)} at temperature 0 ({greedy})")
    text = f"{ask.protocol} on {ask.benchmark}: each prompt {' and '.join(often)}. "
    n_templates = len(ask.templates)
    templates = f"{count_of(n_templates, 'template')} ({', '.join(ask.templates)})"
    return text + ask.kind.prompt_words(ask, templates)


def _page_ask_reads_chances(ask: AskTable) -> bool:
    """Whether probabilities are read, and no verdict is asked again."""
    return ask.kind.reads_probabilities(ask) is not None


def _page_ask_repeats(ask: AskTable) -> str:
    """How often a sampled prompt is asked."""
    rule = ask.adaptive
    if rule is None:
        return times(ask.first_replications)
    return (
        f"{times(rule.first)}, then on until its verdict is settled (error {rule.adaptive:g}, "
        f"{times(rule.max)} at most; coefficients rest on the first {rule.first})"
    )


def _page_varied_facets(frame: pl.LazyFrame) -> str:
    """What a file of judgments varied, as far as it says."""
    columns = frame.collect_schema().names()
    names = [
        name for name in ("judge", "temperature", "template", "option_order") if name in columns
    ]
    counts = frame.select(
        pl.len().alias("rows"), *(pl.col(name).n_unique() for name in ("item_id", *names))
    ).collect().row(0, named=True)  # fmt: skip
    counted = [count_of(counts["rows"], "row"), count_of(counts["item_id"], "question")]
    counted += [count_of(counts[name], name.replace("_", " ")) for name in names]
    if counts.get("option_order", 1) > 1:
        return ", ".join(counted)
    known = "one order of the options" if "option_order" in names else "no order of the options"
    return (
        f"{', '.join(counted)}; the file records {known}: same prompt, same order, "
        "as far as it says"
    )


def _page_judge_kind(judge: Judge) -> str:
    """What a judge is, never passing a simulated one off as a judge."""
    if judge.engine == "simulated":
        return f"simulated: {judge.model}; answers from a stated distribution, not a judge"
    place = judge.base_url or judge.provider
    return judge.model if place is None else f"{judge.model}, asked at {place}"


_FOOTER = (
    "Intervals are 95 %, by question. The noise floor shuffles a group's own verdicts across its "
    "questions; a coefficient as far from the floor as more than 5 % of such shuffles is "
    "not distinguishable from noise."
)


def render_report(
    measured: PageData | None,
    *,
    title: str,
    asked: Sequence[tuple[str, str]] = (),
    standing: Mapping[str, object] | None = None,
    answers: pl.DataFrame | None = None,
    absent: str = "",
    probabilities: Sequence[Block | FirstScreen] = (),
    sections: Sequence[Block | FirstScreen] = (),
    requirements: pl.DataFrame | None = None,
) -> str:
    """Write the report as one HTML page that asks nothing of any network and runs no script.

    Examples
    --------
    >>> from judgerel_ray.counting.snapshot import Snapshot
    >>> from judgerel_ray.analyses.reliability.sections import reliability_on_page
    >>> from judgerel_ray.measuring.page_data import page_data
    >>> rows = pl.LazyFrame({"item_id": ["<b>", "<b>"], "replication": [0, 1],
    ...                      "verdict": ["A", "B"]})
    >>> found = page_data(Snapshot(frame=rows), None)
    >>> sections = reliability_on_page(found, None)
    >>> page = render_report(found, title="Two replies", sections=sections)
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    leads = [one for one in (*probabilities, *sections) if isinstance(one, FirstScreen)]
    placed: dict[Place, list[Block]] = {place: [] for place in PLACES}
    for one in sections:
        if not isinstance(one, FirstScreen):
            placed[one.place if isinstance(one, Section) else "analyses"].append(one)
    lead = [
        *(_page_lead_blocks(measured.in_order(), requirements, leads) if measured else ()),
        *chain.from_iterable(one.blocks for one in leads),
    ]
    body = [
        *placed.pop("first"),
        *([Section("What was asked", [Facts(asked)])] if asked else ()),
        *(one for one in probabilities if not isinstance(one, FirstScreen)),
        *chain.from_iterable(placed.values()),
        Section("Candidate answers", answer_section(answers)),
    ]
    # Each section is under its heading alone, until somebody opens it.
    folded = [replace(one, is_folded=True) if isinstance(one, Section) else one for one in body]
    return rendered_page(
        "reporting/page.html",
        script="reporting/tables.js.html",
        title=title,
        notice=unfinished_notice(standing) if standing else [],
        blocks=[*(lead or no_verdicts(absent)), *folded],
        footer=_FOOTER if measured else "",
    )


def _page_lead_blocks(
    measured: PageData, requirements: pl.DataFrame | None, added: Sequence[FirstScreen]
) -> list[Block]:
    """What a reader should know first: may they decide, and what makes that worth less."""
    lines = [
        *failure_lines(measured.failures, measured.outcomes),
        *cautions(measured.coefficients),
    ]
    found: list[Block] = []
    if requirements is not None:
        found += first_screen(
            requirements, measured.coefficients, measured.unstable,
            columns=[one.column for one in added if one.column], questions=measured.questions,
        )  # fmt: skip
    found += [Lines(lines, "cautions")] if lines else []
    leads = group_leads(measured.coefficients)
    if len(leads) == 1 and leads[0][0].code not in WARNINGS:
        found.append(Paragraph(leads[0][1], "lead"))
    return found


def first_screen(
    requirements: pl.DataFrame,
    coefficients: pl.DataFrame,
    unstable: pl.DataFrame,
    *,
    columns: Sequence[Callable[[Sequence[Row]], Column]] = (),
    questions: QuestionTexts | None = None,
) -> list[Block]:
    """Say whether each judge may decide here: a line each, their numbers, and one figure.

    Examples
    --------
    >>> from judgerel_ray import example, gate, reduce
    >>> path = example("judgments.csv")
    >>> found = first_screen(gate(path).requirements, reduce(path), pl.DataFrame())
    >>> found[0].text
    'Not known yet whether to rely on simulated-erratic and simulated-steady.'
    >>> found[2].spans[0].text
    '? simulated-steady: undecided.'
    """
    if requirements.is_empty():
        return []
    groups = Requirements.groups(requirements)
    found = decisions(requirements)
    varying = [
        name
        for name in groups
        if name != "temperature"
        and (name == "judge" or len({cell(one.group[name]) for one in found}) > 1)
    ]
    blocks: list[Block] = [Paragraph(answer(found, varying), "lead")]
    blocks += [verdict_line(one, varying) for one in found[:_MOST_VERDICTS]]
    if more := len(found) - _MOST_VERDICTS:
        blocks += [Paragraph(f"{more:,} more stand in the table.")] if more > 0 else []
    blocks.append(_page_requirement_table(requirements, groups, coefficients, columns))
    blocks += _page_questions_for_people(unstable, questions or {})
    is_noise = coefficients.filter(coefficient="krippendorff_alpha")["noise"].any()
    legend = [(style, words) for style, words in _LEGEND if style != "noise" or is_noise]
    blocks.append(Figures(floor_figure(coefficients), legend))
    return [*blocks, Paragraph(_READ, "soft")]


_ANSWERS = {
    Verdict.PASS: ("These verdicts may be relied on", "Rely on"),
    Verdict.FAIL: ("Do not rely on these verdicts", "Do not rely on"),
    Verdict.INCONCLUSIVE: (
        "Not known yet whether these verdicts may be relied on",
        "Not known yet whether to rely on",
    ),
}


def answer(found: Sequence[Decision], varying: Sequence[str]) -> str:
    """Say in a sentence or three on whom one may rely here.

    Examples
    --------
    >>> rows = {"first": Verdict.FAIL, "reader": Verdict.PASS, "new": Verdict.FAIL}
    >>> answer([Decision(group={"judge": name}, verdict=verdict, temperature=None, rows=[])
    ...         for name, verdict in rows.items()], ["judge"])
    'Rely on reader. Do not rely on first and new.'
    """
    if len(found) == 1 or not varying:
        return f"{_ANSWERS[found[0].verdict][0]}."
    sentences = []
    for verdict, (_, begin) in _ANSWERS.items():
        names = [_page_group_subject(one.group, varying) for one in found if one.verdict is verdict]
        shown = [*names[:_NAMED], *([f"{len(names) - _NAMED:,} more"] if names[_NAMED:] else [])]
        listed = " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
        sentences += [f"{begin} {listed}."] if names else []
    return " ".join(sentences)


def _page_group_subject(group: Row, varying: Sequence[str]) -> str:
    """A group in a list: its judge, the rest in brackets, since both have commas."""
    if "judge" not in varying or len(varying) == 1:
        return group_label(group, varying)
    rest = group_label(group, [name for name in varying if name != "judge"])
    return f"{group_label(group, ['judge'])} ({rest})"


_LEGEND = (
    ("point", "alpha"),
    ("noise", "not distinguishable from noise"),
    ("interval", "95 % interval"),
    ("band", "where 95 % of noise falls"),
)


def _page_requirement_table(
    requirements: pl.DataFrame,
    groups: Sequence[str],
    coefficients: pl.DataFrame,
    added: Sequence[Callable[[Sequence[Row]], Column]],
) -> Table:
    """Every group's verdict and the numbers that made it."""
    parts = rows_by_group(requirements, groups)
    verdicts = [overall([str(row["verdict"]) for row in rows]) for rows in parts.values()]
    # The first row of each coefficient.
    of = [{str(row["coefficient"]): row for row in reversed(rows)} for rows in parts.values()]
    alphas = [rows.get("krippendorff_alpha", ABSENT) for rows in of]
    names = group_columns(coefficients)
    chance, kappas = (
        [rows.get(key, ABSENT) for key in parts]
        for rows in (
            {tuple(row[name] for name in names): row for row in first_rows(coefficients, one)}
            for one in ("krippendorff_alpha", "cohen_kappa")
        )
    )
    keys = [dict(zip(groups, key, strict=True)) for key in parts]
    columns = [
        Column(head="verdict", cells=[f"{SIGNS[one]} {STANDINGS[one]}" for one in verdicts]),
        *key_columns(keys, groups),
        estimates("alpha [95 %]", alphas, "value"),
        floor_column(chance),
        Column(head="alpha is of", cells=[cell(row["conditions"]) for row in alphas]),
        *(
            _page_share_column(head, [rows.get(name, ABSENT) for rows in of])
            for name, head in _SHARES.items()
        ),
        estimates("kappa with labels", kappas, "value"),
        *(column(keys) for column in added),
        Column(
            head="what would decide",
            cells=list(map(_page_needs_to_decide, parts.values())),
            kind="prose",
        ),
    ]
    return Table("Whether each judge may decide, and the numbers that say so", columns, cards=True)


def _page_share_column(head: str, rows: Sequence[Row]) -> Column:
    """Shares in percent with their intervals."""
    small = [percent_interval(row["low"], row["high"]) for row in rows]
    return numeric(head, [percent(row["value"]) for row in rows], small)


def _page_needs_to_decide(rows: Sequence[Row]) -> str:
    """What more would decide, or what is missed."""
    if overall([str(row["verdict"]) for row in rows]) is Verdict.FAIL:
        return "another judge, prompt or temperature"
    still = [row for row in rows if row["verdict"] == Verdict.INCONCLUSIVE.value]
    return "; ".join(dict.fromkeys(_page_ways_to_decide(still)))


def _page_ways_to_decide(rows: Sequence[Row]) -> Iterator[str]:
    """Ways to decide what is open; of questions the most that any requirement needs."""
    crossing = [row for row in rows if row["reason"] == CROSSES]
    counted = [row for row in crossing if row["more_questions"] is not None]
    if counted and len(counted) == len(crossing):
        yield more_words(max(counted, key=lambda row: int(str(row["more_questions"]))))
    elif crossing:
        yield TOO_MANY
    yield from (more_words(row) for row in rows if row["reason"] != CROSSES)


def _page_questions_for_people(unstable: pl.DataFrame, questions: QuestionTexts) -> list[Block]:
    """Which questions a person should see."""
    if unstable.is_empty():
        return []
    rows = unstable.filter(pl.col("agreement") < 1)
    texts = []
    for rated in (False, True):
        of_kind = rows.filter(pl.col("rated") == rated)
        names = [
            one for one in _WHOSE
            if one in rows.columns and (one == "judge" or of_kind[one].n_unique() > 1)
        ]  # fmt: skip
        items = of_kind.unique("item_id", keep="first", maintain_order=True).head(_NAMED)
        texts += [_page_wavering_question(row, names, questions) for row in items.to_dicts()]
    if not texts:
        return []
    return [
        Paragraph(["A person should see the questions on which judges waver most, from these on: ",
                   Span(UNSTABLE, "section"), "."]),
        Lines(texts),
    ]  # fmt: skip


def _page_wavering_question(row: Row, names: Sequence[str], questions: QuestionTexts) -> str:
    """How far a judge wavers on a question, whose judgment that is, and the question."""
    apart = f"{percent(row['agreement'])} of pairs agree"
    if row["spread"] is not None:
        apart = f"ratings with a standard deviation of {number(row['spread'])} points"
    whose = group_label(row, names) if names else ""
    answer = f"answer of {row['responder']}" if row.get("responder") is not None else ""
    of = ", ".join(part for part in (whose, answer) if part)
    question = question_text(row, questions) or row["item_id"]
    replies = f"{row['n_replications']:,} replies {replied_shares(row)}"
    return f"{apart}{f' ({of})' if of else ''}: {question}: {replies}"


def write_series(series: Series, directory: SeriesDirectory, refreshes: Sequence[Refresh]) -> None:
    """Write the history, the summary and the page of a series.

    Effects: replaces of three files those that are not there as they are now. Retry: safe.
    """
    history, summary = history_of(series, refreshes), summary_of(series, refreshes)
    page = rendered_page(
        "reporting/page.html",
        script="reporting/tables.js.html",
        title=f"Series {series.name}",
        notice=[],
        blocks=series_blocks(summary, history),
        footer="",
    )
    history_name, summary_name, page_name = MADE
    made = {
        history_name: encode_parquet(history),
        page_name: page.encode(),
        summary_name: (json.dumps(summary, indent=1) + "\n").encode(),
    }
    there = directory.files.read_many(made)
    for name, data in made.items():
        if there.get(name) != data:
            directory.files.write(name, data)
