"""What a sweep will ask and cost, before anything is asked.

Counts are exact. Tokens of prompts are those the engine will see, chat template included, where the
judge's tokenizer lies on this machine, else characters / 4; new tokens are an upper bound, and so
are prompts that hold responders' answers. GPU-hours and disk are expectations with their
assumptions beside them, not measurements. Prompts past a judge's context are told here, and land as
failed without any engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import expm1
from typing import cast

from judgerel_ray.asking.plan.answers import KnownAnswer, answers_of
from judgerel_ray.asking.plan.recipes import node_needs
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.plan.specs import served_remarks, takes_top_k, unset_keys
from judgerel_ray.asking.small_runs import MOST_REQUESTS, needs_ray
from judgerel_ray.benchmarks import GoldReading
from judgerel_ray.benchmarks.admission import gold_note
from judgerel_ray.config import AskTable
from judgerel_ray.core import Ask, Item
from judgerel_ray.design import (
    AskFrame,
    StageCount,
    Voice,
    build_wave,
    count_stages,
    form_text,
    voices_of,
)
from judgerel_ray.engines import (
    EngineSpec,
    PromptCounter,
    PromptFit,
    model_size,
    prompt_counter,
    prompt_fit,
)
from judgerel_ray.engines.sizing import most_tokens, thinking_remark
from judgerel_ray.protocols import (
    TIE,
    fill_example,
    load_criterion,
    question_form,
    shipped_criteria,
)
from judgerel_ray.stats.intervals.stopping import least_settling


def prompt_fits(resolved: Resolved) -> dict[str, PromptFit]:
    """Checks of the judges whose tokenizer and context are known on this machine.

    Effects: may read tokenizers' files. Retry: safe.
    """
    found = {name: prompt_fit(resolved.pinned_spec(name)) for name in resolved.specs}
    return {name: fit for name, fit in found.items() if fit is not None}


def misfits(resolved: Resolved) -> Iterator[str]:
    """Say which prompts do not fit which judge, as far as they are known before any answer.

    Prompts that will hold answers of this run are not among them: only a run knows those.
    """
    fits = prompt_fits(resolved)
    for frame in resolved.frames:
        for voice in voices_of(frame, 0):
            if voice.name in fits:
                yield from _plan_long_prompts_note(frame, voice, fits[voice.name])


def _plan_long_prompts_note(frame: AskFrame, voice: Voice, fit: PromptFit) -> Iterator[str]:
    """Say how many prompts of an ask's first wave do not fit one judge, if any."""
    one = frame.ask.temperatures[:1]  # prompts are the same at all of them
    once = replace(frame, ask=frame.ask.model_copy(update={"temperatures": one}))
    refused = list(_plan_long_prompt_tokens(once, voice, fit))
    if not refused:
        return
    n_tokens, n_new = max(refused)
    asked = (c for c in count_stages([once]) if (c.judge, c.wave) == (voice.name, 0))
    yield (
        f"{len(refused):,} of {sum(count.conditions for count in asked):,} prompts of "
        f"ask[{frame.index}] do not fit judge {voice.name}: longest {n_tokens:,} prompt + "
        f"{n_new:,} new tokens > {fit.longest:,}; they will land as failed without being asked"
    )


def _plan_long_prompt_tokens(
    frame: AskFrame, voice: Voice, fit: PromptFit
) -> Iterator[tuple[int, int]]:
    """Tokens of every prompt that does not fit, and of its reply.

    Only items long enough for it are made into prompts: beside its items, prompts of one form of
    question hold the same words.
    """
    forms: dict[str, list[Item]] = {}
    for item in sorted(frame.items, key=item_bytes, reverse=True):
        forms.setdefault(question_form(item), []).append(item)
    for items in forms.values():
        rest = 0
        for place, item in enumerate(items):
            if place and item_bytes(item) + rest <= fit.longest:
                break  # the others are shorter still
            once = replace(frame, items=(item,))
            for work in build_wave(once, 0, voice, {}):
                for ask in work.asks:
                    condition = ask.condition
                    room = most_tokens(condition, fit.spare)
                    rest = max(rest, room - item_bytes(item))
                    if refusal := fit.refusal(condition):
                        yield cast("int", refusal.where["prompt_tokens"]), condition.max_tokens


def item_bytes(item: Item) -> int:
    """Bytes of what a prompt may hold of an item."""
    texts = [item.question, item.context or "", *item.turns, *(o.text for o in item.options)]
    return sum(len(text) if text.isascii() else len(text.encode()) for text in texts)


# One GPU's roofline (an H100 SXM's published figures), and what of it an engine reaches.
BYTES_PER_S = 3.35e12
FLOPS_PER_S = 9.89e14
REACHED = 0.4
BATCH = 256
START_S = 90.0
# Disk, measured on parts of 1 to 10,000 rows and on recorded replies of three judges.
BYTES_PER_LEASE = 13_000.0  # footers of two Parquet files of many columns, and the commit record
BYTES_PER_CONDITION = 90.0  # in the commit records
BYTES_PER_ROW = 45.0  # of a judgment and the key of its text, compressed
BYTES_PER_TOKEN = 1.2  # of a text, compressed
LEASES = 4  # of a judge at least: leases grow from small ones, and shrink to a second of work
ROWS_PER_LEASE = 1_000
SAMPLED_ITEMS = 64  # prompts counted; the rest follows by proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCost:
    """What one judge is asked and what that should take.

    ``prompt`` counts a prompt's tokens for every request, as if each were computed alone;
    ``shared`` what is left when every prompt is computed once. ``generated_at_most`` is the bound
    from max_tokens. Adaptive replication makes ``requests`` at least and ``requests_at_most`` at
    most; tokens, hours and disk are of the most. ``gpu_hours`` is None for a judge that is asked
    nothing or needs no GPU, and where its size is not known here. ``node_types`` counts the nodes
    that hold one engine, by type, where a cluster is named. ``cost`` is the most by the judge's
    prices, None without any.
    """

    judge: str
    requests: int
    requests_at_most: int
    prompt: int
    shared: int
    generated_at_most: int
    tokens_are: str
    gpu_hours: float | None
    cost: float | None = None
    node_types: Mapping[str, int] | None = None

    def as_json(self) -> dict[str, object]:
        """Plain values; of nodes only where a cluster is named."""
        values = asdict(self)
        if self.node_types is None:
            del values["node_types"]
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sweep's counts and costs.

    Attributes
    ----------
    sweep : str
        Name of the sweep.
    requests, requests_at_most : int
        What is asked whatever is answered, and with all that adaptive replication may add.
    stages : tuple of StageCount
        One an ask, stage and judge: items, conditions, requests.
    judges : tuple of JudgeCost
        One a judge: requests, tokens, hours of GPU time.
    disk_bytes : int
        What the run directory should take.
    notes : tuple of str
        What an author of the sweep should know, a line each.
    misfits : tuple of str
        Which prompts do not fit which judge; also among the notes.
    answers : tuple of KnownAnswer
        What the sweep will be able to say and what not, with what it would cost to know it.
    asks : tuple of AskTable
        The asks as they are asked: with what follows from the judges' engines.
    """

    sweep: str
    requests: int
    requests_at_most: int
    stages: tuple[StageCount, ...]
    judges: tuple[JudgeCost, ...]
    disk_bytes: int
    notes: tuple[str, ...]
    misfits: tuple[str, ...] = ()
    answers: tuple[KnownAnswer, ...] = ()
    asks: tuple[AskTable, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Give plain values, as ``plan.json`` holds them."""
        return {
            "sweep": self.sweep,
            "requests": self.requests,
            "requests_at_most": self.requests_at_most,
            "stages": [asdict(stage) for stage in self.stages],
            "judges": [judge.as_json() for judge in self.judges],
            "disk_bytes": self.disk_bytes,
            "answers": [asdict(answer) for answer in self.answers],
            "notes": list(self.notes),
        }


def plan_resolved(resolved: Resolved, nodes: Mapping[str, Mapping[str, int]] | None = None) -> Plan:
    """Count what a resolved sweep asks, and estimate what it takes.

    Effects: may read a tokenizer's file. Retry: safe.
    """
    counts = resolved.counts
    too_long = tuple(misfits(resolved))
    asked = {count.judge for count in counts if count.requests_at_most}
    needs = node_needs(spec for spec in resolved.specs.values() if spec.name in asked)
    thinking = (thinking_remark(spec) for spec in resolved.specs.values() if spec.name in asked)
    at_most = sum(count.requests_at_most for count in counts)
    reason = needs_ray((s for s in resolved.specs.values() if s.name in asked), at_most)
    where = f"runs in one process, without Ray (up to {MOST_REQUESTS:,} requests to such judges)"
    where = where if reason is None else f"runs on Ray: {reason}"
    notes = [*too_long, *needs, where, *filter(None, thinking)]
    notes += unset_keys([resolved.specs[name] for name in sorted(asked)])
    notes += sweep_remarks(resolved)
    judges = tuple(
        replace(
            _judge_cost(resolved, name, [count for count in counts if count.judge == name], notes),
            node_types=None if nodes is None else nodes[name],
        )
        for name in resolved.specs
    )
    requests = sum(count.requests for count in counts)
    notes += [*stream_remarks(resolved, counts), *_served_remarks(resolved, judges)]
    disk_bytes, disk_note = _planned_disk_bytes(judges, counts)
    return Plan(
        sweep=resolved.sweep.name,
        requests=requests,
        requests_at_most=at_most,
        stages=counts,
        judges=judges,
        disk_bytes=disk_bytes,
        notes=(*notes, disk_note),
        misfits=too_long,
        answers=answers_of(resolved.frames, counts),
        asks=tuple(frame.ask for frame in resolved.frames),
    )


def _judge_cost(
    resolved: Resolved, name: str, counts: list[StageCount], notes: list[str]
) -> JudgeCost:
    """One judge's requests, tokens and time."""
    spec = resolved.specs[name]
    counter, tokens_are = prompt_counter(spec)
    prompt = shared = generated = 0
    for frame in resolved.frames:
        for wave in range(frame.n_waves):
            asked = [c for c in counts if (c.ask, c.wave) == (frame.index, wave)]
            prompt_, shared_, generated_ = _wave_tokens(frame, wave, asked, counter)
            prompt, shared, generated = prompt + prompt_, shared + shared_, generated + generated_
    requests = sum(count.requests for count in counts)
    at_most = sum(count.requests_at_most for count in counts)
    on_gpu = spec.gpus > 0 and spec.engine != "simulated"
    prices = next(judge.prices for judge in resolved.sweep.judge if judge.name == name)
    return JudgeCost(
        judge=name,
        requests=requests,
        requests_at_most=at_most,
        prompt=prompt,
        shared=shared,
        generated_at_most=generated,
        tokens_are=tokens_are,
        gpu_hours=_gpu_hours(spec, shared, generated, notes) if at_most and on_gpu else None,
        cost=None if prices is None else prices.cost(prompt, 0, generated),
    )


def _served_remarks(resolved: Resolved, costs: Sequence[JudgeCost]) -> Iterator[str]:
    """Money and time of judges behind an API, and what cannot be known of them."""
    prices = {judge.name: judge.prices for judge in resolved.sweep.judge}
    stopped = any(frame.ask.early_stop for frame in resolved.frames)
    for cost in costs:
        spec = resolved.specs[cost.judge]
        if spec.engine == "openai" and cost.requests_at_most:
            yield from served_remarks(
                spec,
                prices[cost.judge],
                requests=cost.requests_at_most,
                prompt=cost.prompt,
                generated=cost.generated_at_most,
                early_stop=stopped,
            )


def _planned_disk_bytes(
    judges: Sequence[JudgeCost], counts: Sequence[StageCount]
) -> tuple[int, str]:
    """Bytes of a run directory, and what they hold."""
    asked = [judge for judge in judges if judge.requests_at_most]
    each = [judge.requests_at_most for judge in asked]
    leases = sum(min(most, LEASES + most // ROWS_PER_LEASE) for most in each)
    rows = sum(each)
    texts = sum(judge.generated_at_most for judge in asked) * BYTES_PER_TOKEN
    records = sum(count.conditions for count in counts) * BYTES_PER_CONDITION
    note = (
        f"disk holds judgments ({BYTES_PER_ROW:.0f} B a request), replies ({BYTES_PER_TOKEN} B a "
        f"token, all as long as max_tokens allows) and {BYTES_PER_LEASE / 1000:.0f} kB for each of "
        f"about {leases:,} leases; reports, logs and failed attempts come on top"
    )
    return round(leases * BYTES_PER_LEASE + rows * BYTES_PER_ROW + texts + records), note


def _wave_tokens(
    frame: AskFrame, wave: int, counts: Sequence[StageCount], count: PromptCounter
) -> tuple[int, int, int]:
    """(prompt, shared, generated) tokens a wave of an ask costs one judge."""
    at_most = sum(each.requests_at_most for each in counts)
    requests = sum(each.requests for each in counts) or at_most
    if not requests:
        return 0, 0, 0
    voice = next(v for v in voices_of(frame, wave) if v.name == counts[0].judge)
    most = frame.ask.max_tokens
    written = most
    if frame.respond is not None:
        written = frame.respond.max_tokens
        most = written if wave < frame.respond_waves else most
    if all(each.stage == "probabilities" for each in counts):
        most = 1  # a pass makes one token, which nobody reads
    elif frame.ask.mode == "exact" and frame.ask.exact and wave >= frame.respond_waves:
        most = frame.ask.exact.passes
    works = islice(build_wave(frame, wave, voice, LongestAnswers(tokens=written)), SAMPLED_ITEMS)
    asks = [ask for work in works for ask in work.asks]
    prompt, shared = _prompt_tokens(asks, count)
    # What was counted stands for the rest, and not for answers that another ask counts already.
    scale = requests / sum(ask.n for ask in asks)
    return round(prompt * scale * at_most / requests), round(shared * scale), at_most * most


class LongestAnswers(Mapping[str, str | None]):
    """Every answer, at the longest a responder may write: what later prompts hold at most."""

    def __init__(self, *, tokens: int) -> None:
        self._text = ("word " * tokens).strip()

    def __getitem__(self, key: str) -> str:
        return self._text

    def __contains__(self, key: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _prompt_tokens(asks: Iterable[Ask], count: PromptCounter) -> tuple[int, int]:
    """Prompt tokens asked for in all, and of the distinct prompts."""
    known: dict[tuple[object, ...], int] = {}
    asked = 0
    for ask in asks:
        prompt = ask.condition.prompt
        if prompt not in known:
            known[prompt] = count(prompt)
        asked += known[prompt] * ask.n
    return asked, sum(known.values())


def _gpu_hours(spec: EngineSpec, prefill: int, generated: int, notes: list[str]) -> float | None:
    """Hours of all GPUs together: weights read once a step for a batch, prompts by arithmetic."""
    size = model_size(spec)
    if size is None:
        notes.append(f"{spec.name}: model size unknown on this machine, so no GPU-hours")
        return None
    read = size.weight_bytes / (spec.gpus * BYTES_PER_S)
    decode = generated / BATCH * read
    prefill_s = 2.0 * size.parameters * prefill / (spec.gpus * FLOPS_PER_S)
    notes.append(
        f"{spec.name}: GPU-hours expected for {size.parameters / 1e9:.1f} B parameters "
        f"({size.source}) at {REACHED:.0%} of an H100's published bandwidth and arithmetic, "
        f"batch {BATCH}, plus {START_S:.0f} s of start; not measured"
    )
    return spec.gpus * ((decode + prefill_s) / REACHED + START_S) / 3600.0


CPU_SEEDS = 2**32  # a CPU's random generator keeps these bits of a seed
SHARED_STREAMS = 1e-3  # a probability worth a note
TOKEN_CHARACTERS = 4  # about, of English
GPU_BLOCK, CPU_BLOCK = 16, 32  # tokens that an engine caches together, by default


def sweep_remarks(resolved: Resolved) -> Iterator[str]:
    """What a person should know before running it."""
    for frame in resolved.frames:
        ask = frame.ask
        yield from _plan_gold_notes(frame, resolved.gold.get(frame.index))
        if ask != resolved.sweep.ask[frame.index]:
            served = [name for name, spec in resolved.specs.items() if not takes_top_k(spec)]
            yield (
                f"ask[{frame.index}]: top_k is 0, which keeps all tokens: judge "
                f"{', '.join(served)} is behind an API without it"
            )
        if 0.0 in ask.temperatures and ask.most_replications > 1 and not ask.repeat_greedy:
            yield (
                f"ask[{frame.index}]: temperature 0 is asked once, its answer does not vary by "
                "sampling (repeat_greedy = R asks it R times, to see serving noise)"
            )
        if ask.repeat_greedy > 1:
            yield (
                f"ask[{frame.index}]: temperature 0 is asked {ask.repeat_greedy} times: what "
                "differs is serving noise, reported on its own line and in no other number"
            )
        if ask.adaptive is not None:
            yield from _adaptive_notes(frame)
        yield from frame.protocol.remarks(frame)
        yield from _declared_form_notes(frame)
        for criterion in frame.criteria:
            if criterion.name in shipped_criteria() and criterion != load_criterion(criterion.name):
                yield (
                    f"ask[{frame.index}]: criterion {criterion.name} has a text of its own under "
                    "the name of one that ships, and tables show the name: name = ... in its file "
                    "tells them apart"
                )
    for name, fingerprint in resolved.fingerprints.items():
        model = fingerprint.parts.get("model")
        if isinstance(model, dict) and model.get("resolved") is False:
            yield (
                f"{name}: the hub id could not be resolved to a commit here; set revision, or the "
                "same name may mean other weights tomorrow"
            )
    asked = {count.judge for count in resolved.counts}
    for spec in resolved.specs.values():
        if spec.engine == "vllm" and spec.name in asked:
            size = spec.engine_options.get("block_size") or (GPU_BLOCK if spec.gpus else CPU_BLOCK)
            yield (
                f"{spec.name}: every request recomputes the last block of a cached prompt: up to "
                f"{size} tokens more each"
            )
        if spec.batch_invariant and spec.name in asked:
            yield f"{spec.name}: batch_invariant is slower; the estimates do not include that"
        if spec.engine == "simulated":
            yield f"{spec.name}: simulated, answers from a stated distribution; not a judge"


def _plan_gold_notes(frame: AskFrame, read: GoldReading | None) -> Iterator[str]:
    """How gold was read where nobody said how, and of how many items it is nothing to choose."""
    if not frame.protocol.traits.has_right_option:
        return
    if read is not None and not read.declared:
        yield f"ask[{frame.index}]: {gold_note(read)}"
    if frame.responders:
        return
    known = [item for item in frame.items if item.gold and item.options]
    none = hidden = 0
    tied = all(one.declared is not None and one.declared.ties for one in frame.templates)
    for item in known:
        names = {option.option_id for option in item.options} | ({TIE} if tied else set())
        none += item.gold not in names
        hidden += item.gold in names and bool(frame.recorded) and item.gold not in frame.recorded
    if none:
        yield (
            f"ask[{frame.index}]: gold of {none:,} of {len(known):,} items is a reference answer "
            "and none of their options: no verdict on them is counted right or wrong"
        )
    if hidden:
        yield (
            f"ask[{frame.index}]: gold of {hidden:,} of {len(known):,} items is an option that is "
            "not shown (responders): every verdict on them counts as wrong"
        )


def _declared_form_notes(frame: AskFrame) -> Iterator[str]:
    """How replies to templates with forms of their own are read."""
    for template in frame.templates:
        declared = template.declared
        if declared is None:
            continue
        names = "values of the scale" if frame.protocol.traits.on_scales else f"{declared.naming}"
        if declared.words:
            names = ", ".join("/".join(words) for words in declared.words)
        also = [("a tie", declared.ties), ("a refusal", declared.refusals)]
        others = [f"{'/'.join(words)} for {what}" for what, words in also if words]
        yield (
            f"ask[{frame.index}]: template {template.name} is read by a form of its own, "
            f"{form_text(declared)}; "
            f"options are named by {', '.join([names, *others])}"
        )
        if not template.verdict_first and frame.ask.reader == "first":
            yield (
                f"ask[{frame.index}]: template {template.name} asks the verdict last and reader = "
                '"first" counts the first one: a reply that names another before it is read by '
                'that (reader = "last" counts the last one)'
            )
        most = frame.ask.max_tokens * TOKEN_CHARACTERS
        length = len(fill_example(declared, "A"))
        if length > most:
            yield (
                f"ask[{frame.index}]: the example of template {template.name} has "
                f"{length} characters, max_tokens = {frame.ask.max_tokens} is some "
                f"{most}: such replies are cut off"
            )


def _adaptive_notes(frame: AskFrame) -> Iterator[str]:
    """What adaptive replication asks, and whether it can settle anything."""
    rule = frame.stopping(1.0)
    if rule is None or frame.ask.adaptive is None:
        return
    yield (
        f"ask[{frame.index}]: adaptive, so counts are of the first {rule.first} replications and "
        f"at most of {rule.most}; tokens, GPU-hours and disk are of the most. Coefficients rest "
        f"on the first {rule.first} of every question"
    )
    sizes = {
        len(frame.protocol.verdicts(frame, item, template))
        for item in frame.items
        for template in frame.templates
    }
    n_verdicts = max(sizes) + 1
    least = least_settling(n_verdicts, rule.delta)
    if least > rule.most:
        yield (
            f"ask[{frame.index}]: {rule.most} replications can settle nothing: with "
            f"{n_verdicts} verdicts (no verdict is one), it takes {least} equal ones (error "
            f"{rule.delta:g})"
        )


def stream_remarks(resolved: Resolved, counts: Sequence[StageCount]) -> Iterator[str]:
    """Where a CPU engine may answer two conditions from one random stream."""
    for name, spec in resolved.specs.items():
        if spec.gpus or spec.engine != "vllm":
            continue
        declared = [count for count in counts if count.judge == name]
        conditions = sum(count.conditions for count in declared)
        # Ranges of m and n seeds meet in m + n of all places: over all pairs, this many do.
        expected = conditions * sum(count.requests_at_most for count in declared) / CPU_SEEDS
        chance = -expm1(-expected)
        if chance > SHARED_STREAMS:
            yield (
                f"{name}: a CPU keeps 32 bits of a seed, so two of its {conditions:,} conditions "
                f"may share part of a random stream: {expected:.2g} pairs expected, probability "
                f"{chance:.2g}; two replications of one condition never do (on a GPU: none)"
            )
