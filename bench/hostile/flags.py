"""Flags with values that no one should give, and frames handed over in Python."""

from __future__ import annotations

from collections.abc import Iterator

from bench.hostile.case import Answer, Case, Expect
from bench.hostile.counted import base_rows, counted
from bench.hostile.tables import as_csv, cells, spelled

WILD_NUMBERS = ("-1", "0", "nan", "inf", "1e300", "abc", "", "1e11", "99999999999999999999", "0x10")
# Flags, the values of theirs that are no mistake, and what they need besides.
NUMBER_FLAGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "reduce --resamples": (("--interval", "bootstrap"), ()),
    "reduce --seed": (("--interval", "bootstrap"), ("0",)),
    "select --risk": (("--gold", "g.csv"), ()),
    "select --delta": (("--gold", "g.csv"), ()),
    "select --bins": (("--gold", "g.csv"), ()),
    "uncertainty --threshold": ((), ()),
    "reduce --block": ((), ("0",)),
    "advise --budget": ((), ()),
    "compare --tolerance": ((), ("0",)),
}
WORD_FLAGS: dict[str, tuple[str, ...]] = {
    "--by": ("nonsense", "", ",", "verdict", "replication", "score", "by,by", "item_id,item_id"),
    "--measurement": ("nonsense", "", "nominal,nonsense", "ratio", "interval", "Nominal"),
    "--items": ("nonsense", "", "verdict", "replication", "item_id"),
    "--nuisance": ("nonsense", "", "item_id", "verdict", "replication"),
    "--missing": ("nonsense", "", "category,category", "bounds"),
    "--format": ("nonsense", "", "json,json", "JSON", "table,xml"),
    "--interval": ("nonsense", "", "Bootstrap", "posterior"),
    "--coefficient": (
        "nonsense", "", "percent_agrement", "majority_stability_0", "majority_stability_-1",
        "majority_stability_100000000", "majority_stability_1.5", "majority_stability_",
        "cronbach_alpha", "schroeder2024_alpha", "krippendorff_alpha,krippendorff_alpha",
    ),
    "--tolerance": ("nonsense", "", "krippendorff_alpha", "krippendorff_alpha=",
                    "krippendorff_alpha=nan", "krippendorff_alpha=2", "nonsense=0.5",
                    "flip_rate=-1", "=0.5", "krippendorff_alpha=1e999"),
    "--gold": ("nonsense.csv", "", "t.csv", "/dev/null", "."),
    "--confidence": ("nonsense", ""),
}  # fmt: skip
RIGHT = Answer(numbers=counted(base_rows()))


def flag_cases() -> Iterator[Case]:
    """Wild values, each one by itself."""
    table = as_csv(cells(base_rows()))
    gold = "item_id,gold\n" + "".join(f"q{i},PASS\n" for i in range(12))
    files = {"t.csv": table, "g.csv": gold.encode()}
    for name, (more, _) in NUMBER_FLAGS.items():
        verb, flag = name.split()
        for value in WILD_NUMBERS:
            paths = ("t.csv", "t.csv") if verb == "compare" else ("t.csv",)
            yield Case(
                family="Flags",
                what=f"{name} {value!r}",
                commands=((verb, *paths, *more, flag, value, "--format", "json"),),
                files=files,
                expect=Expect(),
                fast=flag == "--resamples" and value in ("-1", "1e11"),
            )
    yield Case(
        family="Flags",
        what="reduce --resamples 100000000000",
        commands=(("reduce", "t.csv", "--interval", "bootstrap", "--resamples", "100000000000"),),
        files=files,
        expect=Expect(refusal="must", names=("resamples",), harmless=True),
        fast=True,
    )
    for flag, values in WORD_FLAGS.items():
        for value in values:
            verb = "select" if flag in ("--gold", "--confidence") else "reduce"
            gold_flags = ("--gold", "g.csv") if flag == "--confidence" else ()
            plain = ("--format", "json") if flag != "--format" else ()
            unknown = "nonsense" in value or value.startswith("percent_agrement")
            yield Case(
                family="Flags",
                what=f"{verb} {flag} {value!r}",
                commands=((verb, "t.csv", *gold_flags, f"{flag}={value}", *plain),),
                files=files,
                expect=Expect(refusal="must" if unknown else "may"),
                fast=value == "nonsense",
            )
    for value in ("nonsense", "", "krippendorff_alpha=2", "krippendorff_alpha=nan", "=", "a=b",
                  "krippendorff_alpha=-5", "krippendorff_alpha=1"):  # fmt: skip
        yield Case(
            family="Flags",
            what=f"advise --target {value!r}",
            commands=(("advise", "t.csv", "--target", value),),
            files=files,
            expect=Expect(refusal="must" if value != "krippendorff_alpha=1" else "may",
                          harmless=True),
        )  # fmt: skip
    for value in ("nonsense=3", "template=0", "template=-1", "template=nan", "template=", "=3",
                  "template=1e99"):  # fmt: skip
        yield Case(
            family="Flags",
            what=f"advise --facet-size {value!r}",
            commands=(("advise", "t.csv", "--facet-size", value),),
            files=files,
            expect=Expect(refusal="must", harmless=True),
        )
    for arguments in ((), ("reduce",), ("nonsense",), ("reduce", "t.csv", "--nonsense"),
                      ("reduce", "t.csv", "u.csv"), ("compare",), ("--nonsense",),
                      ("reduce", "t.csv", "--form", "json"), ("import", "nonsense", "t.csv",
                      "--out", "o.parquet"), ("items", "nonsense", "t.csv", "--out", "o.parquet"),
                      ("verify", "t.csv"), ("status", "t.csv"), ("verify", "nowhere"),
                      ("run", "t.csv", "--out", "o"), ("plan", "t.csv")):  # fmt: skip
        yield Case(
            family="Flags",
            what=f"judgerel {' '.join(arguments)}".strip(),
            commands=(arguments,) if arguments else (),
            shell=None if arguments else "$JUDGEREL",
            files=files,
            expect=Expect(refusal="must", harmless=True),
        )


FRAMES = {
    "a Polars frame": "import polars as pl; t = pl.read_csv('t.csv', infer_schema=False)",
    "a lazy Polars frame": "import polars as pl; t = pl.scan_csv('t.csv', infer_schema=False)",
    "a pandas frame": "import pandas as pd; t = pd.read_csv('t.csv', dtype=str)",
    "a pandas frame of guessed types": "import pandas as pd; t = pd.read_csv('t.csv')",
    "a pandas frame with categories": "import pandas as pd; "
    "t = pd.read_csv('t.csv').astype({'verdict': 'category'})",
    "a pandas frame with an index of its own": "import pandas as pd; "
    "t = pd.read_csv('t.csv').set_index('item_id').reset_index()",
    "an Arrow table": "import pyarrow.csv as c; t = c.read_csv('t.csv')",
}
LAST = "; import judgerel_ray as jr; print(jr.reduce(t).write_json())"
NO_FRAMES = {
    "a number": "t = 7",
    "None": "t = None",
    "a list": "t = [1, 2]",
    "a NumPy array": "import numpy as np; t = np.zeros((3, 3))",
    "an empty Polars frame": "import polars as pl; t = pl.DataFrame()",
    "a frame of other columns": "import polars as pl; t = pl.DataFrame({'a': [1], 'b': [2]})",
    "an empty pandas frame": "import pandas as pd; t = pd.DataFrame()",
    "pandas columns of one name": "import pandas as pd; t = pd.DataFrame("
    "[['q', 0, 'A', 'B']], columns=['item_id', 'replication', 'verdict', 'verdict'])",
    "pandas columns that are numbers": "import pandas as pd; t = pd.DataFrame([['q', 0, 'A']])",
    "pandas columns of two levels": "import pandas as pd; t = pd.DataFrame([['q', 0, 'A']], "
    "columns=pd.MultiIndex.from_tuples([('a', 'item_id'), ('a', 'replication'), ('b', 'v')]))",
}
CAUGHT = """
from judgerel_ray.core import JudgeRelError
try:
    {source}
except (JudgeRelError, TypeError) as error:
    import sys
    print('judgerel: ' + ' '.join(str(error).split()), file=sys.stderr)
    raise SystemExit(2)
"""


def frame_cases() -> Iterator[Case]:
    """Frames handed to :func:`judgerel_ray.reduce`."""
    plain = as_csv(cells(base_rows()))
    for what, source in FRAMES.items():
        yield Case(
            family="Frames in Python",
            what=what,
            commands=(("python", CAUGHT.format(source=source + LAST)),),
            files={"t.csv": plain},
            expect=Expect(answers=(RIGHT,), refusal="never"),
            fast="lazy" not in what,
        )
        for name in ("PASS, pass", "1, 1.0", "blanks and case"):
            if name == "1, 1.0" and "types" in what:
                continue  # pandas reads them as floats: one spelling
            rows, written = spelled(name)
            meant = Answer(numbers=counted(rows))
            yield Case(
                family="Frames in Python",
                what=f"{what}, verdicts {name}",
                commands=(("python", CAUGHT.format(source=source + LAST)),),
                files={"t.csv": as_csv(cells(written))},
                expect=Expect(answers=(meant,), refusal="never"),
            )
    for what, source in NO_FRAMES.items():
        yield Case(
            family="Frames in Python",
            what=what,
            commands=(("python", CAUGHT.format(source=source + LAST)),),
            expect=Expect(refusal="must"),
        )


def flag_and_frame_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from flag_cases()
    yield from frame_cases()
