"""How far can an LLM judge be trusted? Ask it again, many times, and measure.

Importing this package loads none of ray, vllm, torch or polars: its functions do when called.

Examples
--------
>>> import judgerel_ray
>>> judgerel_ray.__version__
'0.1.0'
"""

from __future__ import annotations

from judgerel_ray.interrupts import catch_interrupts, is_the_command

if is_the_command():  # before anything else is imported, which takes longer than to press Ctrl-C
    catch_interrupts()

from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.analyses.distributions.calls import weighted
from judgerel_ray.analyses.panels.calls import cascade, cascaded, panels
from judgerel_ray.analyses.selection.calls import comparison, selection
from judgerel_ray.core import ReadingWarning, UnfinishedRunWarning
from judgerel_ray.counting.given import given
from judgerel_ray.reporting.calls import (
    alignment,
    limits,
    ranking,
    reasoning,
    scales,
    settled,
    uncertainty,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from judgerel_ray.config import Sweep
    from judgerel_ray.counting.given import Judgments

__version__ = "0.1.0"
__all__ = ["UnfinishedRunWarning", "__version__", "limits", "load_sweep", "reasoning", "reduce"]
__all__ += ["alignment", "ranking", "run", "scales", "settled", "uncertainty", "weighted"]
__all__ += ["ReadingWarning", "cascade", "cascaded", "comparison", "panels", "selection"]


def load_sweep(path: str | PathLike[str]) -> Sweep:
    """Read and check a sweep file.

    Parameters
    ----------
    path : str or path
        A TOML file.

    Returns
    -------
    Sweep
        Frozen, every default filled in.

    Raises
    ------
    SweepError
        If it is missing or wrong; one line that names the key.

    Examples
    --------
    >>> load_sweep("no-such.toml")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such sweep file [file=no-such.toml]. ...
    """
    from judgerel_ray.config import load_sweep as load

    return load(fspath(path))


def run(
    sweep: Sweep | str | PathLike[str],
    *,
    out: str | PathLike[str],
    address: str | None = None,
    ask_lost: bool = False,
) -> pl.DataFrame:
    """Run a sweep into a run directory, or go on with it.

    Parameters
    ----------
    sweep : Sweep, str or path
        From :func:`load_sweep`, or the path of a sweep file.
    out : str or path
        Run directory: a local path or an fsspec URL.
    address : str, optional
        Ray cluster; by default one is started on this machine.
    ask_lost : bool
        Whether to ask again what landed and is lost, however much, and judgments without texts.

    Returns
    -------
    pl.DataFrame
        The judgments table: one row for every request that landed.

    Raises
    ------
    SweepError, StoreError
        If the sweep or the directory is wrong.
    EngineError
        If no judge could be asked.

    Warns
    -----
    UnfinishedRunWarning
        If requests are still owed; it has ``owed`` and ``problems``, the frame what landed.

    Examples
    --------
    >>> run("no-such.toml", out="nowhere")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such sweep file [file=no-such.toml]. ...
    """
    from judgerel_ray.asking.run.calling import judgments_of

    loaded = load_sweep(sweep) if isinstance(sweep, str | PathLike) else sweep
    return judgments_of(loaded, str(out), address=address, ask_lost=ask_lost)


def reduce(
    path: Judgments,
    *,
    by: Sequence[str] | str | None = None,
    measurement: Sequence[str] | str | None = None,
    items: str | None = None,
    missing: Sequence[str] | str = ("category", "drop"),
    coefficients: Sequence[str] | str | None = None,
    block: int | str = 0,
    nuisance: Sequence[str] | str = (),
    tolerance: Mapping[str, float] | None = None,
    bands: bool = False,
    questions: bool = False,
    interval: str = "auto",
    resamples: int | None = None,
    seed: int | None = None,
    verdict_names: str | None = None,
    exact_values: bool = False,
) -> pl.DataFrame:
    """Coefficients of a run directory or of judgments one holds, as ``judgerel reduce`` prints.

    Parameters
    ----------
    path : str, path or frame
        Run directory; a file, folder or pattern of files (Parquet, CSV, TSV, JSON Lines, JSON); or
        a frame of such rows: Polars, lazy or not, pandas, an Arrow table.
    by : str or sequence of str, optional
        Columns that make a group; default judge, benchmark, protocol, criterion, definition, scale
        and temperature, those that are there.
    measurement : str or sequence of str, optional
        "nominal", "ordinal", "interval", "ratio"; default that of the group's own scale.
    items : str, optional
        Column whose values are distinct items, for cronbach_alpha and the omegas.
    missing : str or sequence of str
        "category", "drop", "bounds": what verdicts that are not there count as.
    coefficients : str or sequence of str, optional
        By name; default the first seven, and those of items where `items` are given.
    block : 0 or "all"
        Which blocks of replications count; later ones depend on the data of earlier ones.
    nuisance : str or sequence of str
        Facets that should not matter to a verdict, besides option_order, template and definition.
        Where one varies, reproducibility (these drawn at random for each judgment) leads, and
        repeatability (the same prompt again) follows.
    tolerance : mapping of str to float, optional
        Least value of a coefficient (flip_rate: most), by whole intervals; default the run's.
    bands : bool
        Whether to name verbal bands, by whole intervals: one more column.
    questions : bool
        Whether to give accuracy and agreement of every question instead of coefficients.
    interval : {"auto", "jackknife", "posterior", "bootstrap"}
        Leave out one question at a time, with Student's t; a posterior over the questions' verdict
        distributions (nominal alpha, kappa, ICC); or draw questions anew. "auto": the posterior
        where two verdicts occur and few questions are informative, the jackknife elsewhere.
    resamples, seed : int, optional
        Of the bootstrap; 2000 and 0 by default. Equal seeds give equal digits.
    verdict_names : {"option", "place"}, optional
        What verdicts of a file with several orders of the options and no column label name; without
        it nothing that compares them across orders has a value.
    exact_values : bool
        Whether every spelling is a verdict of its own. By default ``PASS``, ``pass`` and
        ``' PASS'`` are one, ``1`` and ``1.0`` are, and NaN, N/A, null and none are no verdict;
        verdicts of a run directory are always taken as they are.

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
        If rows were read otherwise than they are written, such as spellings put together.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "judgments.csv")
    ...     lines = ["item_id,replication,verdict", "q1,0,A", "q1,1,A", "q2,0,B", "q2,1,A"]
    ...     _ = file.write_text(chr(10).join(lines))
    ...     frame = reduce(str(file), coefficients="percent_agreement")
    >>> frame["value"].to_list()
    [0.5]
    """
    from judgerel_ray.analyses.reliability.questions import question_path
    from judgerel_ray.analyses.reliability.reducing import ReduceOptions, reduce_path
    from judgerel_ray.counting.intervals import interval_choice

    def names(given: Sequence[str] | str | None) -> tuple[str, ...] | None:
        return (given,) if isinstance(given, str) else None if given is None else tuple(given)

    options = ReduceOptions(
        by=names(by),
        measurement=names(measurement),
        missing=names(missing) or (),
        nuisance=names(nuisance) or (),
        coefficients=names(coefficients),
        block=str(block),
        items=items,
        tolerance=tolerance,
        bands=bands,
        intervals=interval_choice(interval, resamples=resamples, seed=seed),
    )
    opened = given(path, exact_values=exact_values, verdict_names=verdict_names)
    return (question_path if questions else reduce_path)(opened, options)
