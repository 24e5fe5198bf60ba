"""Asks to build conditions from: items of every form, judges and responders without models."""

from types import SimpleNamespace

import pytest

from judgerel_ray.config import ask_table
from judgerel_ray.core import Item, Option, request_key
from judgerel_ray.design import AskFrame, Voice, build_wave, voices_of
from judgerel_ray.protocols import load_criterion, load_scale, load_template
from judgerel_ray.protocols.registry import protocol_named


def voice(name):
    return Voice(name=name, fingerprint=f"print of {name}")


def item(name, *, form="question", options="abc", gold="right"):
    """An item of a question form, with one option a letter."""
    return Item(
        item_id=name,
        benchmark="b",
        category="c",
        question=f"Question {name}?",
        context="Some passage." if form == "context" else None,
        turns=(f"Question {name}?", f"And then {name}?") if form == "dialogue" else (),
        options=tuple(Option(option_id=one, text=f"{one} on {name}") for one in options),
        gold=gold,
    )


def frame(items, *, judges="j", responders="", index=0, recorded=(), shipped=None, **keys):
    """An ask, resolved as a sweep resolves it."""
    ask = ask_table(
        **{
            "protocol": "best_of",
            "benchmark": "b",
            "path": "p",
            "responders": tuple(responders) or tuple(recorded),
            **keys,
        }
    )
    templates = shipped or tuple(load_template(ask.protocol, name) for name in ask.templates)
    criteria, scales = protocol_named(ask.protocol).wordings(ask)
    return AskFrame(
        index=index,
        ask=ask,
        items=tuple(items),
        templates=templates,
        judges=tuple(voice(name) for name in judges),
        responders=tuple(voice(name) for name in responders),
        recorded=tuple(recorded),
        respond=ask.respond if responders else None,
        respond_template=load_template("respond", "default") if responders else None,
        criteria=tuple(load_criterion(name) for name in criteria),
        scales=tuple(load_scale(name) for name in scales),
    )


def answer(key):
    """The text a responder writes to a request."""
    return f"answer {key[:8]}"


def play(frames, *, write=answer):
    """Ask everything wave by wave; the asks of each (frame, wave, voice), and all texts."""
    texts, asked = {}, []
    for wave in range(max(one.n_waves for one in frames)):
        landed = {}
        for one in frames:
            for who in voices_of(one, wave) if wave < one.n_waves else ():
                for work in build_wave(one, wave, who, texts):
                    asked.append(SimpleNamespace(frame=one, wave=wave, voice=who, work=work))
                    for ask in work.asks:
                        for r in ask.replications:
                            key = request_key(ask.condition.condition_key, r)
                            landed[key] = write(key)
                    for ask, _ in work.impossible:
                        for r in ask.replications:
                            landed[request_key(ask.condition.condition_key, r)] = None
        texts.update(landed)
    return asked, texts


@pytest.fixture
def make():
    """The makers of this folder's tests."""
    return SimpleNamespace(voice=voice, item=item, frame=frame, play=play, answer=answer)
