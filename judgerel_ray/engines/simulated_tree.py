"""What a simulated judge may answer, at every temperature: its stated distribution, exactly."""

from __future__ import annotations

import json

from judgerel_ray.core import Condition, RequestRefused
from judgerel_ray.engines.simulated_options import SimulatedOptions
from judgerel_ray.engines.truth import judged_thing, option_log_weights, tempered


def tree_findings(model: str, options: SimulatedOptions, condition: Condition) -> str:
    """Write down the distribution, as :func:`judgerel_ray.engines.verdict_tree.explore` does.

    Examples
    --------
    >>> from judgerel_ray.core import Menu, Scoring
    >>> condition = Condition(
    ...     condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="i", protocol="best_of", stage="exact", role="scorer", prompt=(),
    ...     template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=1,
    ...     menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"),
    ...     scoring=Scoring(kind="tree", temperatures=(1.0, 0.0)))
    >>> json.loads(tree_findings("uniform", SimulatedOptions(), condition))["low"]
    [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    """
    menu, scoring = condition.menu, condition.scoring
    if menu is None or scoring is None:
        raise RequestRefused("simulated: nothing to explore", where={"item": condition.item_id})
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    silent = options.refuse + options.unparsed
    low = []
    for temperature in scoring.temperatures:
        # As it draws replies: whether there is a verdict does not depend on the temperature, but
        # for the greedy reply, which is of the likeliest kind.
        none = silent
        if temperature == 0:
            none = 0.0 if 1 - silent >= max(options.refuse, options.unparsed) else 1.0
        low.append([*(share * (1 - none) for share in tempered(weights, temperature)), none])
    return json.dumps(
        {
            "temperatures": list(scoring.temperatures),
            "verdicts": [*menu.option_ids, None],
            "low": low,
            "high": low,
            "estimate": None,
            "undecided": [0.0] * len(low),
            "passes": 1,
        }
    )
