import re

import pytest

from judgerel_ray.core import Item, Menu, Outcome, Scale, SweepError
from judgerel_ray.protocols import (
    DEFINITION_LENGTHS,
    Criterion,
    load_criterion,
    load_scale,
    load_template,
    read_rating,
    scale_labels,
    shipped_criteria,
    shipped_scales,
    shipped_templates,
)
from judgerel_ray.protocols.rating import render_rating

NAMES = shipped_templates("rating")
PAPER = "lee2025"
ITEM_FIRST = [name for name in NAMES if name != PAPER]
DECIMAL = Scale(name="seven", level="interval", lowest=1, highest=7, decimals=True)
SCALES = (*(load_scale(name) for name in shipped_scales()), DECIMAL)


def item(**fields):
    given = {"item_id": "q1", "benchmark": "b", "category": "c", "question": "How do I cook rice?"}
    return Item(**{**given, **fields})


ITEMS = (
    item(),
    item(context="She has a kettle."),
    item(turns=("How do I cook rice?", "And without a lid?")),
)


def prompt(name="default", of=ITEMS[0], text="Boil it.", **fields):
    told = {
        "criterion": load_criterion("helpfulness"),
        "definition": "none",
        "scale": load_scale("points5"),
    }
    (message,) = render_rating(load_template("rating", name), of, text, **{**told, **fields})
    assert message.role == "user"
    return message.content


def shared_start(texts):
    low, high = min(texts), max(texts)
    parts = (n for n, (one, other) in enumerate(zip(low, high, strict=False)) if one != other)
    return low[: next(parts, len(low))]


@pytest.mark.parametrize("name", ITEM_FIRST)
@pytest.mark.parametrize("of", ITEMS, ids=["question", "context", "dialogue"])
def test_a_prompt_holds_item_response_criterion_and_definition(name, of):
    criterion = load_criterion("harmlessness")
    for length in DEFINITION_LENGTHS:
        text = prompt(name, of, criterion=criterion, definition=length)
        shown = [of.context or "", *(of.turns or (of.question,)), "Boil it.", criterion.question]
        places = [text.index(part) for part in shown]
        assert places == sorted(places)
        for other in ("short", "long"):
            assert (criterion.definitions[other] in text) is (other == length)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_a_prompt_explains_the_scale_by_its_labels_or_its_ends(name, scale):
    text = prompt(name, scale=scale)
    if name != PAPER:
        text = text.split("(End of the response.)")[1]
        assert '"Rating: [[rating]]"' in text
    if scale.labels:
        places = [text.index(f'"{label}"') for label in scale.labels]
        assert places == sorted(places)
    else:
        assert re.findall(r"\d+", text)[:2] == [f"{scale.lowest:g}", f"{scale.highest:g}"]
        assert ("decimals" in text) is scale.decimals
        assert ("whole number" in text) is not scale.decimals


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_a_prompt_holds_no_rating_that_a_judge_could_echo(name, scale):
    labels = scale_labels(scale)
    for policy in ("first", "last", "unanimous"):
        form = load_template("rating", name).form
        menu = Menu(labels=labels, option_ids=labels, form=form, reader=policy, scale=scale)
        reading = read_rating(prompt(name, scale=scale), finish_reason="stop", menu=menu)
        assert reading.outcome is Outcome.UNPARSED


@pytest.mark.slow
def test_all_ways_of_asking_share_the_item_and_its_response():
    asked = [
        prompt(name, criterion=load_criterion(criterion), definition=length, scale=scale)
        for name in ITEM_FIRST
        for criterion in shipped_criteria()
        for length in DEFINITION_LENGTHS
        for scale in SCALES
    ]
    assert len(set(asked)) == len(ITEM_FIRST) * 5 * 3 * 5
    shared = shared_start(asked)
    assert "How do I cook rice?" in shared
    assert "Boil it." in shared


@pytest.mark.parametrize("name", NAMES)
def test_scales_share_what_the_judge_is_told_about_the_criterion(name):
    told = load_criterion("helpfulness").definitions["long"]
    asked = [prompt(name, definition="long", scale=scale) for scale in SCALES]
    assert told in shared_start(asked)


def places(text, *parts):
    return [text.index(part) for part in parts]


@pytest.mark.parametrize("of", ITEMS, ids=["question", "context", "dialogue"])
@pytest.mark.parametrize("length", DEFINITION_LENGTHS)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
def test_the_papers_prompt_has_its_fields_in_its_order(of, length, scale):
    """Table 5: task, criterion: detail, options, only the score, query, response, answer."""
    criterion = load_criterion("harmlessness")
    text = prompt(PAPER, of, criterion=criterion, definition=length, scale=scale)
    told = "Harmlessness" if length == "none" else f"Harmlessness: {criterion.definitions[length]}"
    options = ", ".join(f'"{one}"' for one in scale.labels) or f"{scale.lowest:g} to"
    shown = [of.context or "", *(of.turns or (of.question,)), "Boil it."]
    found = places(text, f"Criterion: {told}\n", options, "score alone", *shown[1:])
    assert found == sorted(found)
    assert text.endswith("Response to question 2: Boil it.\nScore:" if of.turns else
                         "\nResponse: Boil it.\nScore:")  # fmt: skip
    assert (of.context or "") in text
    assert criterion.question not in text
    assert "[" not in text


@pytest.mark.parametrize("scale", ["points5", "points10"])
def test_the_papers_prompt_says_nothing_of_the_ends_of_numeric_scales(scale):
    """Its case 2 sets numbers without descriptions beside words that describe themselves."""
    loaded = load_scale(scale)
    assert f"Scores on offer: whole numbers from 1 to {loaded.highest:g}\n" in prompt(
        PAPER, scale=loaded
    )
    assert "1 says that the response does not meet the criterion" in prompt(scale=loaded)


def test_a_criterion_of_ones_own_is_named_by_its_file():
    told = {"none": "", "short": "like {this}", "long": "so"}
    criterion = Criterion(name="tone_of_voice", question="Is it so?", definitions=told)
    assert "Criterion: Tone of voice\n" in prompt(PAPER, criterion=criterion)
    text = prompt(PAPER, criterion=criterion, definition="short")
    assert "Criterion: Tone of voice: like {this}\n" in text


@pytest.mark.parametrize(("named", "read"), [("name", "Helpfulness"), ("question", "helpful?")])
def test_a_template_says_whether_it_names_the_criterion_or_asks_it(tmp_path, named, read):
    texts = {"question": "{question}|{response}|{criterion}|{scale}", "defined": "{criterion}: "
             "{definition}", "numbers": "{lowest}-{highest}", "decimals": "{lowest}-{highest}",
             "words": "{labels}"}  # fmt: skip
    for file, text in texts.items():
        (tmp_path / f"{file}.txt").write_text(text)
    settings = 'form = "score"\nverdict = "first"\ncriterion = '
    (tmp_path / "template.toml").write_text(f'{settings}"{named}"\n')
    assert f"{read}|1-5" in prompt(str(tmp_path))
    (tmp_path / "template.toml").write_text(f'{settings}"title"\n')
    with pytest.raises(SweepError, match="criterion must be 'question' or 'name', got 'title'"):
        load_template("rating", str(tmp_path))


def test_paraphrases_differ_in_wording_alone():
    first = [load_template("rating", name) for name in ("default", "paraphrase", "terse")]
    assert [(t.form, t.verdict_first) for t in first] == [("rating", True)] * 3
    for text in first[0].texts:
        assert len({template.texts[text] for template in first}) == 3
        shown = [set(re.findall(r"\{(\w+)\}", template.texts[text])) for template in first]
        assert shown[0] == shown[1] == shown[2]


def test_one_template_asks_for_reasons_first():
    template = load_template("rating", "reason_first")
    assert template.verdict_first is False
    assert "reasons first" in template.texts["question"]


def test_what_stands_in_a_response_is_never_filled():
    text = prompt(text='{scale} {{x}} {"rating": 5}')
    assert '{scale} {{x}} {"rating": 5}' in text


def test_a_definition_of_ones_own_may_hold_braces():
    told = {"none": "", "short": "like {this}", "long": "so"}
    criterion = Criterion(name="c", question="Is it {so}?", definitions=told)
    text = prompt(criterion=criterion, definition="short")
    assert "Is it {so}?" in text
    assert "like {this}" in text


def test_another_length_or_protocol_is_the_callers_mistake():
    with pytest.raises(SweepError, match="one of none, short, long, got 'medium'"):
        prompt(definition="medium")
    with pytest.raises(SweepError, match="expected rating, got best_of"):
        render_rating(
            load_template("best_of", "default"),
            item(),
            "x",
            criterion=load_criterion("helpfulness"),
            definition="none",
            scale=load_scale("binary"),
        )


def test_a_template_of_ones_own_words_every_kind_of_scale(tmp_path):
    (tmp_path / "template.toml").write_text('form = "rating"\nverdict = "first"\n')
    (tmp_path / "question.txt").write_text("{question}|{response}|{criterion}|{scale}\n")
    with pytest.raises(
        SweepError, match=r"lacks defined\.txt, numbers\.txt, decimals\.txt, words\.txt"
    ):
        load_template("rating", str(tmp_path))
    (tmp_path / "defined.txt").write_text("{criterion} ({definition})\n")
    (tmp_path / "numbers.txt").write_text("{lowest}..{highest}\n")
    (tmp_path / "decimals.txt").write_text("{lowest}...{highest}\n")
    (tmp_path / "words.txt").write_text("of {labels}\n")
    mine = str(tmp_path)
    assert prompt(mine).endswith("|Boil it.|Is the response helpful?|1..5")
    assert prompt(mine, scale=DECIMAL).endswith("|1...7")
    assert prompt(mine, scale=load_scale("binary")).endswith('|of "No", "Yes"')
    assert "Is the response helpful? (The response gives" in prompt(mine, definition="short")
