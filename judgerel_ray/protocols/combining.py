"""Keys of an ask that have no effect, or a wrong one, beside its others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgerel_ray.protocols.registry import protocol_named

if TYPE_CHECKING:
    from judgerel_ray.protocols.ask import AskTable

MOST_EXACT_TOP_K = 56
CONFUSION_MODES = ("columns", "paper", "single")


def refuse_combinations(ask: AskTable) -> None:
    """Refuse an ask whose keys do not go together.

    Raises
    ------
    ValueError
        Saying which key needs what.
    """
    if not ask.templates:
        raise ValueError("templates must name at least one template")
    if ask.protocol == "respond" and ask.responders:
        raise ValueError("protocol respond asks its judges: name them in judges, not responders")
    if ask.gold_is not in (None, "reference") and not protocol_named(ask.protocol).has_right_option:
        raise ValueError(
            "gold_is needs a protocol whose verdicts are the items' options, got "
            f"{ask.protocol}, to which gold is a reference answer"
        )
    if ask.protocol == "rating":
        _refuse_beside_rating(ask)
    elif ask.criteria or ask.definitions or ask.scales:
        raise ValueError(
            f"criteria, definitions and scales need protocol rating, got {ask.protocol}"
        )
    if ask.protocol == "think_twice":
        _refuse_beside_thinking(ask)
    else:
        for key in ("candidates", "roles", "answer_temperature", "cascade"):
            if getattr(ask, key) not in (0, (), None):
                raise ValueError(f"{key} needs protocol think_twice, got {ask.protocol}")
    if ask.adaptive is not None and ask.protocol not in ("best_of", "correctness"):
        raise ValueError(
            f"adaptive replications need protocol best_of or correctness, got {ask.protocol}"
        )
    if ask.exact is not None and ask.protocol in ("respond", "confusion"):
        raise ValueError(f"exact needs a protocol that explores, got {ask.protocol}")
    if ask.respond is not None and not ask.responders:
        raise ValueError("respond says how responders write: name them in responders")
    if ask.early_stop and ask.protocol not in ("best_of", "rating"):
        raise ValueError(f"early_stop needs protocol best_of or rating, got {ask.protocol}")
    if ask.early_stop and ask.reader != "first":
        raise ValueError(
            f'early_stop needs reader = "first", got {ask.reader!r}: '
            "a reply cut after one verdict cannot show a later one"
        )
    if ask.verdict_logprobs:
        _refuse_beside_logprobs(ask)
    if ask.option_orders > 1 and ask.protocol not in ("best_of", "think_twice"):
        raise ValueError(f"option_orders needs protocol best_of or think_twice, got {ask.protocol}")
    if ask.protocol == "confusion":
        _refuse_beside_confusion(ask)
    elif ask.thresholds:
        raise ValueError(f"thresholds needs protocol confusion, got {ask.protocol}")
    elif ask.mode == "exact":
        _refuse_beside_exact(ask)
    elif ask.mode in CONFUSION_MODES:
        raise ValueError(f"mode {ask.mode} needs protocol confusion, got {ask.protocol}")
    elif (ask.option_labels, ask.option_probability) != ("letters", "whole"):
        raise ValueError(
            f"option_labels and option_probability need protocol confusion, got {ask.protocol}"
        )


def _refuse_beside_logprobs(ask: AskTable) -> None:
    """Refuse where a verdict has no place whose probabilities could be read."""
    if ask.protocol != "best_of" or ask.mode != "sample":
        raise ValueError(
            f"verdict_logprobs needs protocol best_of and mode sample, got {ask.protocol} "
            f"and {ask.mode}"
        )
    if ask.reader != "first":
        raise ValueError(f'verdict_logprobs needs reader = "first", got {ask.reader!r}')
    if ask.top_p != 1 or ask.top_k > MOST_EXACT_TOP_K:
        raise ValueError(
            f"verdict_logprobs needs top_p = 1 and top_k = 0 or at most {MOST_EXACT_TOP_K}, "
            f"got {ask.top_p} and {ask.top_k}"
        )


def _refuse_beside_exact(ask: AskTable) -> None:
    """Refuse what has no effect, or no exact answer, where no reply is sampled."""
    if ask.protocol == "respond":
        raise ValueError("mode exact needs a protocol that asks for verdicts, got respond")
    if ask.reader != "first":
        raise ValueError(
            f'mode exact needs reader = "first", got {ask.reader!r}: only the first verdict '
            "is settled before a reply ends"
        )
    for key in ("replications", "repeat_greedy", "early_stop"):
        if getattr(ask, key):
            raise ValueError(f"mode exact samples nothing: leave out {key}")
    if ask.top_p != 1:
        raise ValueError(f"mode exact needs top_p = 1, got {ask.top_p}")
    if ask.top_k > MOST_EXACT_TOP_K:
        raise ValueError(
            f"mode exact needs top_k = 0 or at most {MOST_EXACT_TOP_K}, got {ask.top_k}: "
            "engines list no more tokens"
        )


def _refuse_beside_confusion(ask: AskTable) -> None:
    """Refuse what a confusion matrix has no place for."""
    if ask.most_replications > 1 or ask.repeat_greedy > 1:
        raise ValueError("protocol confusion makes one matrix: replications must be left out")
    if ask.responders:
        raise ValueError("protocol confusion judges what the items hold: leave out responders")


def _refuse_beside_rating(ask: AskTable) -> None:
    """Refuse what a rating has no place for."""
    if not ask.criteria:
        raise ValueError("protocol rating needs criteria: what responses are rated by")
    if ask.reader == "schroeder2024":
        raise ValueError("reader schroeder2024 reads letters and words, no ratings")


def _refuse_beside_thinking(ask: AskTable) -> None:
    """Refuse what two steps and a comparison have no place for."""
    if ask.mode != "sample" or ask.exact is not None:
        raise ValueError(f"protocol think_twice samples replies, got mode {ask.mode}")
    if ask.reader == "schroeder2024":
        raise ValueError("reader schroeder2024 reads letters and words, no numbers")
    if ask.respond is not None or ask.answers is not None:
        raise ValueError(
            "protocol think_twice has its models answer as it judges: leave out respond and answers"
        )
    temperature, asked = ask.answer_temperature, ask.temperatures or (1.0,)
    if temperature is not None and temperature not in asked:
        raise ValueError(
            f"answer_temperature must be one of the temperatures {list(asked)}, got {temperature}"
        )
    if ask.cascade is None:
        return
    for key in ("roles", "judges", "answer_temperature"):
        if getattr(ask, key):
            raise ValueError(f"cascade has no judges: leave out {key}")
    if len(ask.responders) < 2 or ask.option_orders > 1:
        raise ValueError(
            "cascade needs at least 2 responders, in the order in which they are asked, and no "
            f"option_orders, got {list(ask.responders)} and {ask.option_orders}"
        )
