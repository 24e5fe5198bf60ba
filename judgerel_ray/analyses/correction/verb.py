"""``correct`` and ``label``: scores without a judge's errors, and labels to correct them by."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import (
    BY,
    FORCE,
    Named,
    Names,
    check_choices,
    command_on,
    flag,
    names_of,
    verb,
)

if TYPE_CHECKING:
    from judgerel_ray.analyses.correction.correction import CorrectionTables
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectRequest(Named):
    """What ``correct`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    labels: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "people's labels of some items: a table of item_id, label and, if they were not drawn "
            "at random, probability; default a column gold of the judgments; without either three "
            "judges or more are compared with each other",
            "FILE",
        ),
    )
    positive: str | None = field(
        default=None,
        metadata=flag(
            "the verdict that passes; default pass, yes, true, 1, correct, right, good", "VERDICT"
        ),
    )
    width: float | None = field(
        default=None,
        metadata=flag("report how many labels give an interval of this total width", "W"),
    )
    seed: int = field(default=0, metadata=flag("of the bootstrap without labels", "S"))


@verb(
    CorrectRequest,
    examples=(
        "correct judgments.csv --positive a",
        "correct judgments.csv --labels labels.csv --positive a",
    ),
    group="Decide",
    help="pass rates and mean scores corrected for judge error, using a few human labels",
    file="estimates or agreed; as .json all",
    section="judgerel_ray.analyses.correction.from_run:correction_on_page",
)
def correct(path: JudgmentSource, request: CorrectRequest) -> Result[CorrectionTables]:
    r"""Correct a judge's pass rate or mean score by what people said of a few items.

    Returns
    -------
    CorrectionTables
        ``estimates``: the judge alone, labels alone, PPI++ and Rogan-Gladen, with intervals
        clustered by question; ``rates``: how often the judge is right of what people pass and
        fail; ``transport``; ``differences`` of systems; ``budget``. Without labels ``agreed`` and
        ``judges``: Dawid and Skene's estimate of several judges.

    Raises
    ------
    SweepError, StoreError
        If the judgments, the labels or an option are wrong.

    Examples
    --------
    The judges of the example, held against each question's right answer on four of eight:

    >>> import polars as pl, tempfile
    >>> from judgerel_ray import example
    >>> judged = pl.read_csv(example("judgments.csv"))
    >>> judged = judged.with_columns(verdict=pl.col("verdict") == pl.col("gold"))
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item_id,label\nq1,yes\nq2,yes\nq3,yes\nq4,no\n")
    ...     file.flush()
    ...     found = correct(judged, labels=file.name).estimates.filter(judge="simulated-steady")
    >>> [(row["estimate"], round(row["value"], 3)) for row in found.to_dicts()[:3]]
    [('judge_alone', 0.875), ('labels_alone', 0.75), ('ppi', 0.75)]
    """
    from judgerel_ray.analyses.correction.from_run import correction_of
    from judgerel_ray.analyses.correction.short import corrected_short
    from judgerel_ray.analyses.correction.show import correction_blocks
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import Snapshot

    by = names_of(request.by)
    labels = None if request.labels is None else fspath(request.labels)
    with Snapshot.open(
        path, request, apart=by or (), columns=["responder", "criterion", "gold"]
    ) as judged:
        found = correction_of(
            judged, labels, by=by, positive=request.positive, width=request.width, seed=request.seed
        )
        notes = judged.run_notes
    command = command_on("reduce", path, request)
    return Result(
        found=found,
        notes=notes,
        tables={name: table for name, table in found.tables().items() if table.width},
        full=lambda: correction_blocks(found.tables()),
        short=lambda: corrected_short(found.tables(), command),
        rows=found.estimates if found.estimates.width else found.agreed,
        whole_json=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRequest(Named):
    """What ``label`` is asked for."""

    out: str | PathLike[str] = field(metadata=flag("where the page goes", "page.html"))
    n: int = field(default=100, metadata=flag("how many items", "N"))
    choose: str = field(
        default="random",
        metadata=flag(
            "how half of the items are chosen; the other half is random, and every item's "
            "probability is known",
            choices=("random", "unstable", "uncertain"),
        ),
    )
    items: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "a table of item_id, question, answer: what people see; default the run's items, or "
            "such columns of the judgments",
            "FILE",
        ),
    )
    seed: int = field(default=0, metadata=flag("of the draw", "S"))
    force: bool = field(default=False, metadata=FORCE)

    def __post_init__(self) -> None:
        check_choices(self)


@verb(
    LabelRequest,
    examples=(
        "label judgments.csv --items items.jsonl --n 4 --out label.html",
        "label judgments.csv --items items.jsonl --choose unstable --out unstable.html",
    ),
    group="Decide",
    help="write an HTML page for labelling a few items by hand",
    prints="",
)
def label(path: JudgmentSource, request: LabelRequest) -> Result[int]:
    """Write an offline page on which people label items, drawn with known probabilities.

    It shows nothing of what a judge said, works by keyboard alone, and exports a table that
    :func:`judgerel_ray.correct` takes as `labels`.

    Returns
    -------
    int
        How many items are on it.

    Raises
    ------
    SweepError, StoreError
        If the judgments or an option are wrong, nothing says what an item is about, or `out` must
        not be written.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     label(example("judgments.csv"), items=example("items.jsonl"), n=4,
    ...           out=f"{folder}/page.html")
    4
    """
    from judgerel_ray.analyses.correction.label_page import READ, write_label_page
    from judgerel_ray.blocks.blocks import Laid
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import Snapshot, name_of
    from judgerel_ray.store.outputs import output_to

    items = None if request.items is None else fspath(request.items)
    output = output_to(
        fspath(request.out), "report", reads=(name_of(path), items), force=request.force
    )
    with Snapshot.open(path, request, columns=READ) as judged:
        n = write_label_page(
            judged, output, n=request.n, choose=request.choose, items=items, seed=request.seed
        )
    line = f"wrote {request.out}: {n:,} items to label; its export is for judgerel correct --labels"
    return Result(found=n, full=lambda: [Laid(line)])
