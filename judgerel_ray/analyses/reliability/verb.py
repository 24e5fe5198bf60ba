"""``reduce``, ``questions``, ``serving``: coefficients, every question by itself, serving noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import (
    BY,
    Labelled,
    Names,
    Written,
    by_name,
    comma_names,
    command_on,
    flag,
    names_of,
    read_number,
    split_names,
    verb,
)

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource
    from judgerel_ray.measuring.reliability import ReduceOptions

MISSING = flag("how a missing verdict counts: category, drop, bounds", "NAMES",
               read=comma_names)  # fmt: skip
BLOCK = flag("replications to use: 0 (the first block) or all; later ones depend on the first",
             choices=("0", "all"))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceRequest(Labelled):
    """What ``reduce`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    measurement: Names = field(
        default=None,
        metadata=flag(
            "how verdicts are compared: nominal, ordinal, interval, ratio; default as the group's "
            "own scale says",
            "NAMES",
            read=comma_names,
        ),
    )
    items: str | None = field(
        default=None,
        metadata=flag("the column of distinct items, for cronbach_alpha and the omegas", "COL"),
    )
    nuisance: Names = field(
        default=(),
        metadata=flag(
            "facets that should not matter, besides option_order, template, definition; where one "
            "varies, reproducibility leads and repeatability follows",
            "COLS",
            read=comma_names,
        ),
    )
    missing: Names = field(default=("category", "drop"), metadata=MISSING)
    coefficients: Names = field(
        default=None,
        metadata=flag(
            "coefficients by name; default krippendorff_alpha, percent_agreement, fleiss_kappa, "
            "gwet_ac1, brennan_prediger, flip_rate, valid_rate, and where they apply "
            "class_agreement (of pass and fail), icc1 and standard_error (of ratings), "
            "swap_consistency and those of places (of several orders), accuracy and cohen_kappa "
            "(where labels are known), cronbach_alpha and the omegas (with --items)",
            "NAME",
            read=split_names,
            repeats=True,
        ),
    )
    block: str | int = field(default="0", metadata=BLOCK)
    tolerance: Mapping[str, float] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "least value of a coefficient (flip_rate: most); the whole confidence interval must "
            "meet it; default the run's",
            "NAME=VALUE",
            repeats=True,
        ),
    )
    interval: str = field(
        default="auto",
        metadata=flag(
            "how intervals are made: auto (posterior where few pass/fail questions decide, else "
            "jackknife), posterior, jackknife, bootstrap",
            "METHOD",
        ),
    )
    resamples: int | None = field(
        default=None, metadata=flag("number of bootstrap resamples; 2000 where none are given", "N")
    )
    seed: int | None = field(
        default=None,
        metadata=flag(
            "seed of the bootstrap; 0 where none is given; equal seeds, equal digits", "S"
        ),
    )

    def options(self) -> ReduceOptions:
        """As reducers have them; SweepError where one is wrong."""
        from judgerel_ray.counting.intervals import interval_choice
        from judgerel_ray.measuring.reliability import ReduceOptions

        return ReduceOptions(
            by=names_of(self.by),
            measurement=names_of(self.measurement),
            missing=names_of(self.missing) or (),
            nuisance=names_of(self.nuisance) or (),
            coefficients=names_of(self.coefficients),
            block=str(self.block),
            items=self.items,
            tolerance=by_name(self.tolerance, "--tolerance", read_number),
            intervals=interval_choice(self.interval, resamples=self.resamples, seed=self.seed),
        )


@verb(
    ReduceRequest,
    examples=("reduce judgments.csv", "reduce run --tolerance flip_rate=0.3"),
    group="Analyse",
    help="coefficients of a run or of a file of judgments",
    section="judgerel_ray.analyses.reliability.sections:reliability_on_page",
)
def reduce(path: JudgmentSource, request: ReduceRequest) -> Result[pl.DataFrame]:
    """Coefficients of a run directory or of judgments one holds, as ``judgerel reduce`` prints.

    Parameters
    ----------
    path : str, path or frame
        Run directory; a file, folder or pattern of files (Parquet, CSV, TSV, JSON Lines, JSON); or
        a frame of such rows: Polars, lazy or not, pandas, an Arrow table.

    Returns
    -------
    pl.DataFrame
        One row a group, coefficient and missing policy; null where undefined, with the reason.

    Raises
    ------
    SweepError
        If the file, a column, a name or a choice is wrong.

    Warns
    -----
    ReadingWarning
        If rows were read otherwise than they are written, such as spellings treated as one; or
        if the numbers are other than they seem, as the terminal says before them.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = reduce(example("judgments.csv"), coefficients="percent_agreement")
    >>> [(judge, round(value, 2)) for judge, value in found.select("judge", "value").rows()]
    [('simulated-erratic', 0.6), ('simulated-steady', 0.79)]
    """
    from judgerel_ray.analyses.reliability.short import FOLLOWING, legend_blocks, reduced_blocks
    from judgerel_ray.analyses.reliability.show import full_blocks, tolerance_text
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.files.labelled import READ
    from judgerel_ray.counting.snapshot import Snapshot
    from judgerel_ray.measuring.reliability import (
        as_stated,
        reduce_judged,
        reduced,
        with_stated_tolerance,
    )

    options = request.options()
    # Written at once: what is found holds nothing of what was read.
    commands = {name: command_on(name, path, request) for name in FOLLOWING}
    with Snapshot.open(path, request, apart=options.extra_keys, columns=READ) as judged:
        with judged.hinting_at_distributions():
            coefficients = reduce_judged(*as_stated(judged, options))
            coefficients = with_stated_tolerance(coefficients, judged, options)
        found = reduced(judged, coefficients, options)
        notes = (*judged.run_notes, *([found.caution] if found.caution else []))
    rows, standing = found.rows, ""
    if "standing" in rows.columns:
        stated = "--tolerance" if options.tolerance else "the run's sweep.toml"
        standing = tolerance_text(rows, source=stated)
    named = options.coefficients is not None or "nominal" in (options.measurement or ())
    chosen = (options.coefficients or options.measurement or options.items) is not None
    short = partial(
        reduced_blocks, found, named=chosen, standing=standing, command=commands.__getitem__
    )
    return Result(
        found=rows, tables=rows, notes=notes,
        full=partial(full_blocks, found, named=named, standing=standing),
        short=short if found.coefficients.height else None,
        legend=partial(legend_blocks, found),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsRequest(Labelled):
    """What ``questions`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    block: str | int = field(default="0", metadata=BLOCK)
    missing: Names = field(default=("category", "drop"), metadata=MISSING)


@verb(
    QuestionsRequest,
    examples=("questions judgments.csv", "questions run --by judge,temperature"),
    group="Analyse",
    help="accuracy and agreement of every question",
)
def questions(path: JudgmentSource, request: QuestionsRequest) -> Result[pl.DataFrame]:
    """Accuracy and agreement of every question.

    Returns
    -------
    pl.DataFrame
        One row a group and question: accuracy where what is right is known, agreement, verdicts.

    Raises
    ------
    SweepError, StoreError
        As of :func:`judgerel_ray.reduce`.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = questions(example("judgments.csv"))
    >>> found.select("judge", "item_id", "accuracy").rows()[-2:]
    [('simulated-steady', 'q7', 1.0), ('simulated-steady', 'q8', 0.5)]
    """
    from judgerel_ray.analyses.reliability.show import questions_short, questions_text
    from judgerel_ray.blocks.blocks import Laid
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.right_answers import GOLD
    from judgerel_ray.counting.snapshot import Snapshot
    from judgerel_ray.measuring.reliability import ReduceOptions, questions_of

    by = names_of(request.by)
    options = ReduceOptions(
        by=by, missing=names_of(request.missing) or (), block=str(request.block)
    )
    command = command_on("reduce", path, request)
    with Snapshot.open(path, request, apart=[*(by or ()), GOLD]) as judged:
        found = questions_of(judged, options)
        return Result(
            found=found, tables=found, full=lambda: [Laid(questions_text(found))],
            short=lambda: questions_short(found, command),
            notes=judged.run_notes,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRequest(Written):
    """What ``serving`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    block: str | int = field(default="0", metadata=BLOCK)


@verb(
    ServingRequest,
    examples=("serving run", "serving run --out serving.csv"),
    group="Analyse",
    help="serving noise: replies that differ between repeats at temperature 0",
    section="judgerel_ray.measuring.show_serving:serving_on_page",
)
def serving(path: JudgmentSource, request: ServingRequest) -> Result[pl.DataFrame]:
    """Measure serving noise: how replies differ between repeats at temperature 0.

    These rows stand below the coefficients of :func:`judgerel_ray.reduce`, too.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`judgerel_ray.reduce`; of a run, texts are compared as well.

    Returns
    -------
    pl.DataFrame
        One row a group and share: pairs of replies whose verdicts differ, questions with any such
        pair, and the same of texts.

    Raises
    ------
    SweepError, StoreError
        As of :func:`judgerel_ray.reduce`; or if temperature 0 was not asked more than once.

    Examples
    --------
    Of judges that are simulated, whose serving has no noise:

    >>> from judgerel_ray import example
    >>> found = serving(example("run"), by="judge")
    >>> found.select("judge", "coefficient", "value").rows()[0]
    ('simulated-erratic', 'serving_noise', 0.0)
    """
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import Snapshot
    from judgerel_ray.measuring.reliability import ReduceOptions, reduce_judged, reduced
    from judgerel_ray.measuring.serving import SERVING
    from judgerel_ray.measuring.show_serving import serving_blocks, serving_short

    options = ReduceOptions(by=names_of(request.by), block=str(request.block), coefficients=SERVING)
    command = command_on("reduce", path, request)
    with Snapshot.open(path, request, apart=options.extra_keys) as judged:
        with judged.hinting_at_distributions():
            coefficients = reduce_judged(judged, options)
        found = reduced(judged, coefficients, options).rows
        return Result(
            found=found,
            tables=found,
            full=lambda: serving_blocks(found),
            short=lambda: serving_short(found, command),
            notes=judged.run_notes,
        )
