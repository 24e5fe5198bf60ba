"""What is recorded: every view of every input, and every flag where it says something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from bench.unchanged.sweeps import SWEEPS
from bench.unchanged.tables import IMPORTS, ITEMS, LAID_OUT

RUNS = (*SWEEPS, "demo")
ONLY_PAIRED = {"starling", "people_summeval"}
"""Large tables much like others: coefficients of theirs are asked for by name alone."""
TABLES = tuple(name for name in (*IMPORTS, *LAID_OUT) if name not in ONLY_PAIRED)
ADVISED_RUNS = ("sampled", "written", "correct", "own_template", "confused", "rated", "cascaded",
                "explored", "demo")  # fmt: skip
ADVISED_TABLES = ("llama3", "claude", "vicuna", "pairs", "alpaca", "pilot", "trec", "mmlu_pro")
"""Advice is dear where there are many groups: not of every input."""
RECORDED = "recordings"
DRAWN = {"selection", "systems"}
DRAWS = ("--resamples", "100")


@dataclass(frozen=True, slots=True)
class Case:
    """A view of inputs, whose paths are relative to the folder of inputs."""

    view: str
    paths: tuple[str, ...]
    flags: tuple[str, ...] = ()
    stem: str = ""

    @property
    def name(self) -> str:
        """What it is recorded as."""
        paths = self.stem or " ".join(path.removesuffix(".parquet") for path in self.paths)
        return " ".join((self.view, paths, *self.flags)).replace("/", "-")


def run_path(name: str) -> str:
    return f"runs/{name}"


def table_path(name: str) -> str:
    return f"tables/{name}.parquet"


def all_cases() -> Iterator[Case]:
    """Every case; those that ask judges come last."""
    yield from _crossed()
    yield from _coefficients()
    yield from _probabilities()
    yield from _ratings()
    yield from _systems()
    yield from _decisions()
    yield from _written()
    yield from _asked()


def _crossed() -> Iterator[Case]:
    """Every view of every run and table, refusals among them."""
    views = ("coefficients", "questions", "uncertainty", "limits", "weighted", "settled",
             "reasoning", "scales", "ranking", "selection", "systems", "panels",
             "cascade")  # fmt: skip
    inputs = (*map(run_path, RUNS), *map(table_path, TABLES))
    for view, path in product(views, inputs):
        yield Case(view, (path,), DRAWS if view in DRAWN else ())
    for path in (*map(run_path, ADVISED_RUNS), *map(table_path, ADVISED_TABLES)):
        yield Case("advise", (path,))
    for path in inputs:
        yield Case("report", (path,))
        yield Case("compare", (path,), ("--by", "judge"))
        yield Case("alignment", (path,), ("--reference", "human"))
    for view, name in product(("status", "verify"), RUNS):
        yield Case(view, (run_path(name),))


NAMED = (
    "krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger",
    "flip_rate", "valid_rate", "entropy_agreement", "total_agreement", "icc1", "icck",
    "majority_stability_3", "majority_stability_5", "majority_stability_11", "standard_error",
    "class_agreement", "accuracy", "majority_accuracy", "agreement_right", "agreement_wrong",
    "swap_consistency", "place_consistency", "position_bias", "first_place", "order_effect",
)  # fmt: skip


def _coefficients() -> Iterator[Case]:
    """Flags of ``reduce`` on coefficients and on questions."""
    sampled, rated = run_path("sampled"), run_path("rated")
    for path, name in product((sampled, run_path("written")), NAMED):
        yield Case("coefficients", (path,), ("--coefficient", name))
    for name in ("krippendorff_alpha", "icc1", "icck", "standard_error", "total_agreement"):
        yield Case("coefficients", (rated,), ("--coefficient", name))
    flags: tuple[tuple[str, ...], ...] = (
        ("--by", "judge"), ("--by", "judge,temperature"), ("--missing", "bounds"),
        ("--missing", "drop"), ("--missing", "category,drop,bounds"),
        ("--tolerance", "krippendorff_alpha=0.6", "--tolerance", "valid_rate=0.9"),
        ("--interval", "jackknife"), ("--interval", "posterior"), ("--nuisance", "template"),
        ("--interval", "bootstrap", "--resamples", "100", "--seed", "3"), ("--block", "all"),
        ("--measurement", "nominal,ordinal,interval,ratio", "--missing", "drop"),
        ("--exact-values",), ("--items", "item_id"), ("--verdict-names", "place"),
    )  # fmt: skip
    paths = (run_path("again"), run_path("adaptive"), run_path("correct"),
             *map(table_path, ("coinflip", "vicuna")))  # fmt: skip
    for path, some in product(paths, flags):
        yield Case("coefficients", (path,), some)
    for path, some in product((sampled, rated), (flags[4], *flags[8:10], *flags[11:13])):
        yield Case("coefficients", (path,), some)
    yield Case("coefficients", (table_path("pilot"),), ("--verdict-names", "place"))
    for path, some in product((sampled, table_path("pairs")), flags[:3]):
        yield Case("questions", (path,), some)
    named = ("cronbach_alpha", "mcdonald_omega", "omega_hierarchical")
    omega = tuple(word for name in named for word in ("--coefficient", name))
    yield Case("coefficients", (table_path("people_summeval"),), ("--items", "criterion", *omega))
    yield Case("coefficients", (sampled,), ("--items", "replication", *omega))
    published = ("alpha", "omega", "irr", "irr_never_agrees", "irr_left_out")
    for name, table in product(published, ("llama3", "starling")):
        if table == "starling" and name in ("alpha", "omega"):  # dear, and much the same
            continue
        by = ("--by", "benchmark,temperature") if name.startswith("irr") else ()
        yield Case("coefficients", (table_path(table),),
                   ("--coefficient", f"schroeder2024_{name}", *by))  # fmt: skip
    of_answers = {"right_answers": "answers"} | dict.fromkeys(
        ("accuracy", "accuracy_monte_carlo", "omega"), "application"
    )
    for name, table in of_answers.items():
        yield Case("coefficients", (table_path(table),), ("--coefficient", f"schroeder2024_{name}"))


def _probabilities() -> Iterator[Case]:
    """Flags of the views of probabilities."""
    for name in ("confused", "confused_by_pairs"):
        for flags in (("--threshold", "0.7"), ("--rule", "normalised"), ("--rule", "formula"),
                      ("--rule", "exceeding"), ("--risk", "0.3", "--delta", "0.2")):  # fmt: skip
            yield Case("uncertainty", (run_path(name),), flags)


def _ratings() -> Iterator[Case]:
    """Flags of the views of ratings."""
    rated, weighted = run_path("rated"), run_path("weighted")
    percent = ("--scale", "sweeps/percent.toml")
    for mapping in ("minmax", "midrank", "fraction", "collapse", "binarise"):
        yield Case("scales", (rated,), ("--mapping", mapping))
    for case in ("case1", "case2", "case3"):
        yield Case("scales", (rated,), ("--preset", f"lee2025_{case}"))
        yield Case("ranking", (rated,), ("--preset", f"lee2025_{case}"))
    for path, flags in product((rated, weighted), (("--pairing", "first"), percent)):
        yield Case("scales", (path,), flags)
    yield Case("scales", (rated,), ("--by", "judge,criterion,definition,temperature,template"))
    for path, who in product((rated, weighted), ("human", "fine", "tables/reference.csv")):
        yield Case("alignment", (path,), ("--reference", who, *percent))
        yield Case("ranking", (path,), ("--reference", who))
    yield Case("alignment", (weighted,), ("--reference", "human", "--coefficient", "pearson"))
    yield Case("ranking", (rated,), ("--outside", "tables/outside.csv"))
    yield Case("alignment", (table_path("vicuna_reviews"),), ("--reference", "gpt-4"))
    yield Case("report", (rated,), ("--reference", "human", *percent))
    yield Case("report", (weighted,), ("--reference", "fine", "--pairing", "first"))


def _systems() -> Iterator[Case]:
    """Flags of selection, systems, panels and cascades."""
    thought, claude, mmlu = run_path("thought"), table_path("claude"), table_path("mmlu_pro")
    yield Case("selection", (claude,))  # as many draws as by default
    yield Case("systems", (thought,))
    confidences = ("stated", "agreement", "support", "margin", "probability")
    for path, names in product((thought, run_path("sampled"), claude), confidences):
        yield Case("selection", (path,), (*DRAWS, "--confidence", names))
    for flags in (("--band", "dkw"), ("--bins", "4"), ("--risk", "0.4", "--delta", "0.2"),
                  ("--by", "judge"), ("--seed", "5"), ("--gold", "tables/gold.csv")):  # fmt: skip
        yield Case("selection", (thought,), (*DRAWS, *flags))
    of_systems = (
        ("--answer", "majority"),
        ("--compared", "0"), ("--confidence", "stated"), ("--by", "benchmark"),
    )  # fmt: skip
    for flags in of_systems:
        yield Case("systems", (thought,), (*DRAWS, *flags))
    prices = ("--price", "ant=1,2", "--price", "bee=3,4", "--price", "cat=5,6")
    for flags in (prices, ("--seed", "2"), ("--confidence", "agreement")):
        yield Case("panels", (thought,), flags)
        yield Case("cascade", (thought,), flags)
    for flags in (("--order", "bee,ant,cat"), ("--person", "5000,0.9")):
        yield Case("cascade", (thought,), flags)
        yield Case("cascade", (run_path("cascaded"),), flags)
    yield Case("panels", (mmlu,), ("--seed", "1", "--exact-values"))


def _decisions() -> Iterator[Case]:
    """Flags of advice, and comparisons of two."""
    sampled, again = run_path("sampled"), run_path("again")
    advice = (
        ("--target", "generalizability=0.9"), ("--target", "majority_stability=0.95"),
        ("--target", "dependability=0.9", "--target", "interval_width=0.1"),
        ("--budget", "2000"), ("--budget", "tokens=100000"), ("--by", "judge"),
        ("--facet-size", "item_id=fixed"), ("--facet-size", "option_order=fixed"),
        ("--facet-size", "option_order=2"), ("--facet-size", "option_order=unlimited"),
    )  # fmt: skip
    for path, flags in product((run_path("own_template"), table_path("rewardbench")), advice):
        yield Case("advise", (path,), flags)
    yield Case("advise", (sampled,), ("--facet-size", "template=fixed"))
    pairs = ((sampled, again), (run_path("rated"), run_path("weighted")),
             (table_path("llama3"), table_path("starling")),
             (run_path("correct"), run_path("adaptive")), (run_path("demo"), run_path("demo")),
             (table_path("claude"), table_path("claude_reread")))  # fmt: skip
    for pair in pairs:
        for flags in ((), ("--tolerance", "0.05"), ("--coefficient", "krippendorff_alpha"),
                      ("--by", "judge,temperature")):  # fmt: skip
            yield Case("compare", pair, flags)
    levels = {
        sampled: ("temperature", "template"),
        run_path("again"): ("judge,temperature",),
        run_path("rated"): ("scale", "definition"),
        run_path("thought"): ("role",),
        table_path("rewardbench"): ("temperature",),
    }
    for path, names in levels.items():
        for by in names:
            yield Case("compare", (path,), ("--by", by))


def _written() -> Iterator[Case]:
    """Files made for others, and plans."""
    for name, (kind, path, *flags) in ITEMS.items():
        there = tuple(f"{RECORDED}/{one}" if ".parquet" in one else one for one in flags)
        yield Case("items", (kind, f"{RECORDED}/{path}"), there, stem=name)
    for name, (kind, path, *flags) in IMPORTS.items():
        yield Case("import", (kind, import_path(path)), tuple(flags), stem=name)
    yield Case("items", ("mine", "sweeps/choices.jsonl"), ("--gold-is", "id"), stem="plain")
    for name in SWEEPS:
        yield Case("plan", (f"sweeps/{name}.toml",))
    for name in JOBS:
        yield Case("plan", (f"jobs/{name}.toml",))


JOBS = {
    "demo__tiny-judge__cpu": {"../judgerel_ray/demo/": "../demo/"},
    "schroeder2024__3-judges__1xgpu-each": {"../data/schroeder2024": f"../{RECORDED}/seed000"},
    "schroeder2024-own-responses__5-responders-3-judges__1xgpu-each": {
        "../data/bbh": f"../{RECORDED}/items/bbh.parquet",
        "../data/squad/dev-v1.1.json": f"../{RECORDED}/items/squad_v1_sample.parquet",
        "../data/mt_bench/question.jsonl": f"../{RECORDED}/items/mt_bench_questions.jsonl.gz",
        ", categories = 20": "",
    },
    "wagner2024__3-judges__1-4xgpu": {
        "../data/TruthfulQA.csv": f"../{RECORDED}/items/truthfulqa.parquet",
        "../data/summeval/model_annotations.aligned.paired.jsonl": f"../{RECORDED}/items",
        "../data/feedbackqa": f"../{RECORDED}/items/feedbackqa.parquet",
        "../data/feedback_collection.json":
            f"../{RECORDED}/seed003/gpt4_3x_vicuna_prompts.parquet",
        "n = 400": "n = 100",
    },
}  # fmt: skip
"""Ready sweeps, and what in their text stands for the files that they name."""


def import_path(path: str) -> str:
    """Where an import's file lies: among the items that were made, or the recordings."""
    return path.removeprefix("../") if path.startswith("../") else f"{RECORDED}/{path}"


def _asked() -> Iterator[Case]:
    """The sweeps, asked again."""
    for name in SWEEPS:
        yield Case("exact" if name == "explored" else "run", (f"sweeps/{name}.toml",))
