"""What moved: the judge, the system it judges, or how it was asked.

What is behind a judge's name is kept as nested entries: parts of the judge's fingerprint, settings
of the asks (such as ``asks.0.template``), files of its model (``parts``), and what served it
(``served``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from judgerel_ray.analyses.drift.standing import Alarms, levels_of
from judgerel_ray.config.series import Series
from judgerel_ray.core.codes import Worded
from judgerel_ray.stats.drift import drift_evidence

Behind = Mapping[str, object]

WORDS = {
    "parts.weights": "weights",
    "parts.tokenizer": "tokenizer",
    "parts.chat template": "chat template",
    "parts.configuration": "model configuration",
    "model": "model",
    "model.identity": "model content",
    "model.name": "model",
    "model.revision": "revision asked for",
    "chat_template": "chat template",
    "engine_version": "engine version",
    "device": "device",
    "tensor_parallel_size": "tensor parallel size",
    "dtype": "precision",
    "quantization": "quantisation",
    "batch_invariant": "batch invariance",
    "attention_backend": "attention backend",
    "max_model_len": "longest context",
    "provider": "server",
    "reader_version": "reader version",
    "served.backends": "what the server calls itself",
    "served.engine_version": "engine version that served",
    "served.device_name": "GPU",
    "served.attention_backend": "attention backend that served",
    "served.dtype": "precision that served",
    "served.model": "model that served",
    "served.chat_template_sha256": "chat template that served",
}
"""What each entry is called; others go by their own names."""
SERVED = tuple(name.removeprefix("served.") for name in WORDS if name.startswith("served."))
"""Facts of engines that are compared."""


def changes(before: Behind, now: Behind) -> list[str]:
    """Say what changed behind a judge's name, a phrase each.

    Examples
    --------
    >>> changes({"model": {"identity": "a"}, "engine": "vllm"},
    ...         {"model": {"identity": "b"}, "engine": "vllm"})
    ['model content: a, now b']
    >>> changes({"served": {"backends": ["fp_1"]}}, {"served": {"backends": ["fp_2"]}})
    ['what the server calls itself: fp_1, now fp_2']
    """
    old, new = _flat_drift_settings(before), _flat_drift_settings(now)
    return [
        f"{_called(name)}: {_shown(old.get(name))}, now {_shown(new.get(name))}"
        for name in sorted({*old, *new}, key=lambda one: (one not in WORDS, one))
        if old.get(name) != new.get(name)
    ]


_ANSWERS = frozenset({"benchmark", "items", "responders", "respond", "respond_template"})
"""Settings of an ask that say what is judged; all others say how."""


def what_changed(before: Behind, now: Behind) -> tuple[bool, list[str]]:
    """Whether what a judge judged changed, and the names of what changed of how it was asked.

    What served a judge is left out: it is found and not asked, and what it does shows on anchors.

    Examples
    --------
    >>> what_changed({"asks.0.items": "a", "model": "m"}, {"asks.0.items": "b", "model": "m"})
    (True, [])
    >>> what_changed({"asks.0.items": "a", "model": "m"}, {"asks.0.items": "a", "model": "n"})
    (False, ['model'])
    """
    old, new = _drift_setting_values(before), _drift_setting_values(now)
    differing = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    answers = {
        name for name in differing if name.startswith("asks.") and name.split(".")[1] in _ANSWERS
    }
    others = sorted(differing - answers)
    return bool(answers), [WORDS.get(name, name.removeprefix("asks.")) for name in others]


def fingerprint_of(behind: Behind) -> dict[str, object]:
    """Of what is behind a judge's name the judge alone: not how it was asked, served or read.

    Examples
    --------
    >>> fingerprint_of({"model": "m", "asks.0.items": "a", "served": {}})
    {'model': 'm'}
    """
    return {
        name: value
        for name, value in behind.items()
        if not name.startswith("asks.") and name not in {*_FOUND, "reader_version"}
    }


_FOUND = frozenset({"parts", "served"})
"""What is found out about a judge, on this machine or from its server."""


def _drift_setting_values(behind: Behind) -> dict[str, list[str]]:
    """Values of each setting over all asks, whose order says nothing; what was found is left out.

    An ask's number goes by the order of digests, so any change may number all of them anew.
    """
    found: dict[str, list[str]] = {}
    for name, value in _flat_drift_settings(
        {k: v for k, v in behind.items() if k not in _FOUND}
    ).items():
        first, _, rest = name.partition(".")
        short = f"asks.{rest.partition('.')[2]}" if first == "asks" else name
        found.setdefault(short, []).append(str(value))
    return {name: sorted(values) for name, values in found.items()}


def _called(name: str) -> str:
    """An entry's name in words: of an ask's settings that of the sweep file, and which ask."""
    first, _, rest = name.partition(".")
    number, _, setting = rest.partition(".")
    return f"ask[{number}] {setting}" if first == "asks" else WORDS.get(name, name)


def _flat_drift_settings(value: Behind, above: str = "") -> dict[str, object]:
    """Nested entries by their path."""
    found: dict[str, object] = {}
    for key, inner in value.items():
        name = f"{above}{key}"
        found |= (
            _flat_drift_settings(inner, f"{name}.") if isinstance(inner, Mapping) else {name: inner}
        )
    return found


def _shown(value: object) -> str:
    """A value as a line holds it."""
    if value is None or value == []:
        return "none"
    return " or ".join(str(one) for one in value) if isinstance(value, list) else str(value)


Row = dict[str, Any]
HINT = 0.05
"""At or below this p a refresh hints at a change that is not proven."""


class Cause(Worded):
    """What moved since the refresh before, as anchors and systems tell; a judge, since its alarm.

    >>> Cause.JUDGE.words
    'the judge moved: its verdicts on frozen anchors changed'
    """

    JUDGE = "judge", "the judge moved: its verdicts on frozen anchors changed"
    SYSTEM = (
        "system",
        "the system moved: its scores changed, and anchors show no change of the judge",
    )
    ASKED_OTHERWISE = (
        "asked_otherwise",
        "asked otherwise: its scores changed, and none of its answers did; the judge or its "
        "settings changed",
    )
    BOTH = "both", "both moved, or the judge alone: anchors changed, and so did the system's scores"
    NEITHER = "neither", "nothing moved that these judgments can tell"
    UNDECIDED = (
        "undecided",
        "undecided: the anchors are too few, too new or hint at a change of the judge without "
        "proving it, or the answers and how the judge was asked changed at once",
    )

    @property
    def words(self) -> str:
        """The same in words."""
        return self.template


def cause_of(
    p_T: Sequence[float | None],
    *,
    level: float,
    scores_moved: bool | None,
    alike: bool = False,
    answers_changed: bool = True,
    asked_otherwise: bool = False,
) -> Cause:
    """Attribute what moved.

    Scores of answers that are the same ones cannot have moved by the system.

    Examples
    --------
    >>> cause_of([0.5, 1e-5], level=0.05, scores_moved=False).value
    'judge'
    >>> cause_of([0.5, 0.6], level=0.05, scores_moved=True).value
    'system'
    >>> cause_of([0.5, 0.6], level=0.05, scores_moved=True, answers_changed=False).value
    'asked_otherwise'
    >>> cause_of([0.5, 1e-5], level=0.05, scores_moved=True, alike=True).value
    'system'
    >>> cause_of([None], level=0.05, scores_moved=True).value
    'undecided'
    """
    # An alarm before now would have begun p_T anew.
    if not alike and drift_evidence(p_T, level=level).capital >= 1 / level:
        return Cause.BOTH if scores_moved and answers_changed else Cause.JUDGE
    now = p_T[-1] if p_T else None
    if not scores_moved:
        return Cause.NEITHER if now is not None else Cause.UNDECIDED
    if not answers_changed:
        return Cause.ASKED_OTHERWISE
    is_open = asked_otherwise or now is None or (now <= HINT and not alike)
    return Cause.UNDECIDED if is_open else Cause.SYSTEM


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What became of a judge's scores of a system since the refresh before, and why it may have.

    ``moved`` is None where no score has an interval; ``others`` names what changed of how the judge
    was asked.
    """

    sweep: str
    judge: str
    moved: bool | None = None
    answers_changed: bool = True
    others: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        sweep: str,
        judge: str,
        scores: Sequence[Row],
        *,
        then: Mapping[str, Row],
        now: Mapping[str, Row],
    ) -> Scores:
        """Of a judge's scores, and of what was behind all names of the sweep at both times."""
        known = [
            one for one in scores if one["judge"] == judge and one["difference_low"] is not None
        ]
        away = any(one["difference_low"] > 0 or one["difference_high"] < 0 for one in known)
        moved = away if known else None
        if judge not in then or judge not in now:
            return cls(sweep=sweep, judge=judge, moved=moved)
        answers, others = what_changed(then[judge], now[judge])
        if len(now[judge].get("reader_version", ())) > 1 and WORDS["reader_version"] not in others:
            others.append(WORDS["reader_version"])
        writers = {
            name
            for key, names in now[judge].items()
            if key.startswith("asks.") and key.endswith(".responders")
            for name in names
            if name in now
        }
        # Who writes the answers is the system.
        answers |= any(
            name not in then or fingerprint_of(then[name]) != fingerprint_of(now[name])
            for name in writers
        )
        return cls(
            sweep=sweep, judge=judge, moved=moved, answers_changed=answers, others=tuple(others)
        )


def causes_of(
    series: Series,
    alarms: Alarms,
    found: Mapping[str, Sequence[Row]],
    moved: Sequence[Scores],
) -> tuple[list[Row], list[str]]:
    """What moved, for each judge of each system; of judges of anchors alone for these.

    And what makes anchors or scores tell less, a line each.
    """
    drift = found["drift"]
    p_of: dict[str, dict[str, tuple[list[float | None], bool]]] = {}
    for one in drift:
        alarm, earlier = alarms.get((one["sweep"], one["judge"]), (None, []))
        of = "" if alarm is None else "_since_alarm"
        path = [*earlier, one[f"p{of}"]]
        p_of.setdefault(one["judge"], {})[one["sweep"]] = (path, not one[f"n_informative{of}"])
    levels = levels_of({*alarms, *((one["sweep"], one["judge"]) for one in drift)},
                       series.drift.level)  # fmt: skip
    behind = {one["sweep"]: one["judges"] for one in found["behind"]}
    alone = [
        Scores(sweep=one["sweep"], judge=one["judge"], moved=False)
        for one in drift
        if all(score.judge != one["judge"] for score in moved)
    ]
    causes: list[Row] = []
    notes: list[str] = []
    for score in chain(moved, alone):
        place = {"sweep": score.sweep, "judge": score.judge}
        by_anchors = p_of.get(score.judge, {})
        paths = []
        for anchors, found_there in by_anchors.items():
            others = _drifted_judge_parts(
                behind[anchors].get(score.judge), behind[score.sweep].get(score.judge)
            )
            if others:
                notes.append(
                    f"judge {score.judge} of {score.sweep} is another than that of {anchors} "
                    f"({', '.join(others)}): these anchors tell nothing of it"
                )
            else:
                paths.append(found_there)
        # Of several sets of anchors the one that says most; a draw says less than any p.
        paths.sort(key=lambda one: 2.0 if one[0][-1] is None else 1.0 if one[1] else one[0][-1])
        found_by = [
            cause_of(
                path,
                alike=alike,
                level=levels.get(score.judge, series.drift.level),
                scores_moved=score.moved,
                answers_changed=score.answers_changed,
                asked_otherwise=bool(score.others),
            )
            for path, alike in paths or [([], False)]
        ]
        of_judge = [one for one in found_by if one in (Cause.JUDGE, Cause.BOTH)]
        cause = (of_judge or found_by)[0]
        causes.append({**place, "cause": cause.value})
        if cause is Cause.UNDECIDED and score.moved and score.answers_changed and score.others:
            notes.append(
                f"judge {score.judge} of {score.sweep}: its answers and how it was asked "
                f"({', '.join(score.others)}) changed at once, so its scores tell neither"
            )
    return causes, notes


def _drifted_judge_parts(one: Row | None, other: Row | None) -> list[str]:
    """What of two judges of one name differs; nothing where either is unknown."""
    if one is None or other is None:
        return []
    return what_changed(fingerprint_of(one), fingerprint_of(other))[1]
