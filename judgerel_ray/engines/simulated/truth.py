r"""The truth behind a simulated judge: the distribution its verdicts come from.

Everything here is a function of the judge's seed, the item and the options' ids, so that a test
can compare what was estimated with what is so. With ``dirichlet`` the options' probabilities of an
item are drawn from a Dirichlet distribution of parameter :math:`s\pi`; Krippendorff's nominal alpha
of replications at temperature 1 is then :math:`1 / (1 + s)`, whatever :math:`\pi`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from random import Random

from judgerel_ray.core import Condition, Menu, RequestRefused
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.protocols.replies.mentions import number_text

_DECIMALS = 100  # equal steps from the lowest to the highest of a scale of decimals


def answerable(menu: Menu) -> Menu:
    """What a simulated judge chooses from: of a scale of decimals, 101 of them."""
    if menu.labels or menu.scale is None:
        return menu
    low, high = menu.scale.lowest, menu.scale.highest
    places = (low + (high - low) * place / _DECIMALS for place in range(_DECIMALS + 1))
    labels = tuple(number_text(float(f"{place:.12g}")) for place in places)
    return replace(menu, labels=labels, option_ids=labels)


def option_log_weights(
    model: str, options: SimulatedOptions, *, item_id: str, menu: Menu
) -> tuple[float, ...]:
    """Log-probabilities at temperature 1 up to a constant, in the menu's order."""
    if model == "always":
        label = menu.labels[0] if options.label is None else options.label
        if label not in menu.labels:
            raise RequestRefused(f"simulated: label {label!r} is not on the menu {menu.labels}")
        return tuple(0.0 if shown == label else -math.inf for shown in menu.labels)
    if model == "dirichlet":
        return tuple(
            _log_gamma_draw(
                options.concentration * share,
                Random(_simulated_seed_of_text(f"dirichlet:{options.seed}:{item_id}:{option_id}")),
            )
            for option_id, share in zip(
                menu.option_ids, _simulated_base_shares(options, menu), strict=True
            )
        )
    if model == "latent":
        return _simulated_rounded_opinion(options, item_id, len(menu.labels))
    if model == "position":
        return tuple(
            (options.position_bias[place] if place < len(options.position_bias) else 0.0)
            + options.quality_sd
            * Random(
                _simulated_seed_of_text(f"quality:{options.seed}:{item_id}:{option_id}")
            ).gauss(0.0, 1.0)
            for place, option_id in enumerate(menu.option_ids)
        )
    return (0.0,) * len(menu.labels)


def tempered(log_weights: tuple[float, ...], temperature: float) -> tuple[float, ...]:
    """Probabilities proportional to weight ** (1 / temperature)."""
    best = max(log_weights)
    if temperature == 0:
        first = log_weights.index(best)
        return tuple(1.0 if place == first else 0.0 for place in range(len(log_weights)))
    powers = [math.exp((weight - best) / temperature) for weight in log_weights]
    return tuple(round(power / sum(powers), 15) for power in powers)


def reasoned(
    shares: tuple[float, ...], options: SimulatedOptions, condition: Condition, replication: int
) -> tuple[float, ...]:
    """Distribution of a reply's verdict after its reasoning: Dirichlet(s p) around the judge's."""
    if options.reasoning is None or condition.temperature == 0:
        return shares
    key = f"reasoning:{options.seed}:{condition.condition_key}:{replication}"
    draws = [
        _log_gamma_draw(
            options.reasoning * share, Random(_simulated_seed_of_text(f"{key}:{place}"))
        )
        if share > 0
        else -math.inf
        for place, share in enumerate(shares)
    ]
    return tempered(tuple(draws), 1.0)


def judged_thing(condition: Condition) -> str:
    """What a judge's opinion is of: the item, and of a rating the response and the criterion.

    Scales, definitions and templates are no part of it: a judge has one opinion, put in many ways.
    """
    if condition.scale is None:
        return condition.item_id
    return f"{condition.item_id}:{condition.responder}:{condition.criterion}"


def latent_score(options: SimulatedOptions, thing: str) -> float:
    """A ``latent`` judge's opinion of a thing: uniform on [0, 1], and the same whenever asked."""
    return uniforms(f"latent:{options.seed}:{thing}")[0]


def _simulated_rounded_opinion(options: SimulatedOptions, thing: str, n: int) -> tuple[float, ...]:
    """Log-probabilities of n equal parts of [0, 1]: the opinion with normal noise, ends open."""
    at, noise = latent_score(options, thing), options.noise
    if noise == 0:
        nearest = min(int(at * n), n - 1)
        return tuple(0.0 if place == nearest else -math.inf for place in range(n))
    ends = [-math.inf, *(place / n for place in range(1, n)), math.inf]
    below = [0.5 * math.erfc((at - end) / (noise * math.sqrt(2))) for end in ends]
    shares = [high - low for low, high in pairwise(below)]
    return tuple(math.log(share) if share > 0 else -math.inf for share in shares)


def _simulated_base_shares(options: SimulatedOptions, menu: Menu) -> tuple[float, ...]:
    """Shares pi of the menu's options: the judge's own, or even."""
    if options.base is None:
        return (1 / len(menu.option_ids),) * len(menu.option_ids)
    missing = [option_id for option_id in menu.option_ids if option_id not in options.base]
    if missing:
        raise RequestRefused(f"simulated: base has no weight for option {missing[0]!r}")
    weights = [options.base[option_id] for option_id in menu.option_ids]
    return tuple(weight / sum(weights) for weight in weights)


def _log_gamma_draw(shape: float, random: Random) -> float:
    """Log of a Gamma(shape) draw: that of shape + 1, times U ** (1 / shape); never log of 0."""
    return math.log(random.gammavariate(shape + 1, 1.0)) + math.log(1 - random.random()) / shape


def _simulated_seed_of_text(text: str) -> int:
    """A number of 64 bits that depends on the text alone."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def uniforms(text: str) -> tuple[float, float, float]:
    """Three independent numbers in [0, 1) that depend on the text alone."""
    raw = blake2b(text.encode(), digest_size=24).digest()
    first, second, third = (
        (int.from_bytes(raw[start : start + 8], "big") >> 11) * 2.0**-53 for start in (0, 8, 16)
    )
    return first, second, third
