"""Confusion matrices of a run: from what landed, and what they say of its judgments."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO

import polars as pl

from judgerel_ray.benchmarks import SCALES
from judgerel_ray.benchmarks.judged_text import first_part
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import StoreError, request_key
from judgerel_ray.design import build_wave
from judgerel_ray.pipeline.baselines import matrix_tokens, plain_scores
from judgerel_ray.pipeline.made_tables import read_made
from judgerel_ray.pipeline.owing import landed_texts
from judgerel_ray.pipeline.resolve import Resolved
from judgerel_ray.reduce.confusions import Scored, confusion_table
from judgerel_ray.reduce.people import people_labels
from judgerel_ray.reduce.uncertainty import UncertaintyOptions
from judgerel_ray.reduce.uncertainty_tables import UncertaintyTables, uncertainty_tables
from judgerel_ray.store import (
    CHEAP_COLUMNS,
    Ledger,
    RunDirectory,
    scan_completions,
    scan_judgments,
    write_own,
)
from judgerel_ray.tables import Confusions

CONFUSIONS = "confusions/confusions.parquet"
_OWN = ("judge", "benchmark", "item_id", "template", "temperature", "verdict")


def write_confusions(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out the matrices of a run from what landed of it.

    Effects: replaces one file, made of what landed and of nothing else. Retry: safe.

    Returns
    -------
    int or None
        Cells written; None where the sweep asks for no confusion.
    """
    frames = [frame for frame in resolved.frames if frame.ask.protocol == "confusion"]
    if not frames:
        return None
    texts = landed_texts(run, ledger)
    landed = _landed_reads(run, ledger)
    tables = []
    for frame in frames:
        scored = []
        for voice in frame.judges:
            for work in build_wave(frame, frame.n_waves - 1, voice, texts):
                for ask in (*work.asks, *(ask for ask, _ in work.impossible)):
                    key = request_key(ask.condition.condition_key, 0)
                    if key in landed:
                        read = landed[key] or []
                        one = Scored(condition=ask.condition, mode=frame.ask.mode, read=read)
                        scored.append(one)
        tables.append(
            confusion_table(scored, last_token=frame.ask.option_probability == "last_token")
        )
    table = pl.concat(tables)
    data = BytesIO()
    table.write_parquet(data)
    write_own(run, CONFUSIONS, data.getvalue())
    return table.height


def _landed_reads(run: RunDirectory, ledger: Ledger) -> dict[str, list[dict[str, object]] | None]:
    """Log-probabilities that landed, by key; None where a request could never be sent."""
    keys = scan_judgments(run, columns=("key", "role"), ledger=ledger)
    keys = keys.filter(pl.col("role") == "scorer").select("key")
    reads = scan_completions(run, columns=("key", "logprobs"), ledger=ledger)
    frame = keys.join(reads, on="key", how="left").collect()
    return dict(zip(frame["key"], frame["logprobs"].to_list(), strict=True))


def read_confusions(run: RunDirectory) -> pl.DataFrame:
    """The matrices of a run; StoreError where it has none."""
    nothing = StoreError(
        "the run has no confusion matrices",
        where={"run": run.url},
        hint='an [[ask]] with protocol = "confusion" makes them',
    )
    return read_made(
        run, CONFUSIONS, Confusions, asked=lambda ask: ask.protocol == "confusion", nothing=nothing
    )


def run_uncertainty(
    path: str, options: UncertaintyOptions | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Uncertainty of the judgments of a run, and what it is worth.

    Returns
    -------
    tuple of DataFrame
        As :func:`judgerel_ray.reduce.uncertainty.uncertainty_rows` and
        :func:`judgerel_ray.reduce.uncertainty_worth.uncertainty_summary`.

    Raises
    ------
    StoreError
        If the path is no run, or the run asked for no confusion.
    """
    found = run_uncertainty_tables(path, options)
    return found.judgments, found.worth


def run_uncertainty_tables(
    path: str, options: UncertaintyOptions | None = None
) -> UncertaintyTables:
    """All that the confusion matrices of a run say of its judgments.

    Thresholds and scales that `options` leave out are those of the run's own sweep.

    Raises
    ------
    StoreError
        If the path is no run, or the run asked for no confusion.
    """
    run = RunDirectory.open(path)
    confusions = read_confusions(run)
    own = (
        scan_judgments(run, columns=CHEAP_COLUMNS)
        .filter((pl.col("protocol") == "confusion") & (pl.col("role") == "judge"))
        .select(_OWN)
        .collect()
    )
    items = pl.read_parquet(BytesIO(run.read_bytes("items.parquet")))
    tokens = matrix_tokens(run)
    return uncertainty_tables(
        confusions,
        own,
        right_options(items),
        items,
        baselines=plain_scores(run, tokens),
        tokens=tokens,
        options=_stated(run, items, options or UncertaintyOptions()),
    )


def _stated(
    run: RunDirectory, items: pl.DataFrame, options: UncertaintyOptions
) -> UncertaintyOptions:
    """The options, with the thresholds of the sweep and the scales of the benchmarks."""
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    names = items["benchmark"].unique(maintain_order=True).to_list()
    found: dict[str, set[float]] = {name: set() for name in names}
    for ask in sweep.ask:
        # A loader of one's own format leaves the name of the benchmark to the file.
        for name in [ask.benchmark] if ask.benchmark in names else names:
            found[name].update(ask.thresholds)
    thresholds = {name: tuple(sorted(values)) for name, values in found.items() if values}
    return replace(
        options,
        thresholds=options.thresholds or thresholds,
        scales=options.scales or SCALES,
    )


def right_options(items: pl.DataFrame, *, raters: str | None = None) -> pl.DataFrame:
    """The right option of each item: its gold, else the label that most of its people gave.

    Beside it what the judged text is about (the question it answers, the article it sums up, else
    the text itself): judgments about one thing are not independent. A majority is of people who
    agree: for what needs no single right label see
    :func:`judgerel_ray.reduce.matched_people.matched_table`.

    Parameters
    ----------
    items : DataFrame
        Of :class:`judgerel_ray.tables.Items`; a rater named ``kind:name`` is of that kind.
    raters : str, optional
        The kind of people whose labels count; by default the first that the items of a benchmark
        name, as kinds are not pooled.

    Returns
    -------
    DataFrame
        benchmark, item_id, ``right``, ``text``, ``basis`` ("gold"; "majority"; "no_majority" where
        two labels are as frequent, so that ``right`` is null; null where nobody says), the kind of
        ``raters`` (null of gold, and of people of no kind) and ``n_people`` whose labels counted.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item, Option
    >>> from judgerel_ray.tables import items_to_frame
    >>> options = tuple(Option(option_id=o, text=o) for o in "01")
    >>> items = [Item(item_id=said, benchmark="b", category="c", question="?", options=options,
    ...               ratings=tuple(HumanRating(rater=str(n), label=x) for n, x in enumerate(said)))
    ...          for said in ("110", "10")]
    >>> right_options(items_to_frame(items)).select("right", "basis", "n_people").rows()
    [('1', 'majority', 3), (None, 'no_majority', 2)]
    """
    labels = people_labels(items)
    leading = dict(labels.unique("benchmark", keep="first", maintain_order=True)
                   .select("benchmark", "raters").iter_rows())  # fmt: skip
    counted = {
        (benchmark, item): (kind, Counter(said))
        for benchmark, item, kind, said in labels.iter_rows()
        if kind == (leading[benchmark] if raters is None else raters)
    }
    found = []
    for row in items.iter_rows(named=True):
        names = {option["option_id"] for option in row["options"]}
        right = row["gold"] if row["gold"] in names else None
        basis, kind, votes = "gold" if right is not None else None, None, Counter[str]()
        if right is None and (place := (row["benchmark"], row["item_id"])) in counted:
            kind, votes = counted[place]
            leaders = [name for name, n in votes.items() if n == max(votes.values())]
            right = leaders[0] if len(leaders) == 1 else None
            basis = "no_majority" if right is None else "majority"
        about = first_part(row["context"]) if row["context"] else row["item_id"]
        found.append(
            {"benchmark": row["benchmark"], "item_id": row["item_id"], "right": right,
             "text": about, "basis": basis, "raters": kind, "n_people": votes.total()}
        )  # fmt: skip
    texts = ("benchmark", "item_id", "right", "text", "basis", "raters")
    return pl.DataFrame(found, schema={**dict.fromkeys(texts, pl.String), "n_people": pl.Int64})
