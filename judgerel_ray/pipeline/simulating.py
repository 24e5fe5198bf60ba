"""Simulated judges against the menus they are to judge: what no menu has is the sweep's mistake."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from judgerel_ray.core import RequestRefused, SweepError
from judgerel_ray.design import AskFrame, build_wave, voices_of
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.simulated_options import simulated_options
from judgerel_ray.engines.truth import option_log_weights

LOOKED_AT = 64
"""Items of an ask, the first ones; the engine itself looks at every menu."""


def check_simulated(spec: EngineSpec, frames: Sequence[AskFrame]) -> None:
    """Refuse a simulated judge whose distribution names no option of what it is asked.

    Menus of responders' answers are not known before these are; the engine checks those.

    Raises
    ------
    SweepError
        If its ``label`` is on no menu of an ask, or its ``base`` lacks an option of one.
    """
    options = simulated_options(spec)
    for frame in frames:
        if frame.respond_waves or spec.name not in {one.name for one in voices_of(frame, 0)}:
            continue
        voice = next(one for one in voices_of(frame, 0) if one.name == spec.name)
        refused: list[str] = []
        n_menus = 0
        for work in islice(build_wave(frame, 0, voice, {}), LOOKED_AT):
            menu = work.asks[0].condition.menu if work.asks else None
            if menu is None:
                continue
            n_menus += 1
            try:
                option_log_weights(spec.model, options, item_id=work.item_id, menu=menu)
            except RequestRefused as refusal:
                refused.append(refusal.problem.removeprefix("simulated: "))
        if refused and len(refused) == n_menus:
            raise SweepError(
                f"engine_options fit no menu of the ask: {refused[0]}",
                where={"judge": spec.name, "ask": frame.index},
            )
