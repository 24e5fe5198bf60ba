"""From a sweep file to everything a run needs at hand: items, templates, who the judges are."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path

from judgerel_ray.asking.plan.identity import ask_identity, first_keys, items_digest, shows_gold
from judgerel_ray.asking.plan.specs import (
    ask_as_taken,
    check_probabilities,
    check_providers,
    check_served,
    check_simulated,
    engine_spec,
    is_local_folder,
)
from judgerel_ray.benchmarks import REFERENCE, GoldReading, read_items, sample_items
from judgerel_ray.benchmarks.generic import Loaded
from judgerel_ray.config import AskTable, Sweep
from judgerel_ray.core import GoldIs, Item, SweepError, digest
from judgerel_ray.core.verb import check_reachable
from judgerel_ray.design import (
    AskFrame,
    StageCount,
    Voice,
    check_asks,
    check_declared_forms,
    check_items,
    count_stages,
    with_shared_orders,
)
from judgerel_ray.engines import EngineSpec, Fingerprint, judge_fingerprint
from judgerel_ray.protocols import (
    DECLARED,
    FORMS,
    READER_VERSION,
    TIE,
    Template,
    load_criterion,
    load_scale,
    load_template,
    question_form,
    shipped_criteria,
    shipped_scales,
    shipped_templates,
)
from judgerel_ray.protocols.ask import AskKind
from judgerel_ray.protocols.respond import PROTOCOL as RESPOND
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import OF_GOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A sweep with its items drawn, templates loaded and judges identified."""

    sweep: Sweep
    specs: Mapping[str, EngineSpec]
    fingerprints: Mapping[str, Fingerprint]
    frames: tuple[AskFrame, ...]
    gold: Mapping[int, GoldReading] = field(default_factory=dict)
    """How the gold of a plain items file was read, by the ask that names the file."""

    def pinned_spec(self, judge: str) -> EngineSpec:
        """A judge's engine with its hub revision as the commit that was fingerprinted.

        A branch may move between the driver's look and a node's download; a commit does not.
        """
        spec, model = self.specs[judge], self.fingerprints[judge].parts.get("model")
        if isinstance(model, Mapping) and model.get("kind") == "hub" and model.get("resolved"):
            return replace(spec, revision=str(model["identity"]))
        return spec

    @property
    def counts(self) -> tuple[StageCount, ...]:
        """Requests by ask, stage and judge."""
        return count_stages(self.frames)

    @property
    def items(self) -> tuple[Item, ...]:
        """Every item asked about, once; its gold an option's id where any ask takes it for one."""
        if len({id(frame.items) for frame in self.frames}) == 1:
            return self.frames[0].items
        found: dict[tuple[str, str], Item] = {}
        for frame in self.frames:
            for item in frame.items:
                name = (item.benchmark, item.item_id)
                if frame.protocol.traits.has_right_option or name not in found:
                    found[name] = item
        return tuple(found.values())

    @property
    def identity(self) -> dict[str, object]:
        """Everything that must not change between the sessions of a run, by readable name."""
        return self.identity_as(None)

    def identity_as(self, begun: object) -> dict[str, object]:
        """The identity, as the manifest of a run says it that was `begun` with the same questions.

        Where judges are not shown it, gold as it is written and the id of the option that it names
        are of the same questions; earlier versions wrote down the first.
        """
        asks = begun.get("ask") if isinstance(begun, Mapping) else None
        stored = {ask.get("items") for ask in asks or () if isinstance(ask, Mapping)}
        asked = {voice.name for f in self.frames for voice in (*f.judges, *f.responders)}
        judges = {
            name: dict(print_.parts) for name, print_ in self.fingerprints.items() if name in asked
        }
        return {
            "name": self.sweep.name,
            "judge": judges,
            # By content: the order of the asks in the file changes nothing that is asked.
            "ask": sorted((self._ask_as(frame, stored) for frame in self.frames), key=digest),
            "reader_version": READER_VERSION,
            "first_keys": first_keys(self.frames),
        }

    def is_of(self, begun: object) -> bool:
        """Whether a run whose manifest says that it was `begun` so asks the same."""
        return bool(json.loads(json.dumps(self.identity_as(begun))) == begun)

    def _ask_as(self, frame: AskFrame, stored: Set[object]) -> dict[str, object]:
        """Identity of an ask, its items by one of the digests `stored` where it is of them, too."""
        found = ask_identity(frame)
        read = self.gold.get(frame.index)
        if found["items"] not in stored and read is not None and not shows_gold(frame):
            other = items_digest(frame, read.otherwise)
            found["items"] = other if other in stored else found["items"]
        return found


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no cycles meanwhile.

    Items have none, and to go through them again and again takes a third of reading them.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@uncollected()
def resolve(
    sweep: Sweep,
    *,
    known: Mapping[str, Mapping[str, object]] | None = None,
    kept: Callable[[AskTable], tuple[Item, ...] | None] | None = None,
) -> Resolved:
    """Load what a sweep names and check that it can be asked.

    `known` are the parts of the judges' fingerprints in an earlier session of the same run, and
    `kept` gives the items that it asked; None where they are to be read where the sweep says.

    Effects: reads items, templates and model folders. Retry: safe.
    """
    check_tolerance(sweep.tolerance)
    specs = {judge.name: engine_spec(sweep, judge) for judge in sweep.judge}
    check_providers(specs.values())
    before = known or {}
    fingerprints = {
        name: judge_fingerprint(spec, known=before.get(name)) for name, spec in specs.items()
    }
    voices = {
        name: Voice(name=name, fingerprint=fingerprint.digest)
        for name, fingerprint in fingerprints.items()
    }
    drawn: dict[tuple[object, ...], Loaded] = {}
    gold: dict[int, GoldReading] = {}
    frames = tuple(
        _planned_ask_frame(sweep, index, specs, voices, gold, drawn, kept=kept)
        for index in range(len(sweep.ask))
    )
    check_asks(frames)
    check_probabilities(frames, specs)
    check_served(frames, specs)
    shared = with_shared_orders(frames)
    for spec in specs.values():
        if spec.engine == "simulated":
            check_simulated(spec, shared)
    return Resolved(sweep=sweep, specs=specs, fingerprints=fingerprints, frames=shared, gold=gold)


def _planned_ask_frame(
    sweep: Sweep,
    index: int,
    specs: Mapping[str, EngineSpec],
    voices: Mapping[str, Voice],
    gold: dict[int, GoldReading],
    drawn: dict[tuple[object, ...], Loaded],
    *,
    kept: Callable[[AskTable], tuple[Item, ...] | None] | None,
) -> AskFrame:
    """One ask with its items and templates; how its gold was read is put into `gold`."""
    ask = ask_as_taken(sweep, index, specs)
    responders = tuple(voices[judge.name] for judge in sweep.responders_of(index))
    templates = tuple(_planned_ask_template(sweep, ask.kind, name) for name in ask.templates)
    setting = None if kept is None else kept(sweep.ask[index])
    items, read = (
        _planned_ask_items(sweep, index, ask, drawn, ties=_tie_words(templates))
        if setting is None
        else Loaded(setting)
    )
    if read is not None:
        gold[index] = read
    criteria, scales = ask.kind.wordings(ask)
    frame = AskFrame(
        index=index,
        ask=ask,
        first=sweep.first_replication,
        items=items,
        templates=templates,
        judges=tuple(voices[judge.name] for judge in sweep.judges_of(index)),
        responders=responders,
        recorded=() if responders else ask.responders,
        respond=ask.respond if responders else None,
        respond_template=(
            _planned_ask_template(sweep, RESPOND, ask.respond.template)
            if responders and ask.respond is not None
            else None
        ),
        criteria=tuple(
            load_criterion(_planned_shipped_or_file(sweep, name, shipped_criteria()))
            for name in criteria
        ),
        scales=tuple(
            load_scale(_planned_shipped_or_file(sweep, name, shipped_scales())) for name in scales
        ),
    )
    check_items(frame)
    frame.protocol.check(frame)
    _check_templates(frame)
    check_declared_forms(frame)
    return frame


def _tie_words(templates: Sequence[Template]) -> dict[str, str]:
    """Words for a tie that gold may be, and its verdict: none where a template has no tie."""
    ties = [one.declared.ties if one.declared is not None else () for one in templates]
    words = {TIE, *(word for some in ties for word in some)}
    return {word.strip().casefold(): TIE for word in words} if all(ties) else {}


def _planned_ask_items(
    sweep: Sweep,
    index: int,
    ask: AskTable,
    drawn: dict[tuple[object, ...], Loaded],
    *,
    ties: Mapping[str, str],
) -> Loaded:
    """The items of an ask, drawn; those of an ask before that drew the same are the same ones."""
    answers = (
        None
        if ask.answers is None
        else _existing_planned_path(sweep, index, "answers", ask.answers)
    )
    path = _existing_planned_path(sweep, index, "path", ask.path)
    draw = ask.sample
    seed = 1 if draw is None else draw.seed
    gold_is = _gold_is(sweep, index)
    named = (ask.benchmark, path, answers, gold_is, tuple(sorted(ties)), repr(draw))
    if named in drawn:
        return drawn[named]
    loaded = read_items(ask.benchmark, path, answers=answers, seed=seed, gold_is=gold_is, ties=ties)
    if draw is not None:
        items = sample_items(
            loaded.items, per=draw.per, n=draw.n, seed=draw.seed, categories=draw.categories
        )
        loaded = loaded._replace(items=items)
    drawn[named] = loaded
    return loaded


def _gold_is(sweep: Sweep, index: int) -> GoldIs | None:
    """How an ask reads gold: as it says; else, where it counts nothing right, as others do."""
    ask = sweep.ask[index]
    if ask.gold_is is not None or _counts_right(sweep, index):
        return ask.gold_is
    if ask.kind.traits.shows_gold:
        return REFERENCE  # judges are shown it as it stands
    # Two asks of one file must have the same items.
    for other, one in enumerate(sweep.ask):
        if (one.benchmark, one.path) == (ask.benchmark, ask.path) and _counts_right(sweep, other):
            return one.gold_is
    return REFERENCE


def _counts_right(sweep: Sweep, index: int) -> bool:
    """Whether verdicts of an ask are options of its items, and not what responders write."""
    ask = sweep.ask[index]
    traits = ask.kind.traits
    written = bool(sweep.responders_of(index)) and not traits.models_answer
    return traits.has_right_option and not written


def _planned_shipped_or_file(sweep: Sweep, name: str, shipped: tuple[str, ...]) -> str:
    """A shipped criterion or scale by name, or a file found as every path of the sweep is.

    A file may be named without its suffix, as a template's folder is.
    """
    if name in shipped:
        return name
    if name.endswith(".toml"):
        return sweep.find(name)
    found = sweep.find(f"{name}.toml")
    return found if Path(found).is_file() else name


def _existing_planned_path(sweep: Sweep, index: int, key: str, path: str) -> str:
    """A path of an ask, where it leads; URLs are left to who opens them."""
    found = sweep.find(path)
    try:
        missing = "://" not in found and not Path(found).exists()
    except (OSError, ValueError) as error:
        raise SweepError(f"{key} is not a path: {error}", where={"ask": index}) from error
    if missing:
        raise SweepError(
            f"{key} names nothing that exists: {path!r}",
            where={"ask": index, "looked_for": found},
            hint="a path is looked for beside the sweep file, then in the current folder",
        )
    return found


def _planned_ask_template(sweep: Sweep, kind: AskKind, name: str) -> Template:
    """A shipped template, or a folder found as every path of the sweep is."""
    if name in shipped_templates(kind):
        return load_template(kind, name)
    folder = sweep.find(name)
    return load_template(kind, folder if is_local_folder(folder) else name)


def _check_templates(frame: AskFrame) -> None:
    """Every template has the texts the items need, in words of its own, and a form to read."""
    where = {"ask": frame.index, "protocol": frame.ask.protocol}
    forms = {question_form(item) for item in frame.items}
    stages = frame.protocol.stage_texts
    for template in frame.templates:
        _check_texts(template, forms, where, frame.protocol)
    for one, two in combinations(frame.templates, 2):
        if one.name == two.name or all(one.texts[f] == two.texts[f] for f in (*forms, *stages)):
            raise SweepError(
                "templates must differ in name and in the texts these items need, "
                f"{one.name} and {two.name} do not",
                where=where,
            )
    if frame.respond_template is not None:
        _check_texts(frame.respond_template, forms, {**where, "protocol": RESPOND.name}, RESPOND)
    if not frame.protocol.traits.judges:
        return
    unlisted = [scale.name for scale in frame.scales if scale.decimals]
    if frame.ask.mode == "exact" and unlisted:
        raise SweepError(
            f"mode exact needs scales whose values can be listed, {unlisted[0]} allows decimals",
            where=where,
            hint='decimals = false, or mode = "sample"',
        )
    for template in frame.templates:
        if template.form not in (*frame.protocol.forms, DECLARED):
            raise SweepError(
                f"template {template.name} must declare a form of verdict in template.toml, "
                f"got {template.form!r}",
                where=where,
                hint="form = " + " or ".join(f'"{form}"' for form in frame.protocol.forms),
            )
        if frame.ask.early_stop and not template.verdict_first:
            raise SweepError(
                f"early_stop needs templates that ask the verdict first, {template.name} does not",
                where=where,
                hint="early_stop = false",
            )
        exact = frame.ask.exact if frame.ask.mode == "exact" else None
        if exact is not None and exact.forced and not template.verdict_first:
            raise SweepError(
                "exact.forced needs templates that ask the verdict first, "
                f"{template.name} does not",
                where=where,
                hint="forced = false: what is forced would stand where the reasons belong",
            )
        is_open = template.form == DECLARED or FORMS[template.form].complete is None
        if exact is not None and exact.forced and is_open:
            raise SweepError(
                f"exact.forced needs a form with words around its label, template {template.name} "
                f"declares {template.form!r}",
                where=where,
                hint="forced = false",
            )


def _check_texts(
    template: Template, forms: Set[str], where: Mapping[str, object], kind: AskKind
) -> None:
    """A template has the texts of these question forms."""
    # Responders are put the first turn of a dialogue as a plain question.
    needed = forms | {"question"} if "dialogue" in forms and not kind.traits.judges else forms
    missing = sorted(needed - set(template.texts))
    if missing:
        raise SweepError(
            f"template {template.name} has no text for questions of the form {', '.join(missing)}",
            where=where,
            hint=f"add {missing[0]}.txt to its folder",
        )


def check_tolerance(tolerance: Mapping[str, float]) -> None:
    """Refuse tolerances of a sweep that no coefficient of its verdicts can be held to.

    Examples
    --------
    >>> check_tolerance({"kripendorff_alpha": 0.8})
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: tolerance.kripendorff_alpha is no coefficient. Try: ...
    """
    known = (*COEFFICIENTS, *OF_GOLD)
    for name, value in tolerance.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = close[0] if close else f"one of {', '.join(known)}"
            raise SweepError(f"tolerance.{name} is no coefficient", hint=hint)
        check_reachable(name, value)
