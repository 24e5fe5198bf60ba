"""Prompts for ratings: an item and its response, a criterion and a scale.

One response is rated by every criterion, definition and scale. Most templates put the response
first, so that all of these share its prefix; ``lee2025`` keeps the order of its paper [1]_, with
criterion and scale first.

References
----------
.. [1] Lee, Hong and Thorne (2025), Evaluating the Consistency of LLM Evaluators, COLING 2025.
"""

from __future__ import annotations

from judgerel_ray.core import Item, Message, Scale, SweepError
from judgerel_ray.protocols.criteria import Criterion, listed
from judgerel_ray.protocols.prompts.rendering import fill, item_values, question_form
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.mentions import number_text


def render_rating(
    template: Template,
    item: Item,
    text: str,
    *,
    criterion: Criterion,
    definition: str,
    scale: Scale,
) -> tuple[Message, ...]:
    """Prompt that asks a judge to rate one response by one criterion on one scale.

    Parameters
    ----------
    template : Template
        Of protocol ``rating``.
    item : Item
        The question; for a dialogue the response answers its second turn.
    text : str
        The response.
    criterion : Criterion
        What it is rated by.
    definition : {"none", "short", "long"}
        How much is told of the criterion's meaning.
    scale : Scale
        What may be answered.

    Raises
    ------
    SweepError
        If the definition has another length, the template is of another protocol or has no text
        for the item.

    Examples
    --------
    >>> from judgerel_ray.protocols.criteria import load_criterion
    >>> from judgerel_ray.protocols.replies.scales import load_scale
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="1 + 1?")
    >>> prompt = render_rating(
    ...     load_template("rating", "terse"), item, "2", criterion=load_criterion("factuality"),
    ...     definition="none", scale=load_scale("binary"))
    >>> print(prompt[0].content)
    Question:
    1 + 1?
    <BLANKLINE>
    Response:
    2
    <BLANKLINE>
    (End of the response.)
    <BLANKLINE>
    Rate it. Criterion: Is the response factually correct?
    Ratings, from least to most: "No", "Yes"
    Answer only in the form "Rating: [[rating]]".
    """
    where = {"template": template.name}
    if template.protocol != "rating":
        raise SweepError(
            f"template is of another protocol, expected rating, got {template.protocol}",
            where=where,
        )
    meanings = dict(criterion.definitions)
    if definition not in meanings:
        raise SweepError(
            f"definition must be one of {listed(meanings)}, got {definition!r}",
            where={"criterion": criterion.name},
        )
    asked = criterion_words(template, criterion)
    meaning = meanings[definition]
    if meaning:
        asked = fill(template.text("defined"), {"criterion": asked, "definition": meaning})
    values = {**item_values(item), "response": text}
    values |= {"criterion": asked, "scale": _explained(template, scale)}
    return (Message(role="user", content=fill(template.text(question_form(item)), values)),)


def criterion_words(template: Template, criterion: Criterion) -> str:
    """Name a criterion as a template does: by its question or by its name.

    Examples
    --------
    >>> from judgerel_ray.protocols.criteria import load_criterion
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> helpful = load_criterion("helpfulness")
    >>> [criterion_words(load_template("rating", name), helpful) for name in ("terse", "lee2025")]
    ['Is the response helpful?', 'Helpfulness']
    """
    if not template.names_criterion:
        return criterion.question
    words = " ".join(criterion.name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _explained(template: Template, scale: Scale) -> str:
    """The scale in the template's words."""
    if scale.labels:
        labels = listed(f'"{label}"' for label in scale.labels)
        return fill(template.text("words"), {"labels": labels})
    ends = {"lowest": number_text(scale.lowest), "highest": number_text(scale.highest)}
    return fill(template.text("decimals" if scale.decimals else "numbers"), ends)
