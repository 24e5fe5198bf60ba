"""How what was recorded is asked for and called today: the one page that renamings change."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Literal

Form = Literal["tables", "json", "text", "page", "file", "run"]


@dataclass(frozen=True, slots=True)
class View:
    """What is asked for: a verb and flags around the paths, and what form the answer has.

    ``tables`` are printed by ``--format json,table``, ``json`` by ``--json`` and, without it, as
    text; a ``page``, a ``file`` or a ``run`` is written to ``--out``.
    """

    verb: str
    flags: tuple[str, ...] = ()
    form: Form = "tables"


FULL = ("--full",)
"""All that a verb prints: without it, it prints a short answer."""

VIEWS: dict[str, View] = {
    "coefficients": View("reduce", FULL),
    "questions": View("questions", FULL),
    "uncertainty": View("uncertainty", FULL),
    "limits": View("distributions", ("--view", "limits", *FULL)),
    "weighted": View("distributions", ("--view", "weighted", *FULL)),
    "settled": View("distributions", ("--view", "settled", *FULL)),
    "reasoning": View("distributions", ("--view", "reasoning", *FULL)),
    "scales": View("scales", FULL),
    "ranking": View("rank", FULL),
    "alignment": View("align", FULL),
    "selection": View("select", FULL),
    "systems": View("systems", FULL),
    "panels": View("panels", FULL),
    "cascade": View("cascade", FULL),
    "advise": View("advise", FULL),
    "compare": View("compare", FULL),
    "plan": View("plan", FULL, form="json"),
    "status": View("status", form="json"),
    "verify": View("verify", form="text"),
    "report": View("report", form="page"),
    "items": View("items", form="file"),
    "import": View("import", form="file"),
    "run": View("run", form="run"),
    "exact": View("exact", form="run"),
}
"""By the name that cases have, which stays; the verb and its flags are those of today.

A record made by older code holds the same names and flags of cases, and is compared as it is.
"""

FLAGS: dict[str, dict[str, str]] = {"systems": {"--compared": "--answer-temperature"}}
"""By view ("*" is every one): flags of cases and what they are called today."""

PARTED: dict[str, tuple[str, ...]] = {"--person": ("--person-cost", "--person-accuracy")}
"""Flags of cases whose value is today's values of several, with commas between."""

FIELDS: dict[str, dict[str, str]] = {}
"""By view ("*" is every one): fields as they were recorded and what they are called today."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A difference that was meant: patterns of shells of all that is known of it.

    ``of`` is of the coefficient of its row, ``before`` of what was recorded, ``now`` of what is
    said now.
    """

    reason: str
    case: str = "*"
    field: str = "*"
    kind: str = "*"
    of: str = "*"
    before: str = "*"
    now: str = "*"

    def explains(
        self, case: str, field: str, kind: str, *, of: str = "", before: object = None,
        now: object = None,
    ) -> bool:  # fmt: skip
        """Whether it is this one."""
        patterns = ((case, self.case), (field, self.field), (kind, self.kind), (of, self.of),
                    (str(before), self.before), (str(now), self.now))  # fmt: skip
        return all(fnmatch(one, pattern) for one, pattern in patterns)


_CODES = (
    "statistic", "interval_method", "no_interval", "n_compared", "n_resamples", "null_method",
    "n_permutations", "flags", "flag_numbers", "flag_sides",
)  # fmt: skip
_SAID = {
    "advise": ("unreachable", "error_of", "n_replications", "n_questions", "design_replications",
               "design_questions"),
    "selection": ("band", "band_thresholds", "band_off", "split", "seed"),
    "uncertainty": ("how", "n_folds", "score", "of_replications", "drawn_at"),
    "scales": ("ceiling_of", "statistic", "flags", "flag_numbers"),
}  # fmt: skip
_SHARES = (
    "percent_agreement", "flip_rate", "valid_rate", "total_agreement", "majority_stability_*",
    "class_agreement*", "accuracy", "majority_accuracy", "agreement_right", "agreement_wrong",
    "swap_consistency", "place_consistency", "first_place", "serving_noise*",
    "schroeder2024_accuracy",
)  # fmt: skip
_OF_ANSWERS = {
    "acceptance": ("low", "high", "band_low", "band_high"), "reliability": ("low", "high"),
    "systems": ("low", "high", "read_low", "read_high"),
}  # fmt: skip
"""Shares of answers, of which questions have unequally many: their ends went outwards alone."""
EXPECTED: tuple[Expected, ...] = (
    *(Expected("codes of how a number was made", field=f"*{name}", kind="new") for name in _CODES),
    *(
        Expected(
            "clauses of the estimator in another order, why there is no interval in plainer words",
            case=f"{view} *",
            field="*estimator",
            kind="text",
        )
        for view in ("coefficients", "scales", "alignment")
    ),
    *(
        Expected("a code and its numbers in place of a sentence", case=f"{view} *",
                 field=f"*{name}", kind=kind)
        for view, names in _SAID.items() for name in names for kind in ("text", "new", "number")
    ),
    *(
        Expected("verdicts on single answers, asked exactly, are no options to choose",
                 case=f"{view} runs-explored*")
        for view in ("panels", "selection", "systems")
    ),
    Expected("how a threshold was chosen, in plainer words", case="uncertainty *",
             field="*worth*estimator", kind="text"),
    Expected("scores of -1 below all others are said", case="* tables-vicuna_reviews*",
             kind="wording"),
    Expected("of cascades that cost alike the first", case="cascade runs-thought --price*"),
    *(
        Expected("what is right is known of think_twice, too", case=f"questions {run}",
                 field=f"*{name}")
        for run in ("runs-thought*", "runs-cascaded*")
        for name in ("accuracy", "agreement_right", "agreement_wrong", "high", "low",
                     "majority_right", "undefined", "stdout")
    ),
    Expected("the floor of agreement on a class takes no pair of a rating with itself",
             case="coefficients tables-application", field="*noise_floor"),
    Expected("a score that no judgment has", case="uncertainty *", field="*undefined", kind="text"),
    Expected("no interval of ranks where few questions decide", case="ranking *",
             field="*agreements*"),
    Expected("sides on two scales are said", case="compare runs-rated --by scale", field="stderr"),
    *(
        Expected("a bound below 10 % has two digits", case=f"coefficients {case}", field="stdout")
        for case in ("tables-coinflip*", "tables-vicuna*", "tables-alpaca", "tables-application",
                     "tables-logprobs", "tables-people_feedbackqa", "tables-stability",
                     "runs-sampled --coefficient order_effect")
    ),
    # Rows beside those of before, each of which is there with its numbers.
    *(
        Expected("stability of majorities has reproducibility",
                 case=f"coefficients runs-sampled --coefficient majority_stability_{n}",
                 field="#", kind="row new")
        for n in (3, 5, 11)
    ),
    *(
        Expected("agreement within one prompt says that it has no reproducibility",
                 case=f"coefficients {case}", field=field)
        for field in ("stdout", "*.flags*", "*.flag_numbers*")
        for case in ("runs-* --coefficient icck", "tables-* --coefficient icck",
                     "runs-* --coefficient majority_stability_*")
    ),
    *(
        Expected("names, units and bounds are said", case=f"{case}*", field=field, kind="wording")
        for case, field in (("limits runs-", "stdout"), ("uncertainty runs-", "stdout"),
                            ("ranking ", "stdout"), ("report ", "page"), ("status ", "stdout"))
    ),
    *(
        Expected("readable, fetch and thoughts are new", case=f"{view} *", field=field, kind="new")
        for view, field in (("plan", "resolved.ask.#.readable"), ("plan", "resolved.fetch"),
                            ("status", "judges.#.thoughts"))
    ),
    *(
        Expected("counts of outcomes, and the share of replies to be read, are said",
                 case=f"{view} *", field=field, kind="wording")
        for view, field in (("import", "stdout"), ("plan", "stdout"), ("alignment", "stderr"),
                            ("ranking", "stderr"), ("scales", "stderr"))
    ),
    *(
        Expected("a share has the interval that a gate judges by (decision 021)",
                 field=f"*.{field}", of=name)
        for name in _SHARES for field in ("low", "high", "interval_method", "no_interval")
    ),
    *(
        Expected("a share has the interval that a gate judges by (decision 021)",
                 case=f"{view} *", field=field)
        for view, field in (
            ("coefficients", "#.standing"), ("reasoning", "#.ratio_high"),
            ("reasoning", "#.ratio_low"),
            ("uncertainty", "against_people.#.judge_*"), ("uncertainty", "people.#.low"),
            ("uncertainty", "against_people.#.person_low"),
            ("uncertainty", "against_people.#.person_high"),
            *(
                ("selection", f"{table}.#.{end}") for table, ends in _OF_ANSWERS.items()
                for end in ends
            ),
            *(
                ("cascade", f"cascaded.#.{end}")
                for end in ("low", "high", "answered_low", "answered_high")
            ),
        )
    ),
    *(
        # The printed intervals of shares; every number is held in the tables, too.
        Expected("a share has the interval that a gate judges by (decision 021)",
                 case=f"{view} {kind}-*", field="stdout")
        for view in ("coefficients", "reasoning", "selection", "cascade")
        for kind in ("runs", "tables")
    ),
    *(
        Expected("agreement of 1 beyond chance has an exact interval (decision 021)",
                 field=f"*{field}", of=name, before=before)
        for name in ("krippendorff_alpha", "fleiss_kappa", "icc1")
        for field, before in (("low", "None"), ("high", "None"), ("interval_method", "None"),
                              ("no_interval", "*"))
    ),
    *(
        Expected("accuracy and kappa with labels are rows by default", case="coefficients *",
                 field="#", kind="row new", of=name)
        for name in ("accuracy", "cohen_kappa")
    ),
    Expected("why no threshold is found is told by what is missing first", case="selection *",
             field="guarantees.#.undefined", kind="text"),
    *(
        Expected("what a sweep can show, costs and runs on is said", case="plan *", field=field)
        for field in ("answers", "judges.#.cost", "notes", "notes.#", "resolved.judge.#.provider")
    ),
    Expected("advice in plainer words, one of which was a number", case="advise *", field="stdout",
             kind="wording", now="none"),
    *(
        Expected("a half is rounded alike whatever the order of its sum", case=case,
                 field="stdout", kind="wording", before=before)
        for case, before in (("compare runs-rated --by scale", "-0.513"),
                             ("compare runs-sampled --by temperature", "0.536"),
                             ("compare runs-adaptive --by judge", "0.488"),
                             ("compare runs-written --by judge", "-0.387"),
                             ("compare runs-sampled runs-again*", "0.214 x3"),
                             ("questions tables-rewardbench", "0.687*"),
                             ("advise runs-correct", "2 x4, 2.48e-17"),
                             ("advise runs-written", "0.437, 2 x4"),
                             ("advise runs-rated", "2 x4, 0.387"))
    ),
    Expected("an engine that never started has no log of Ray: it needs no Ray",
             case="status runs-unfinished", field="judges.#.error", kind="text"),
    Expected("the demo asks two judges of known reliability", case="plan jobs-demo__*"),
    Expected("questions in which the class occurs are counted (decision 021)",
             case="coefficients *", field="#.n_compared", of="class_agreement*"),
    *(
        Expected("how fast a run was, and what lay in a cache: runs are made again",
                 case="status *", field=f"*{name}")
        for name in ("busy_seconds", "requests_per_s", "tokens_per_s", "tokens.cached",
                     "tokens.computed")
    ),
)  # fmt: skip
"""Every difference that stays, with its reason."""


def flags_today(view: str, flags: tuple[str, ...]) -> list[str]:
    """A case's flags as they are spelled today."""
    names = FLAGS.get("*", {}) | FLAGS.get(view, {})
    spelled: list[str] = []
    words = iter(flags)
    for word in words:
        if word in PARTED:
            for flag, value in zip(PARTED[word], next(words).split(","), strict=False):
                spelled += [flag, value]
        else:
            spelled.append(names.get(word, word))
    return spelled


def fields_today(view: str, value: object) -> object:
    """Recorded JSON with its fields called as they are today."""
    names = FIELDS.get("*", {}) | FIELDS.get(view, {})
    if isinstance(value, dict):
        return {names.get(key, key): fields_today(view, part) for key, part in value.items()}
    if isinstance(value, list):
        return [fields_today(view, one) for one in value]
    return value
