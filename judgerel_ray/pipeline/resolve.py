"""From a sweep file to everything a run needs at hand: items, templates, who the judges are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from judgerel_ray.benchmarks import load_items, sample_items
from judgerel_ray.config import AskTable, Judge, Sweep
from judgerel_ray.core import Item, SweepError, digest
from judgerel_ray.design import AskFrame, StageCount, Voice, check_items, count_stages
from judgerel_ray.engines import EngineSpec, Fingerprint, judge_fingerprint
from judgerel_ray.protocols import READER_VERSION, Template, load_template, question_form

EXECUTION_KEYS = frozenset({"replicas", "prices", "name"})  # of a judge; not part of what is asked
LOCATED_KEYS = frozenset({"path", "answers", "judges", "responders", "templates"})  # by content


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A sweep with its items drawn, templates loaded and judges identified."""

    sweep: Sweep
    specs: Mapping[str, EngineSpec]
    fingerprints: Mapping[str, Fingerprint]
    frames: tuple[AskFrame, ...]

    @property
    def counts(self) -> tuple[StageCount, ...]:
        """Requests by ask, stage and judge."""
        return tuple(count for frame in self.frames for count in count_stages(frame))

    @property
    def items(self) -> tuple[Item, ...]:
        """Every item asked about, once."""
        found = {(item.benchmark, item.item_id): item for f in self.frames for item in f.items}
        return tuple(found.values())

    @property
    def identity(self) -> dict[str, object]:
        """Everything that must not change between the sessions of a run, by readable name."""
        judges = {name: dict(print_.parts) for name, print_ in self.fingerprints.items()}
        return {
            "name": self.sweep.name,
            "judge": judges,
            "ask": [_ask_identity(frame) for frame in self.frames],
            "reader_version": READER_VERSION,
        }


def resolve(sweep: Sweep) -> Resolved:
    """Load what a sweep names and check that it can be asked.

    Effects: reads items, templates and model folders. Retry: safe.

    Raises
    ------
    SweepError
        Naming the judge, ask or item that is wrong; nothing has been asked of any judge.
    """
    specs = {judge.name: engine_spec(sweep, judge) for judge in sweep.judge}
    fingerprints = {name: judge_fingerprint(spec) for name, spec in specs.items()}
    voices = {
        name: Voice(name=name, fingerprint=fingerprint.digest)
        for name, fingerprint in fingerprints.items()
    }
    frames = tuple(_frame(sweep, index, ask, voices) for index, ask in enumerate(sweep.ask))
    _refuse_clashing_items(frames)
    _refuse_asking_twice(frames)
    return Resolved(sweep=sweep, specs=specs, fingerprints=fingerprints, frames=frames)


def engine_spec(sweep: Sweep, judge: Judge) -> EngineSpec:
    """A judge's engine with its paths made absolute.

    A model that exists as a folder is that folder; anything else is a hub id.
    """
    model = judge.model
    if judge.engine != "simulated":
        found = sweep.find(model)
        if _is_folder(found) or model.startswith(("/", "./", "../", "~")):
            model = found
    template = judge.chat_template
    return EngineSpec(
        name=judge.name,
        engine=judge.engine,
        model=model,
        revision=judge.revision,
        gpus=judge.gpus,
        dtype=judge.dtype,
        quantization=judge.quantization,
        max_model_len=judge.max_model_len,
        chat_template=sweep.find(template) if isinstance(template, str) else template,
        engine_options=dict(judge.engine_options),
        trust_remote_code=judge.trust_remote_code,
    )


def _is_folder(path: str) -> bool:
    """Whether a folder lies there."""
    from pathlib import Path

    return "://" not in path and Path(path).is_dir()


def _frame(sweep: Sweep, index: int, ask: AskTable, voices: Mapping[str, Voice]) -> AskFrame:
    """One ask with its items and templates."""
    answers = None if ask.answers is None else sweep.find(ask.answers)
    items = load_items(ask.benchmark, sweep.find(ask.path), answers=answers)
    if ask.sample is not None:
        draw = ask.sample
        items = sample_items(
            items, per=draw.per, n=draw.n, seed=draw.seed, categories=draw.categories
        )
    responders = tuple(voices[judge.name] for judge in sweep.responders_of(index))
    templates = tuple(_template(sweep, ask.protocol, name) for name in ask.templates)
    _check_templates(index, ask, templates)
    frame = AskFrame(
        index=index,
        ask=ask,
        items=items,
        templates=templates,
        judges=tuple(voices[judge.name] for judge in sweep.judges_of(index)),
        responders=responders,
        recorded=() if responders else ask.responders,
        respond=ask.respond if responders else None,
        respond_template=(
            _template(sweep, "respond", ask.respond.template)
            if responders and ask.respond is not None
            else None
        ),
    )
    check_items(frame)
    _check_forms(frame)
    return frame


def _template(sweep: Sweep, protocol: str, name: str) -> Template:
    """A shipped template, or a folder found as every path of the sweep is."""
    folder = sweep.find(name)
    return load_template(protocol, folder if _is_folder(folder) and "/" in name else name)


def _check_templates(index: int, ask: AskTable, templates: tuple[Template, ...]) -> None:
    """Names differ, texts differ, and an early stop is possible."""
    for mine in templates:
        twins = [t for t in templates if t.sha == mine.sha or t.name == mine.name]
        if len(twins) > 1:
            raise SweepError(
                f"templates must differ in name and text, {twins[0].name} and {twins[1].name} "
                "do not",
                where={"ask": index},
            )
        if ask.early_stop and not mine.verdict_first:
            raise SweepError(
                f"early_stop needs templates that ask the verdict first, {mine.name} does not",
                where={"ask": index},
                hint="early_stop = false",
            )


def _check_forms(frame: AskFrame) -> None:
    """Every template has the texts that the items' question forms need."""
    wanted = {question_form(item) for item in frame.items}
    pairs = [(frame.templates, frame.ask.protocol)]
    if frame.respond_template is not None:
        pairs.append(((frame.respond_template,), "respond"))
    for templates, protocol in pairs:
        # A first turn is put as a plain question.
        needed = wanted | {"question"} if protocol == "respond" else wanted
        if protocol == "correctness":
            needed = wanted
        for template in templates:
            missing = sorted(needed - set(template.texts))
            if missing:
                raise SweepError(
                    f"template {template.name} has no text for questions of the form "
                    f"{', '.join(missing)}",
                    where={"ask": frame.index, "protocol": protocol},
                    hint=f"add {missing[0]}.txt to its folder",
                )


def _refuse_clashing_items(frames: tuple[AskFrame, ...]) -> None:
    """One name, one item: two asks may share items, not names of different ones."""
    seen: dict[tuple[str, str], tuple[int, Item]] = {}
    for frame in frames:
        for item in frame.items:
            name = (item.benchmark, item.item_id)
            first = seen.setdefault(name, (frame.index, item))
            if first[1] != item:
                raise SweepError(
                    f"ask[{first[0]}] and ask[{frame.index}] have different items of one name",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="give the asks different benchmark names",
                )


def _refuse_asking_twice(frames: tuple[AskFrame, ...]) -> None:
    """Two asks that would make the same requests are a mistake, or their counts would lie."""
    seen: dict[tuple[object, ...], int] = {}
    for frame in frames:
        if not frame.items:
            continue
        ask = frame.ask
        names = frozenset((item.benchmark, item.item_id) for item in frame.items)
        for voice in frame.judges:
            for template in frame.templates:
                for temperature in ask.temperatures:
                    what = (ask.protocol, voice.name, template.sha, temperature)
                    how = (ask.top_k, ask.top_p, ask.max_tokens, ask.early_stop)
                    who = (ask.responders, ask.respond, ask.order_seed)
                    for name in names:
                        first = seen.setdefault((*what, *how, *who, name), frame.index)
                        if first != frame.index:
                            raise SweepError(
                                f"ask[{first}] and ask[{frame.index}] ask the same of judge "
                                f"{voice.name} at temperature {temperature}",
                                where={"benchmark": name[0], "item": name[1]},
                                hint="merge the two asks",
                            )


def _ask_identity(frame: AskFrame) -> dict[str, object]:
    """What an ask asks, by content: two files of the same items are the same."""
    plain = {
        key: value
        for key, value in frame.ask.model_dump(mode="json").items()
        if key not in LOCATED_KEYS
    }
    return {
        **plain,
        "items": digest({"items": [asdict(item) for item in frame.items]}),
        "n_items": len(frame.items),
        "judges": [voice.name for voice in frame.judges],
        "responders": [voice.name for voice in frame.responders] or list(frame.recorded),
        "templates": {template.name: template.sha for template in frame.templates},
        "respond_template": frame.respond_template.sha if frame.respond_template else None,
    }
