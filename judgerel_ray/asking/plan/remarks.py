"""What a person should know of a sweep before running it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1

from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.benchmarks import GoldReading
from judgerel_ray.benchmarks.admission import gold_note
from judgerel_ray.design import AskFrame, StageCount
from judgerel_ray.design.reading_back import form_text
from judgerel_ray.protocols import TIE, fill_example, load_criterion, shipped_criteria
from judgerel_ray.stats.intervals.stopping import least_settling

CPU_SEEDS = 2**32  # a CPU's random generator keeps these bits of a seed
SHARED_STREAMS = 1e-3  # a probability worth a note
TOKEN_CHARACTERS = 4  # about, of English
GPU_BLOCK, CPU_BLOCK = 16, 32  # tokens that an engine caches together, by default


def sweep_remarks(resolved: Resolved) -> Iterator[str]:
    """What a person should know before running it."""
    for frame in resolved.frames:
        ask = frame.ask
        yield from _gold_notes(frame, resolved.gold.get(frame.index))
        if 0.0 in ask.temperatures and ask.most_replications > 1 and not ask.repeat_greedy:
            yield (
                f"ask[{frame.index}]: temperature 0 is asked once, its answer does not vary by "
                "sampling (repeat_greedy = R asks it R times, to see serving noise)"
            )
        if ask.repeat_greedy > 1:
            yield (
                f"ask[{frame.index}]: temperature 0 is asked {ask.repeat_greedy} times: what "
                "differs is serving noise, told on a line of its own and in no other number"
            )
        if ask.adaptive is not None:
            yield from _adaptive_notes(frame)
        yield from frame.protocol.remarks(frame)
        yield from _own_form_notes(frame)
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
                f"{spec.name}: of a prompt computed once, an engine computes the last block again "
                f"for every request that asks it anew: up to {size} tokens each come on top"
            )
        if spec.batch_invariant and spec.name in asked:
            yield f"{spec.name}: batch_invariant is slower, by how much no expectation here knows"
        if spec.engine == "simulated":
            yield f"{spec.name}: simulated, answers from a stated distribution; not a judge"


def _gold_notes(frame: AskFrame, read: GoldReading | None) -> Iterator[str]:
    """How gold was read where nobody said how, and of how many items it is nothing to choose."""
    if not frame.protocol.traits.has_right_option:
        return
    if read is not None and not read.declared:
        yield f"ask[{frame.index}]: {gold_note(read)}"
    if frame.responders:
        return
    known = [item for item in frame.items if item.gold and item.options]
    none = hidden = 0
    tied = all(one.own is not None and one.own.ties for one in frame.templates)
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


def _own_form_notes(frame: AskFrame) -> Iterator[str]:
    """How replies to templates with forms of their own are read."""
    for template in frame.templates:
        own = template.own
        if own is None:
            continue
        names = "values of the scale" if frame.protocol.traits.on_scales else f"{own.naming}"
        if own.words:
            names = ", ".join("/".join(words) for words in own.words)
        also = [("a tie", own.ties), ("a refusal", own.refusals)]
        told = [f"{'/'.join(words)} for {what}" for what, words in also if words]
        yield (
            f"ask[{frame.index}]: template {template.name} is read by a form of its own, "
            f"{form_text(own)}; "
            f"options are named by {', '.join([names, *told])}; what a model thinks before "
            "</think> is not read"
        )
        if not template.verdict_first and frame.ask.reader == "first":
            yield (
                f"ask[{frame.index}]: template {template.name} asks the verdict last and reader = "
                '"first" counts the first one: a reply that names another before it is read by '
                'that (reader = "last" counts the last one)'
            )
        most = frame.ask.max_tokens * TOKEN_CHARACTERS
        length = len(fill_example(own, "A"))
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
            f"ask[{frame.index}]: {rule.most} replications settle nothing: of {n_verdicts} "
            f"verdicts, none among them, it takes {least} alike (error {rule.delta:g})"
        )


def stream_remarks(resolved: Resolved, counts: Sequence[StageCount]) -> Iterator[str]:
    """Where a CPU engine may answer two conditions from one random stream."""
    for name, spec in resolved.specs.items():
        if spec.gpus or spec.engine != "vllm":
            continue
        own = [count for count in counts if count.judge == name]
        conditions = sum(count.conditions for count in own)
        # Ranges of m and n seeds meet in m + n of all places: over all pairs, this many do.
        expected = conditions * sum(count.requests_at_most for count in own) / CPU_SEEDS
        chance = -expm1(-expected)
        if chance > SHARED_STREAMS:
            yield (
                f"{name}: a CPU keeps 32 bits of a seed, so two of its {conditions:,} conditions "
                f"may share part of a random stream: {expected:.2g} pairs expected, probability "
                f"{chance:.2g}; two replications of one condition never do (on a GPU: none)"
            )
