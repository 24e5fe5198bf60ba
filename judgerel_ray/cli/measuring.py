"""Verbs on judgments that are there: none of them asks a judge anything."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgerel_ray.cli.panels import add_panels, print_panels
from judgerel_ray.cli.paths import add_force
from judgerel_ray.cli.probabilities import print_probabilities
from judgerel_ray.cli.ratings import add_ratings, print_ratings
from judgerel_ray.cli.reduced import add_exact_values, add_names, judged, table_of, tell_basis
from judgerel_ray.cli.screen import Screen, tell
from judgerel_ray.cli.selection import add_selection, print_selection
from judgerel_ray.core import SweepError

if TYPE_CHECKING:
    from judgerel_ray.analyses.reliability.reducing import ReduceOptions
    from judgerel_ray.store.outputs import Output

DONE = 0
AddVerb = Callable[..., argparse.ArgumentParser]


def add_numbers(add_verb: AddVerb) -> None:
    """Add the verbs that compute: reduce, advise, compare."""
    reduce = add_verb("reduce", help="coefficients of a run or of a file of judgments")
    reduce.add_argument("path", metavar="PATH")
    reduce.add_argument("--by", help="columns to group by, with commas between")
    reduce.add_argument("--measurement", help="nominal, ordinal, interval, ratio")
    reduce.add_argument(
        "--items", metavar="COL", help="distinct items, for alpha and omega of them"
    )
    reduce.add_argument(
        "--nuisance",
        metavar="COLS",
        help="facets that should not matter, besides option_order, template, definition",
    )
    add_names(reduce)
    reduce.add_argument("--missing", default="category,drop", help="category, drop, bounds")
    reduce.add_argument("--coefficient", action="append", metavar="NAME")
    reduce.add_argument("--format", default="table", help="table, json")
    reduce.add_argument("--block", default="0", choices=("0", "all"), help="default 0")
    reduce.add_argument("--out", metavar="FILE", help="also write .parquet, .csv or .json")
    add_force(reduce)
    reduce.add_argument(
        "--tolerance", action="append", metavar="NAME=VALUE", help="judged by whole intervals"
    )
    reduce.add_argument("--bands", action="store_true", help="verbal bands, by whole intervals")
    reduce.add_argument(
        "--questions", action="store_true", help="accuracy and agreement of every question"
    )
    reduce.add_argument(
        "--uncertainty", action="store_true", help="of judgments, from confusion matrices"
    )
    reduce.add_argument(
        "--limits", action="store_true", help="of endless replications, from distributions"
    )
    reduce.add_argument(
        "--weighted", action="store_true", help="scores of ratings, weighted by probabilities"
    )
    reduce.add_argument(
        "--settled", action="store_true", help="stable verdicts of questions asked adaptively"
    )
    reduce.add_argument(
        "--reasoning", action="store_true", help="variance of the reasoning and of the verdict"
    )
    reduce.add_argument("--threshold", type=float, metavar="T", help="of their labels low and high")
    reduce.add_argument("--rule", metavar="RULES", help="normalised, formula, exceeding")
    reduce.add_argument(
        "--risk", type=float, default=0.1, metavar="R", help="share wrong a guarantee bounds"
    )
    reduce.add_argument(
        "--delta", type=float, default=0.1, metavar="D", help="chance that it does not hold"
    )
    reduce.add_argument(
        "--interval",
        default="auto",
        metavar="METHOD",
        help="auto (posterior where few pass/fail questions decide, else jackknife), posterior, "
        "jackknife, bootstrap",
    )
    reduce.add_argument("--resamples", type=int, metavar="N", help="of the bootstrap; default 2000")
    reduce.add_argument("--seed", type=int, metavar="S", help="of the bootstrap; default 0")
    add_exact_values(reduce)
    add_ratings(reduce)
    add_selection(reduce)
    add_panels(reduce)
    reduce.set_defaults(act=partial(_reduce, reduce.get_default))
    _add_decisions(add_verb)


def _add_decisions(add_verb: AddVerb) -> None:
    """Add what decisions rest on: advise, compare."""
    advise = add_verb("advise", help="replications, questions, judges to buy for a target")
    advise.add_argument("path", metavar="PATH")
    advise.add_argument("--target", action="append", metavar="NAME=VALUE")
    advise.add_argument("--budget", metavar="N", help="judgments; or tokens=N, gpu_seconds=N")
    advise.add_argument("--by", help="columns to group by, with commas between")
    advise.add_argument(
        "--facet-size", action="append", metavar="NAME=N", help="its levels; or fixed, unlimited"
    )
    add_names(advise)
    advise.add_argument("--format", default="table", help="table, json")
    add_exact_values(advise)
    advise.set_defaults(act=_advise)
    _add_compare(add_verb)


def _add_compare(add_verb: AddVerb) -> None:
    """Add the verb that compares."""
    compare = add_verb("compare", help="paired differences of runs, judges or temperatures")
    compare.add_argument("a", metavar="A")
    compare.add_argument("b", metavar="B", nargs="?", help="without it, --by is compared inside A")
    compare.add_argument("--by", help="columns to match on; without B, columns to compare")
    compare.add_argument("--coefficient", action="append", metavar="NAME")
    compare.add_argument("--tolerance", type=float, metavar="D", help="what does not matter")
    add_names(compare)
    compare.add_argument("--format", default="table", help="table, json")
    add_exact_values(compare)
    compare.set_defaults(act=_compare)


def _reduce(default: Callable[[str], object], parsed: argparse.Namespace) -> int:
    """Print coefficients, or a table of its own."""
    from judgerel_ray.analyses.reliability.reducing import ReduceOptions
    from judgerel_ray.counting.intervals import interval_choice

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    table = table_of(parsed, default)
    parsed.output = _output(parsed)
    parsed.path = judged(parsed)
    if table in {"selection", "comparison", "panels", "cascade"}:
        act = print_panels if table in {"panels", "cascade"} else print_selection
        return act(parsed, formats or (), by=_names(parsed.by))
    options = ReduceOptions(
        by=_names(parsed.by),
        measurement=_names(parsed.measurement),
        missing=_names(parsed.missing) or (),
        coefficients=_names(",".join(parsed.coefficient)) if parsed.coefficient else None,
        block=parsed.block,
        items=parsed.items,
        nuisance=_names(parsed.nuisance) or (),
        tolerance=_tolerance(parsed.tolerance) if parsed.tolerance else None,
        bands=parsed.bands,
        intervals=interval_choice(parsed.interval, resamples=parsed.resamples, seed=parsed.seed),
    )
    if table in {"scales", "ranking", "reference"}:
        return print_ratings(
            parsed, formats or (), by=options.by, coefficients=options.coefficients
        )
    if table in {"uncertainty", "limits", "reasoning", "settled", "weighted"}:
        return print_probabilities(parsed, formats or ())
    count = _questions if table == "questions" else _coefficients
    return count(parsed, options, formats or ())


def _output(parsed: argparse.Namespace) -> Output | None:
    """The file of ``--out``, refused before anything is read; None where there is none."""
    if parsed.out is None:
        if parsed.force:
            raise SweepError("--force would do nothing without --out", hint="leave it out")
        return None
    from judgerel_ray.store.outputs import output_to

    beside = (parsed.gold, parsed.reference, parsed.outside, *(parsed.scale or ()))
    return output_to(parsed.out, "table", reads=(parsed.path, *beside), force=parsed.force)


def _coefficients(
    parsed: argparse.Namespace, options: ReduceOptions, formats: Sequence[str]
) -> int:
    """Print coefficients."""
    from judgerel_ray.analyses.reliability.basis import reduce_with_basis
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.reliability.show import (
        coefficients_json,
        print_coefficients,
        tolerance_text,
    )
    from judgerel_ray.analyses.serving.from_run import with_serving
    from judgerel_ray.analyses.serving.show import serving_text

    try:
        found = reduce_with_basis(parsed.path, options)
        frame = with_serving(found.coefficients, found.serving)
    except SweepError as error:
        if error.hint is None and Path(parsed.path, "distributions").is_dir():
            hint = "--limits: the run has verdict distributions, and nothing sampled"
            raise SweepError(error.problem, where=error.where, hint=hint) from error
        raise
    tell_basis(parsed.path, formats)
    if found.caution:
        tell(found.caution, aside="json" in formats)
    for name in formats:
        if name == "json":
            print(coefficients_json(frame))
        else:
            if found.coefficients.height or not found.serving.height:
                print_coefficients(
                    found.coefficients,
                    console=Screen(),
                    failures=found.failures,
                    named=options.coefficients is not None,
                )
            source = "--tolerance" if options.tolerance else "the run's sweep.toml"
            for text in (serving_text(found.serving), tolerance_text(frame, source=source)):
                if text:
                    tell(f"\n{text}")
    if parsed.output is not None:
        write_coefficients(frame, parsed.output)
    return DONE


def _tolerance(texts: Sequence[str]) -> dict[str, float]:
    """Values by name of coefficient; loads what advice needs, so only where there are any."""
    from judgerel_ray.analyses.advice.from_run import assigned

    return dict(assigned(text, "--tolerance") for text in texts)


def _questions(parsed: argparse.Namespace, options: ReduceOptions, formats: Sequence[str]) -> int:
    """Print every question."""
    from judgerel_ray.analyses.reliability.questions import question_path
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.reliability.show import coefficients_json, questions_text

    frame = question_path(parsed.path, options)
    tell_basis(parsed.path, formats)
    for name in formats:
        print(coefficients_json(frame)) if name == "json" else tell(questions_text(frame))
    if parsed.output is not None:
        write_coefficients(frame, parsed.output)
    return DONE


def _advise(parsed: argparse.Namespace) -> int:
    """Print advice."""
    from judgerel_ray.analyses.advice.from_run import advise_path
    from judgerel_ray.analyses.advice.show import advice_text, tables_json

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    advice = advise_path(
        judged(parsed),
        targets=parsed.target,
        budget=parsed.budget,
        by=_names(parsed.by),
        facet_sizes=parsed.facet_size,
    )
    tables = advice.tables()
    for name in formats or ():
        print(tables_json(tables)) if name == "json" else tell(advice_text(tables))
    return DONE


def _compare(parsed: argparse.Namespace) -> int:
    """Print paired differences."""
    from judgerel_ray.analyses.advice.show import comparison_text
    from judgerel_ray.analyses.comparison.from_run import compare_with_serving
    from judgerel_ray.analyses.reliability.show import coefficients_json
    from judgerel_ray.analyses.serving.from_run import with_shared
    from judgerel_ray.analyses.serving.show import shared_text

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    found, shared = compare_with_serving(
        judged(parsed, "a"),
        None if parsed.b is None else judged(parsed, "b"),
        by=_names(parsed.by),
        coefficients=_names(",".join(parsed.coefficient)) if parsed.coefficient else None,
        tolerance=parsed.tolerance,
    )
    names = (parsed.a, str(parsed.b))
    for name in formats or ():
        if name == "json":
            print(coefficients_json(with_shared(found, shared, names)))
        else:
            tell(comparison_text(found))
            if shared is not None:
                tell(f"\n{shared_text(shared.rows, shared.settings, names)}")
    return DONE


def _names(
    text: str | None, *, known: Sequence[str] | None = None, flag: str = ""
) -> tuple[str, ...] | None:
    """Names with commas between; None where the flag was not given."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if known is not None and name not in known:
            raise SweepError(f"{flag} must be of {', '.join(known)}, got {name!r}")
    if known is not None and not names:
        raise SweepError(f"{flag} must be of {', '.join(known)}, got nothing")
    return names
