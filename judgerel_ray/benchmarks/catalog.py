"""Loaders by name, and the one way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from judgerel_ray.benchmarks.admission import NO_TIES, REFERENCE
from judgerel_ray.benchmarks.bbh import load_bbh
from judgerel_ray.benchmarks.criterion import load_criterion_items
from judgerel_ray.benchmarks.dialogue import load_hh_rlhf, load_lima
from judgerel_ray.benchmarks.feedback_collection import load_feedback_collection
from judgerel_ray.benchmarks.feedbackqa import LABELS, load_feedbackqa
from judgerel_ray.benchmarks.generic import Loaded, holds_items, read_generic
from judgerel_ray.benchmarks.head_to_tail import load_head_to_tail
from judgerel_ray.benchmarks.log import LOG, is_logged, load_log
from judgerel_ray.benchmarks.mix import draw_mix
from judgerel_ray.benchmarks.mmlu_pro import load_mmlu_pro
from judgerel_ray.benchmarks.mt_bench import load_mt_bench
from judgerel_ray.benchmarks.multiple_choice import ANSWERS, MULTIPLE_CHOICE, load_multiple_choice
from judgerel_ray.benchmarks.squad import load_squad
from judgerel_ray.benchmarks.summeval import load_summeval, load_summeval_summaries
from judgerel_ray.benchmarks.truthfulqa import load_truthfulqa, load_truthfulqa_pairs
from judgerel_ray.core import GoldIs, Item, SweepError
from judgerel_ray.core.files import is_folder
from judgerel_ray.core.papers import find_in_papers
from judgerel_ray.core.text import closest


def load_mix(path: str, *, seed: int = 1) -> tuple[Item, ...]:
    """Read a mix of responses, as many of each of several benchmarks.

    Parameters
    ----------
    path : str
        A TOML file with ``n`` (responses of each part), ``seed`` (default that of the caller) and
        one ``[[part]]`` a source: ``benchmark`` and ``path`` (beside the file, absolute or a URL),
        and where wanted ``answers``, ``options`` (option ids to draw from; default all), ``n`` and
        ``name`` (default the benchmark).
    seed : int
        The draw, where the file states none.

    Returns
    -------
    tuple of Item
        One a response, each of another item: ``benchmark`` is ``mix``, ``category`` the name of the
        part, ``item_id`` the original one with ``:<option id>`` at its end, ``options`` that one
        response and ``gold`` null; question, context and ratings are the original ones. An item
        drawn by one part is not drawn by a later one.

    Examples
    --------
    >>> load_mix("no-such-mix.toml")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: no such file [file=no-such-mix.toml]
    """
    # What is right of a question is not kept: a response is drawn, not chosen.
    return draw_mix(path, partial(load_items, gold_is=REFERENCE), seed=seed)


def _loader_of_papers(name: str) -> Callable[[str], tuple[Item, ...]]:
    """A loader of the room ``papers``, which is loaded when it reads."""

    def load(path: str) -> tuple[Item, ...]:
        items: tuple[Item, ...] = find_in_papers(name)(path)
        return items

    load.__name__ = name
    return load


LOADERS: dict[str, Callable[[str], tuple[Item, ...]]] = {
    "bbh": load_bbh,
    "squad": load_squad,
    "mt_bench": load_mt_bench,
    "head_to_tail": load_head_to_tail,
    "schroeder2024": _loader_of_papers("load_schroeder2024"),
    "truthfulqa": load_truthfulqa,
    "truthfulqa_pairs": load_truthfulqa_pairs,
    "hh_rlhf": load_hh_rlhf,
    "lima": load_lima,
    "summeval": load_summeval,
    "summeval_summaries": load_summeval_summaries,
    "feedbackqa": load_feedbackqa,
    "feedback_collection": load_feedback_collection,
    "criterion": load_criterion_items,
    "mix": load_mix,
    "mmlu_pro": load_mmlu_pro,
    "multiple_choice": load_multiple_choice,
    "bergman2025": _loader_of_papers("load_bergman2025"),
    LOG: load_log,
}
"""Loaders of upstream files; any other name is a plain items file's."""

SCALES: dict[str, tuple[str, ...]] = {"feedbackqa": tuple(reversed(LABELS))}
"""Options that are an ordered scale without being numbers, from the lowest to the highest."""

_ANSWERED: dict[str, Callable[[str, str], tuple[Item, ...]]] = {
    "mt_bench": load_mt_bench,
    "head_to_tail": load_head_to_tail,
}
_DRAWING: dict[str, Callable[..., tuple[Item, ...]]] = {
    "truthfulqa_pairs": load_truthfulqa_pairs,
    "mix": load_mix,
}


def load_items(
    benchmark: str,
    path: str,
    *,
    answers: str | None = None,
    seed: int = 1,
    gold_is: GoldIs | None = None,
) -> tuple[Item, ...]:
    """Read a benchmark's own files, or a plain file of items.

    Parameters
    ----------
    benchmark : str
        A name in `LOADERS`, whose function says which files it reads, as the reference of
        benchmarks does; any other name is given to the items of a plain file (see
        `load_generic`). A table that has ``item_id`` and ``question`` is read as plain whatever
        the name, and keeps the benchmark it states.
    path : str
        File or folder: local, or any fsspec URL. Files may be packed (.gz, .bz2, .xz, .zst).
    answers : str, optional
        For mt_bench and head_to_tail, the recorded responses that become options where they
        do not stand in the folder at `path`.
    seed : int
        For truthfulqa_pairs, which false answer is drawn; for mix, which responses are, where its
        file states no seed. No other loader draws anything.
    gold_is : str, optional
        What ``gold`` is in a plain file, as for `load_generic`; the benchmarks' own files say it.

    Returns
    -------
    tuple of Item
        In the order of the files; every ``item_id`` is there once.

    Raises
    ------
    SweepError
        If nothing can be read there as the benchmark; one line with file and place.

    Examples
    --------
    >>> load_items("bbhh", ".")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: no loader of this name reads a folder \
[benchmark=bbhh, folder=., loaders=bbh squad mt_bench head_to_tail schroeder2024 truthfulqa \
truthfulqa_pairs hh_rlhf lima summeval summeval_summaries feedbackqa feedback_collection \
criterion mix mmlu_pro multiple_choice bergman2025 log]. Try: bbh
    """
    return read_items(benchmark, path, answers=answers, seed=seed, gold_is=gold_is).items


def read_items(
    benchmark: str,
    path: str,
    *,
    answers: str | None = None,
    seed: int = 1,
    gold_is: GoldIs | None = None,
    ties: Mapping[str, str] = NO_TIES,
) -> Loaded:
    r"""As :func:`load_items`, with how the gold of a plain file was read.

    There `ties` are words for a tie, where gold may be one, and the verdict that each is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.csv")
    ...     _ = file.write_text("item_id,question,option_x,option_y,gold\n1,Which?,oak,elm,elm\n")
    ...     items, gold = read_items("own", str(file))
    >>> items[0].gold, gold.reading
    ('y', 'text')
    """
    folder = is_folder(path)
    if benchmark not in LOADERS and folder:
        raise SweepError(
            "no loader of this name reads a folder",
            where={"benchmark": benchmark, "folder": path, "loaders": " ".join(LOADERS)},
            hint=closest(benchmark, LOADERS) or "name a loader, or a file of items",
        )
    if answers is not None:
        if benchmark not in _ANSWERED:
            raise SweepError(
                f"answers belong to {' and '.join(_ANSWERED)} only",
                where={"benchmark": benchmark, "answers": answers},
                hint="put the options into the items file",
            )
        return Loaded(_ANSWERED[benchmark](path, answers))
    # A table of questions with a right option may name its items as a plain one does.
    # So may a log, whose rows have an answer each; items that were made of one are plain.
    but_for = {MULTIPLE_CHOICE: lambda named: not named.isdisjoint(ANSWERS), LOG: is_logged}
    plain = benchmark not in LOADERS
    if plain or (not folder and holds_items(path, but_for=but_for.get(benchmark, lambda _: False))):
        return read_generic(benchmark, path, gold_is=gold_is, ties=ties)
    if gold_is not in (None, REFERENCE):
        raise SweepError(
            f"gold_is says how a plain file of items names the right option; {benchmark} has its "
            "own way",
            where={"benchmark": benchmark, "file": path},
            hint="leave it out",
        )
    if benchmark in _DRAWING:
        return Loaded(_DRAWING[benchmark](path, seed=seed))
    return Loaded(LOADERS[benchmark](path))
