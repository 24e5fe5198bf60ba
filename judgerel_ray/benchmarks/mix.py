"""A mix: responses drawn alike from several benchmarks, as one set of items."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.source import Record, list_names, read_text
from judgerel_ray.core import Item, SweepError, digest
from judgerel_ray.core.files import is_of_the_web

Per = Literal["category", "benchmark"]


def sample_items(
    items: Iterable[Item],
    *,
    per: Per | None,
    n: int,
    seed: int,
    categories: int | None = None,
) -> tuple[Item, ...]:
    """Draw `n` items of every stratum.

    Every item has a rank, the hash of seed, benchmark and item_id, and the first `n` of each
    stratum are drawn. So the draw does not depend on the order of the items, a larger `n` holds
    every smaller draw of the same seed, and another stratum's items change nothing.

    Parameters
    ----------
    items : iterable of Item
        Item ids must differ within a benchmark.
    per : {"category", "benchmark"} or None
        What a stratum is: a category of a benchmark, a benchmark, or everything.
    n : int
        Items drawn of each stratum, at least 1.
    seed : int
        The draw.
    categories : int, optional
        How many strata are drawn, by the same seed; default all. schroeder2024 asked one
        question per category: all 27 of BBH, all 8 of MT-Bench, and 20 of SQuAD's many titles
        (v1.1 dev has 48, v2.0 dev 35), which is ``per="category", n=1, categories=20``: 55 in all.

    Returns
    -------
    tuple of Item
        In the order of benchmark, category and item_id.

    Raises
    ------
    SweepError
        If a stratum has fewer than `n` items, or there are fewer than `categories` strata; both
        numbers are named. Also if there is no item or one stands twice, or `n` or `categories`
        is below 1.

    Examples
    --------
    >>> rows = [Item(item_id=f"{c}{i}", benchmark="b", category=c, question="?")
    ...         for c in "xy" for i in range(9)]
    >>> drawn = sample_items(rows, per="category", n=1, seed=1)
    >>> [item.category for item in drawn]
    ['x', 'y']
    >>> drawn == sample_items(rows[::-1], per="category", n=1, seed=1)
    True
    """
    _check_request(per, n, categories)
    strata: dict[tuple[str, ...], list[Item]] = {}
    listed = _distinct_mix_items(items)
    for item in listed:
        strata.setdefault(_mix_item_stratum(item, per), []).append(item)
    drawn: list[Item] = []
    for stratum in _drawn_strata(list(strata), categories, seed):
        inside = strata[stratum]
        if len(inside) < n:
            named = " ".join(map(repr, stratum)) or "all of them together"
            raise SweepError(
                f"asked for {n} items of each stratum, {named} has {len(inside)}",
                where={"per": per},
                hint=f"n = {len(inside)} or fewer",
            )
        drawn += sorted(inside, key=lambda item: draw_rank(seed, item.benchmark, item.item_id))[:n]
    return tuple(sorted(drawn, key=lambda item: (item.benchmark, item.category, item.item_id)))


def _check_request(per: str | None, n: int, categories: int | None) -> None:
    """Refuse a request that no items could meet."""
    if per not in ("category", "benchmark", None):
        raise SweepError(f"per must be category, benchmark or nothing, got {per!r}")
    if n < 1:
        raise SweepError(f"n must be at least 1, got {n}")
    if categories is not None and categories < 1:
        raise SweepError(f"categories must be at least 1, got {categories}")
    if categories is not None and per is None:
        raise SweepError("categories counts strata and needs per", hint='per = "category"')


def _distinct_mix_items(items: Iterable[Item]) -> list[Item]:
    """The items, each there once, and at least one."""
    listed = list(items)
    if not listed:
        raise SweepError("there are no items to draw from")
    seen: set[tuple[str, str]] = set()
    for item in listed:
        name = (item.benchmark, item.item_id)
        if name in seen:
            raise SweepError(
                f"item_id {item.item_id!r} stands twice", where={"benchmark": item.benchmark}
            )
        seen.add(name)
    return listed


def _mix_item_stratum(item: Item, per: Per | None) -> tuple[str, ...]:
    """What an item is counted with."""
    if per is None:
        return ()
    return (item.benchmark, item.category) if per == "category" else (item.benchmark,)


def _drawn_strata(
    strata: Sequence[tuple[str, ...]], categories: int | None, seed: int
) -> list[tuple[str, ...]]:
    """The strata that are drawn from, in an order of their own."""
    if categories is None:
        return sorted(strata)
    if len(strata) < categories:
        raise SweepError(
            f"asked for {categories} strata, there are {len(strata)}",
            hint=f"categories = {len(strata)} or fewer",
        )
    return sorted(strata, key=lambda stratum: draw_rank(seed, *stratum))[:categories]


def draw_rank(seed: int, *names: str) -> tuple[str, tuple[str, ...]]:
    """Give the place of what these names stand for in a draw; they break a tie of hashes."""
    return digest({"seed": seed, "names": list(names)}), names


MIX = "mix"
_KEYS = ("seed", "n", "part")
_PART_KEYS = ("benchmark", "path", "answers", "n", "name", "options")


class ItemLoader(Protocol):
    """What reads the items of a part."""

    def __call__(
        self, benchmark: str, path: str, /, *, answers: str | None = None, seed: int = 1
    ) -> tuple[Item, ...]:
        """Give the items of a benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One source of a mix: `n` responses of a benchmark, of the options named or of all."""

    name: str
    n: int
    options: tuple[str, ...]
    items: tuple[Item, ...]
    record: Record


def draw_mix(path: str, load: ItemLoader, *, seed: int = 1) -> tuple[Item, ...]:
    r"""Draw as many responses of each of several benchmarks."""
    top = _checked_mix(path)
    draw = top.whole("seed") if "seed" in top else seed
    parts = [_benchmark_mix_part(record, top, path, load, draw) for record in top.children("part")]
    names = [part.name for part in parts]
    taken: set[tuple[str, str]] = set()
    found: list[tuple[Item, Record]] = []
    for part in parts:
        if names.count(part.name) > 1:
            raise part.record.wrong(f"two parts are called {part.name!r}", hint="give each a name")
        # A record of its own for each item, by which one that stands twice is known.
        found += [(item, replace(part.record)) for item in _drawn_responses(part, draw, taken)]
    return admit(found, path=path)


def mix_sources(path: str) -> tuple[str, ...]:
    r"""Files and folders that the parts of a mix are read from, that of the mix apart.

    Raises
    ------
    SweepError
        If the file is no mix.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mix.toml")
    ...     _ = file.write_text('n = 1\n[[part]]\nbenchmark = "lima"\npath = "/data/lima.jsonl"')
    ...     mix_sources(str(file))
    ('/data/lima.jsonl',)
    """
    folder = path.rpartition("/")[0]
    named = [
        part.optional_text(key)
        for part in _checked_mix(path).children("part")
        for key in ("path", "answers")
        if key in part.fields
    ]
    return tuple(_part_path(folder, one) for one in named if one)


def _checked_mix(path: str) -> Record:
    """The file, its keys checked."""
    where = {"file": path}
    try:
        fields = tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise SweepError(f"a mix is a TOML file: {error}", where=where) from error
    top = Record(fields=fields, place=where)
    _refuse_unknown(top, _KEYS)
    top.require("part", hint="add [[part]] with benchmark and path")
    if not top.listing("part"):
        raise top.wrong("a mix needs a [[part]]")
    return top


def _refuse_unknown(record: Record, known: tuple[str, ...]) -> None:
    """Refuse keys that would have no effect."""
    for name in record.fields:
        if name not in known:
            raise record.wrong(f"unknown key {name!r}, expected one of {list_names(known)}")


def _benchmark_mix_part(
    record: Record, top: Record, path: str, load: ItemLoader, seed: int
) -> Part:
    """One source with its items loaded."""
    _refuse_unknown(record, _PART_KEYS)
    record.require("benchmark", "path")
    counted = record if "n" in record else top
    if (n := counted.whole("n")) < 1:
        raise counted.wrong(f"n must be at least 1, got {n}")
    benchmark, folder = record.identifier("benchmark"), path.rpartition("/")[0]
    if benchmark == MIX:
        raise record.wrong("a mix has no mix for a part")
    answers = record.optional_text("answers")
    items = load(
        benchmark,
        _part_path(folder, record.text("path")),
        answers=None if answers is None else _part_path(folder, answers),
        seed=seed,
    )
    options = record.texts("options") if "options" in record else ()
    known = {option.option_id for item in items for option in item.options}
    if unknown := [name for name in options if name not in known]:
        raise record.wrong(
            f"no item has the option {unknown[0]!r}, they have {list_names(sorted(known))}"
        )
    name = record.identifier("name") if "name" in record else benchmark
    return Part(name=name, n=n, options=options, items=items, record=record)


def _part_path(folder: str, path: str) -> str:
    """A path of a part, looked for beside the mix unless it says where it lies."""
    if is_of_the_web(path):
        raise SweepError(
            "a mix reads no parts from the web",
            where={"path": path},
            hint="download it and name the copy, beside the mix",
        )
    return path if "://" in path or path.startswith("/") or not folder else f"{folder}/{path}"


def _drawn_responses(part: Part, seed: int, taken: set[tuple[str, str]]) -> Iterator[Item]:
    """The responses of one part, by item; what they are of is taken."""
    offered = [
        (item, options)
        for item in part.items
        if (item.benchmark, item.item_id) not in taken
        and (
            options := [o for o in item.options if not part.options or o.option_id in part.options]
        )
    ]
    if len(offered) < part.n:
        raise part.record.wrong(
            f"asked for {part.n} responses of other items each, {part.name} has {len(offered)}",
            hint=f"n = {len(offered)} or fewer",
        )
    offered.sort(key=lambda one: draw_rank(seed, one[0].benchmark, one[0].item_id))
    chosen = sorted(offered[: part.n], key=lambda one: one[0].item_id)
    taken.update((item.benchmark, item.item_id) for item, _ in chosen)
    for item, options in chosen:
        drawn = min(options, key=lambda o: draw_rank(seed, item.item_id, o.option_id))
        yield replace(
            item,
            item_id=f"{item.item_id}:{drawn.option_id}",
            benchmark=MIX,
            category=part.name,
            options=(drawn,),
            gold=None,
        )
