"""``gate``: may this judge decide? PASS, FAIL or INCONCLUSIVE."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import BY, Labelled, Names, command_on, flag, names_of, verb

if TYPE_CHECKING:
    from judgerel_ray.analyses.gate.from_run import Gated
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest(Labelled):
    """What ``gate`` is asked for."""

    require: Sequence[str] | str = field(
        default=(),
        metadata=flag(
            "a requirement; the whole confidence interval must meet it: NAME >= NUMBER or <=, of "
            "any coefficient; 'drop of NAME <= NUMBER against FILE'; 'where COL=VALUE, ...' names "
            "the groups that must; default krippendorff_alpha >= .667, valid_rate >= .9, "
            "swap_consistency >= .75 and accuracy >= .8 (of ratings cohen_kappa >= .7, weighted) "
            "where they are known, reproducibility or right verdicts known at all, and a sweep's "
            "own tolerances",
            "RULE",
            repeats=True,
        ),
    )
    rules: str | PathLike[str] | None = field(
        default=None,
        metadata=flag("a TOML file whose table [gate] has a list require", "FILE"),
    )
    ledger: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "a file in which looks are counted, so that repeated looks do not raise the error "
            "rate: each must contain all judgments of the looks before, and has wider intervals",
            "FILE",
        ),
    )
    by: Names = field(default=None, metadata=BY)


@verb(
    GateRequest,
    examples=("gate judgments.csv", 'gate judgments.csv --require "krippendorff_alpha >= .3"'),
    group="Decide",
    help="PASS, FAIL or INCONCLUSIVE: requirements that the whole confidence interval must meet",
    prints="gate",
)
def gate(path: JudgmentSource, request: GateRequest) -> Result[Gated]:
    """Judge by requirements: the whole confidence interval meets each, misses it, or neither.

    A requirement of reproducibility where it is known, else of repeatability. Each errs, over all
    looks that a ledger counts, in at most 2.5 % of the cases towards PASS and as many towards
    FAIL, as far as intervals cover what they say.

    Returns
    -------
    Gated
        ``verdict``, ``exit_code``, ``requirements`` (a row a requirement and group) and ``look``.

    Raises
    ------
    SweepError, StoreError
        If a requirement, a name, a path or the ledger is wrong, or some of the judgments of an
        earlier look are gone.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = gate(example("judgments.csv"), require=["flip_rate <= .5", "valid_rate >= .9"])
    >>> found.verdict, found.exit_code
    ('INCONCLUSIVE', 5)
    """
    from judgerel_ray.analyses.gate import from_run
    from judgerel_ray.analyses.gate.looks import look_at
    from judgerel_ray.analyses.gate.requirement import requirements
    from judgerel_ray.analyses.gate.show import gate_result
    from judgerel_ray.analyses.gate.standing import GateLook, overall
    from judgerel_ray.counting.snapshot import Snapshot, replicated, sides
    from judgerel_ray.measuring.reliability import reduce_judged

    texts = [request.require] if isinstance(request.require, str) else request.require
    wanted = requirements(texts, None if request.rules is None else fspath(request.rules))
    by = names_of(request.by)
    names = dict.fromkeys(one.against for one in wanted if one.against is not None)
    several = dict(zip([None, *names], sides([path, *names], request), strict=True))
    with ExitStack() as opened:
        found_at: dict[str | None, Snapshot] = {}
        for name, (source, reading) in several.items():
            apart, columns = from_run.columns_of(wanted, by, name)
            found_at[name] = opened.enter_context(
                Snapshot.open(source, reading, apart=apart, columns=columns)
            )
        judged, baselines = found_at[None], {name: found_at[name] for name in names}
        look = GateLook()
        if request.ledger is not None:
            frames = {"": judged.frame, **{name: one.frame for name, one in baselines.items()}}
            look = look_at(frames, fspath(request.ledger))
        options = from_run.gate_options(by, look)
        left_out: list[str] = []
        if wanted:
            found, left_out = from_run.gate_by_requirements(
                judged, baselines, wanted, options, look
            )
        else:
            judged = replicated(judged)
            coefficients = reduce_judged(judged, options)
            found = from_run.gate_by_default(
                judged, coefficients, options, then=look.next_confidence
            )
        gated = from_run.Gated(
            verdict=overall(found["verdict"].to_list()).value, requirements=found, look=look,
            notes=(*left_out, *from_run.gate_failure_remarks(judged, found)),
            rests_on=judged.run_notes, read=judged.notes,
        )  # fmt: skip
    commands = {name: command_on(name, path, request) for name in ("reduce", "advise", "doctor")}
    return gate_result(gated, commands)
