"""What ``reduce`` prints of ratings: across scales, against a reference, and judges ranked."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgerel_ray.cli.reduced import tell_basis
from judgerel_ray.cli.screen import tell

if TYPE_CHECKING:
    from judgerel_ray.counting.given import Given

DONE = 0


def add_ratings(reduce: argparse.ArgumentParser) -> None:
    """Add the flags of tables of ratings."""
    reduce.add_argument(
        "--scales", action="store_true", help="consistency of ratings across scales"
    )
    _add_choice(reduce)
    reduce.add_argument("--ranking", action="store_true", help="judges ranked by their ratings")


def add_page_ratings(report: argparse.ArgumentParser) -> None:
    """Add the flags of a page's sections on ratings, in the words of ``reduce``."""
    _add_choice(report)


def write_page(parsed: argparse.Namespace, path: str | Given) -> str:
    """Write a page; say where it is.

    Effects: writes one file. Retry: safe.

    Raises
    ------
    SweepError
        If a name, a column or a file is wrong.
    """
    from judgerel_ray.reporting.pages import report_path
    from judgerel_ray.reporting.rating_page import rating_options

    names = ("reference", "outside", "mapping", "preset", "pairing", "scale")
    return report_path(
        path,
        parsed.out,
        rating_options(**{name: getattr(parsed, name) for name in names}),
        force=parsed.force,
    )


def _add_choice(verb: argparse.ArgumentParser) -> None:
    """Add what is compared, and with what."""
    verb.add_argument("--mapping", metavar="NAME", help="minmax, midrank, fraction, ...")
    verb.add_argument("--preset", metavar="NAME", help="lee2025_case1, _case2, _case3")
    verb.add_argument(
        "--pairing", default="all", metavar="HOW", help="of replications: all (default), first"
    )
    verb.add_argument(
        "--scale", action="append", metavar="FILE", help="a scale of one's own, a .toml"
    )
    verb.add_argument(
        "--reference", metavar="WHO", help="alignment with a judge, human, or a .csv or .parquet"
    )
    verb.add_argument("--outside", metavar="FILE", help="judge, score: ranked beside the rest")


def print_ratings(
    parsed: argparse.Namespace,
    formats: Sequence[str],
    *,
    by: Sequence[str] | None,
    coefficients: Sequence[str] | None,
) -> int:
    """Print one table of ratings.

    Effects: reads a run or a file; with ``--out`` writes one file: JSON of all tables, or the chief
    one (inter-scale consistency, ranks). Retry: safe.

    Raises
    ------
    SweepError
        If a name, a column or a file is wrong.
    """
    from judgerel_ray.analyses.advice.show import tables_json
    from judgerel_ray.analyses.ratings.from_run import run_alignment, run_ranking, run_scales
    from judgerel_ray.analyses.ratings.inter_scale import scale_choice
    from judgerel_ray.analyses.ratings.show import alignment_text, ranking_text, scales_text
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.reliability.show import coefficients_json

    choice = scale_choice(mapping=parsed.mapping, preset=parsed.preset, pairing=parsed.pairing)
    files = parsed.scale or ()
    if parsed.scales:
        own, rows = run_scales(parsed.path, choice, by=by, scale_files=files)
        tables = {"self_consistency": own, "inter_scale": rows}
        said = {"json": tables_json(tables), "table": scales_text(own, rows)}
    elif parsed.ranking:
        found = run_ranking(
            parsed.path,
            choice,
            reference=parsed.reference,
            outside=parsed.outside,
            by=by,
            scale_files=files,
        )
        rows = found.ranks
        said = {
            "json": tables_json(found.tables()),
            "table": ranking_text(found.ranks, found.mean_ranks, found.agreements),
        }
    else:
        rows = run_alignment(
            parsed.path, parsed.reference, coefficients=coefficients, by=by, scale_files=files
        )
        said = {"json": coefficients_json(rows), "table": alignment_text(rows)}
    tell_basis(parsed.path, formats)
    for name in formats:
        print(said[name]) if name == "json" else tell(said[name])
    if parsed.output is not None:
        if parsed.output.ending == ".json":  # holds all tables, the others the chief one
            parsed.output.write(f"{said['json']}\n".encode())
        else:
            write_coefficients(rows, parsed.output)
    return DONE
