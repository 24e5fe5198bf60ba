"""Repeatability, reproducibility, swap consistency and position bias of recorded pairwise judges.

    JUDGEREL_DATA=DIR python -m bench.recorded_pairwise [--out docs/recorded-pairwise.md]

Every judge of three recordings in which pairs were shown in both orders, by the shipped
`reduce_judgments`. MT-Bench pairs and the LLMBar pilot record the place that was chosen, turned
into the answer that stood there; LLMBar's authors record the answer. A tie is a verdict that names
no place.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from bench.recordings import recordings
from judgerel_ray.measuring.reliability import reduce_judgments

COEFFICIENTS = ("krippendorff_alpha", "percent_agreement", "swap_consistency", "position_bias")
NAMES = {"1": ("first", "second"), "0": ("second", "first")}
HEAD = """\
# Pairwise judgments that others recorded, in both orders

Made by `JUDGEREL_DATA=DIR python -m bench.recorded_pairwise`, printed as it is: every recording
whose pairs were shown in both orders. Values and intervals (95 %, by question) are those that
`judgerel reduce` prints; a few are held by pairs counted one by one in
`tests/reference/test_recorded_pairwise.py`. Replies without a verdict are left out.

- **Repeatability**: the same prompt again, the answers in the same order.
- **Reproducibility**: the same pair again, the order of each judgment drawn at random.
- **Swap consistency**: share of judgments in the two orders that name the same answer.
- **Noise floor**: what is left when verdicts are shuffled over the pairs inside each order, so that
  whatever a judge does by position it still does; p tells whether the value differs from it.
- **Position bias**: 1 where every verdict names the same place, 0 in the mean where places do not
  matter; a judge that names the first place with probability f has about (2 f - 1)^2. Its p is
  of no position effect at all. *First shown* is f, of the verdicts that name a place.
"""
FOOT = """\
## How

The pair is the unit, its question what the interval leaves out, `option_order` the nuisance facet.
`verdict` is the answer named, `label` the place it stood in, null for a tie: in a table of yours,

```
judgerel reduce pairs.parquet --missing drop --coefficient krippendorff_alpha \\
  --coefficient swap_consistency --coefficient position_bias
```

with the columns judge, item_id, option_order, replication, verdict, label. A file whose verdict is
the place itself, and that has no label, says so: `--verdict-names place` (see
`docs/what-leads.md`). Not used here, since one order alone is recorded: AlpacaFarm pairs
(`order_swapped` is false throughout), the Vicuna reviews, the coin-flip pairs, Arena votes;
EvalAssist keeps a flag of position bias, and not both verdicts.
"""


def mt_bench(folder: Path) -> pl.DataFrame:
    """Nine judges, three times, 96 pairs of 24 questions in both orders."""
    rows = pl.read_parquet(folder / "seed003/pairwise_3reps_mtbench.parquet").with_columns(
        pl.col("judge", "cmp_index", "A", "B", "extracted").cast(pl.String)
    )
    # In every pair one of the two is vicuna-13b-v1.3.
    ahead = pl.col("A") == "vicuna-13b-v1.3"
    place = pl.col("extracted").replace_strict({"A": 0, "B": 1}, default=None)
    return rows.select(
        "judge", "replication",
        item_id=pl.col("cmp_index").str.split(";").list.first(),
        responder=pl.when(ahead).then("B").otherwise("A"),
        option_order=pl.when(ahead).then(0).otherwise(1),
        verdict=pl.when(pl.col("extracted") == "C").then(pl.lit("tie"))
        .when(place.is_not_null()).then(pl.when((place == 0) == ahead).then(pl.lit("vicuna-13b"))
        .otherwise(pl.lit("the other"))),
        label=pl.when(place.is_not_null()).then(pl.col("extracted")),
    )  # fmt: skip


def llmbar(folder: Path) -> pl.DataFrame:
    """Six judges, the authors' plain prompt, once in each order."""
    rows = pl.read_parquet(folder / "multi/llmbar_verdicts.parquet").with_columns(
        pl.col("judge", "subset", "strategy", "order", "winner").cast(pl.String)
    )
    swapped = pl.col("order") == "swapped"
    named = pl.when(pl.col("winner") != "None").then("winner")
    return rows.filter(strategy="Vanilla_NoRules").select(
        "judge", "replication",
        item_id=pl.concat_str("subset", pl.col("item").cast(pl.String), separator=" "),
        option_order=swapped.cast(pl.Int64),
        verdict=named,
        label=pl.when(named.is_not_null())
        .then(pl.when((named == "1") != swapped).then(pl.lit("1")).otherwise(pl.lit("2"))),
    )  # fmt: skip


def pilot(folder: Path) -> pl.DataFrame:
    """Three judges, alone or with other items in context, five times in orders drawn at random."""
    rows = pl.read_parquet(folder / "seed003/llmbar_context_pilot_responses.parquet")
    first = pl.col("parsed_label") == "1"
    return rows.select(
        "item_id",
        judge=pl.concat_str("judge", "regime", separator=", "),
        replication=pl.int_range(pl.len()).over("judge", "regime", "item_id", "swap"),
        option_order=pl.col("swap").cast(pl.Int64),
        verdict=pl.when(first != pl.col("swap")).then(pl.lit("1"))
        .when(first.is_not_null()).then(pl.lit("2")),
        label="parsed_label",
    )  # fmt: skip


RECORDINGS: Mapping[str, tuple[Callable[[Path], pl.DataFrame], str]] = {
    "MT-Bench pairs": (
        mt_bench,
        "Vicuna-13b against four other models on 24 questions of MT-Bench, every pair three times "
        "in each order; the verdict is an answer or a tie.",
    ),
    "LLMBar": (
        llmbar,
        "Pairs of which one answer follows the instruction; the authors' prompt without rules, "
        "once in each order: nothing was asked twice, so repeatability is not known.",
    ),
    "LLMBar, context pilot": (
        pilot,
        "100 natural pairs, five times each, the order drawn for every judgment; alone (fresh) or "
        "with other pairs in the context (batched).",
    ),
}


def table_of(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a judge, with what the page prints."""
    found = reduce_judgments(
        rows.lazy(), by=["judge"], coefficients=COEFFICIENTS, missing=["drop"],
    )  # fmt: skip
    shown = rows.filter(pl.col("label").is_not_null()).group_by("judge").agg(
        first_shown=pl.col("label").is_in(["A", "1"]).mean()
    )  # fmt: skip
    return found.join(shown, on="judge", how="left")


def page(folder: Path) -> str:
    """Write the page."""
    parts = [HEAD]
    for name, (read, words) in RECORDINGS.items():
        found = table_of(read(folder))
        parts += [f"## {name}", words, _alphas(found), _orders(found)]
    parts.append(LEARNED)
    parts.append(FOOT)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _alphas(found: pl.DataFrame) -> str:
    """Alpha and agreement, twice."""
    lines = []
    for judge in found["judge"].unique().sort():
        cells = [judge]
        for name in ("krippendorff_alpha", "percent_agreement"):
            for conditions in ("repeatability", "reproducibility"):
                row = _row(found, judge, name, conditions)
                floor = name == "krippendorff_alpha" and conditions == "reproducibility"
                cells += [_value(row), *([_floor(row), _p(row)] if floor else [])]
        lines.append(cells)
    head = ["judge", "alpha: repeatability", "reproducibility", "its noise floor", "p",
            "agreement: repeatability", "reproducibility"]  # fmt: skip
    return _table(head, lines)


def _orders(found: pl.DataFrame) -> str:
    """Swap consistency and position bias."""
    lines = []
    for judge in found["judge"].unique().sort():
        swap, bias = (_row(found, judge, name) for name in COEFFICIENTS[2:])
        lines.append(
            [judge, swap["n_judgments"] - swap["n_missing"], _value(swap), _floor(swap), _p(swap),
             f"{swap['first_shown']:.3f}", _value(bias), _floor(bias), _p(bias)]
        )  # fmt: skip
    head = ["judge", "verdicts", "swap consistency", "its noise floor", "p", "first shown",
            "position bias", "its noise floor", "p"]  # fmt: skip
    return _table(head, lines)


def _row(
    found: pl.DataFrame, judge: str, name: str, conditions: str | None = None
) -> dict[str, object]:
    rows = found.filter((pl.col("judge") == judge) & (pl.col("coefficient") == name))
    if conditions:
        rows = rows.filter(conditions=conditions)
    return rows.row(0, named=True)


def _value(row: Mapping[str, object]) -> str:
    if row["value"] is None:
        return "not known" if row["undefined"] == "single_replication" else str(row["undefined"])
    ends = "" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
    return f"{row['value']:.3f}{ends}"


def _floor(row: Mapping[str, object]) -> str:
    if row["noise_floor"] is None:
        return ""
    return f"{row['noise_floor'] + 0.0:.3f} ± {row['noise_floor_sd']:.3f}"


def _p(row: Mapping[str, object]) -> str:
    p = row["p_noise"]
    if p is None:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([str(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


LEARNED = """\
## What they show

- **Repeating itself is not the same as judging the pair.** claude-haiku-4-5, asked about pairs with
  other pairs in the context, gives the same verdict again in 91 of 100 cases (alpha .82); with the
  order drawn anew, alpha is .04: it names the second place in 93 of 100. Asked about each pair
  alone, the same judge is at .84. A reader of the first number would have trusted the wrong one.
- In MT-Bench pairs every judge reproduces less than it repeats, by .02 (gpt-4-0125-preview) to .18
  (claude-3-opus: .74 against .57). The judges that lose most name the second answer too often
  (37 to 42 of 100 first) and are the ones whose position bias is beyond its test; of the GPT
  models none is, at 5 %.
- Position bias and lost agreement are two things. gpt-3.5-turbo-1106 favours no place to speak of
  (first in 46 of 100), and yet 18 of 100 judgments in the other order name another answer, against
  7 of 100 in the same order: on close pairs the place decides, now one way and now the other.
- The order of judges changes: by repeatability claude-3-opus (.74) stands close to
  gpt-4-0125-preview (.81); by reproducibility they are .57 and .79 apart.
- LLMBar asked once in each order, so only judgments of two orders are compared and reproducibility
  is lower than of judgments that may share theirs: a judge of pure position is then at -1, not 0.
  ChatGPT's .19 beside a floor of -.14 says that it reads the answers, and that the place is a good
  part of its verdict (69 of 100 name the first); GPT-4's is hardly touched (.74, 51 of 100).
- Even where swap consistency sounds high it is to be read beside its floor: 78 of 100 for
  claude-3-opus, when a judge that does not look at the pair would have 62.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/recorded-pairwise.md"))
    given = parser.parse_args()
    given.out.write_text(page(recordings()))


if __name__ == "__main__":
    main()
