"""From a prompt and its settings to a condition with its key and its seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from judgerel_ray.core import Ask, Condition, Item, Message, Role, digest, seed_base
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.waves.frame import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWork:
    """All that one wave asks one judge about one item.

    ``impossible`` pairs an ask with the reason why it can never be sent (an earlier stage failed);
    ``n_blocked`` counts requests whose earlier stage has not landed yet: they stay owed.
    """

    judge: str
    item_id: str
    asks: tuple[Ask, ...]
    impossible: tuple[tuple[Ask, str], ...] = ()
    n_blocked: int = 0

    @classmethod
    def of(
        cls,
        voice: Voice,
        item: Item,
        asks: Iterable[Ask],
        impossible: Iterable[tuple[Ask, str]],
        n_blocked: int,
    ) -> ItemWork:
        """Put together what a wave asks a judge about an item."""
        return cls(
            judge=voice.name, item_id=item.item_id, asks=tuple(asks), impossible=tuple(impossible),
            n_blocked=n_blocked,
        )  # fmt: skip


def blank_condition(
    voice: Voice, item: Item, *, protocol: str, stage: str, role: Role, template: Template
) -> Condition:
    """A condition of this item with everything but its prompt and sampling parameters.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> blank_condition(Voice(name="m", fingerprint="0"), item, protocol="respond", stage="answer",
    ...                 role="responder", template=load_template("respond", "default")).responder
    'm'
    """
    return Condition(
        condition_key="",
        seed_base=1,
        judge=voice.name,
        judge_fingerprint=voice.fingerprint,
        benchmark=item.benchmark,
        item_id=item.item_id,
        protocol=protocol,
        stage=stage,
        role=role,
        prompt=(),
        template=template.name,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        max_tokens=1,
        responder=voice.name if role == "responder" else None,
    )


def keyed_condition(
    condition: Condition, prompt: tuple[Message, ...], *, parents: tuple[str, ...] = ()
) -> Condition:
    """The condition with its prompt, and the key and seed that follow from what is asked.

    Parameters
    ----------
    condition : Condition
        With everything but prompt, key and seed.
    prompt : tuple of Message
        What is sent; empty where it can never be written.
    parents : tuple of str
        Keys of the landed requests whose texts the prompt holds.

    Returns
    -------
    Condition
        The facets that only name things (template, reader) are not in the key; what the judge
        reads, who judges, and what each label stands for are. The seed follows from the same
        content without the stop strings: an early stop gives the verdicts of whole replies.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> blank = blank_condition(
    ...     Voice(name="m", fingerprint="0"), item, protocol="respond", stage="answer",
    ...     role="responder", template=load_template("respond", "default"))
    >>> one = keyed_condition(blank, (Message(role="user", content="a"),))
    >>> two = keyed_condition(blank, (Message(role="user", content="b"),))
    >>> one.condition_key == two.condition_key
    False
    """
    content: dict[str, object] = {
        "judge": [condition.judge, condition.judge_fingerprint],
        "item": [condition.benchmark, condition.item_id],
        "protocol": condition.protocol,
        "stage": condition.stage,
        "prompt": [[message.role, message.content] for message in prompt],
        # Two options may hold the same text: then the order shows only here.
        "options": list(condition.menu.option_ids) if condition.menu else [],
        "responder": condition.responder,
        "parents": list(parents),
    }
    if condition.role in ("participant", "evaluator_only"):
        # Where a model's answer is lost, two roles or orders may show the same ones.
        content["role"] = [condition.role, condition.option_order]
    sampling = [condition.temperature, condition.top_k, condition.top_p, condition.max_tokens]
    # Where a reply stops changes what is asked, but not how it begins: with one seed the verdict
    # is the same, so stop strings are in the key and not in the seed.
    # So is what is read beside it.
    seeding = key = digest({**content, "sampling": [*sampling, []]})
    if condition.scoring is not None:
        content["scoring"] = asdict(condition.scoring)
    if condition.scoring is not None or condition.stop:
        key = digest({**content, "sampling": [*sampling, list(condition.stop)]})
    seed = seed_base(seeding)
    return replace(condition, prompt=prompt, condition_key=key, seed_base=seed, parents=parents)
