"""Laws of reading a rating that hold for every text."""

import re
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Outcome, Scale, SweepError
from judgerel_ray.protocols import (
    FORMS,
    load_scale,
    read_rating,
    read_verdict,
    scale_labels,
    score_of,
    settled_reading,
    shipped_scales,
    stop_strings,
)

SCALES = (
    *(load_scale(name) for name in shipped_scales()),
    Scale(name="hundred", level="interval", lowest=0, highest=100),
    Scale(name="seven", level="interval", lowest=1, highest=7, decimals=True),
    Scale(name="balance", level="interval", lowest=-2, highest=2),
    Scale(
        name="ends", level="ordinal", labels=("Good", "Good enough", "Neither agree nor disagree")
    ),
)
NUMBERED = tuple(scale for scale in SCALES if not scale.labels)
UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
PIECES = (
    *(
        "Score:",
        "Answer: ",
        "Rating:",
        "rating",
        "Rating: [[",
        "]]",
        "[[",
        "]",
        "[",
        "(",
        ")",
        "**",
        "`",
        '"',
        ">",
        "#",
    ),
    *(" ", "\n", ", ", ". ", ".", "/", "-", " - ", "–", " to ", " or ", " and ", " out of ", "%"),
    *("1", "2", "4", "5", "7", "10", "0", "3.5", "4.0", "2019", "-", "½", "４", "٤", "²", "e"),
    *("four", "five", "ten", "eighty", "hundred", "a half", " and a half", " point ", "minus "),
    *("agree", "Disagree", "strongly", "Strongly Agree", "neither", "nor", "Neutral", "somewhat "),
    *("Yes", "No", "N/A", "because ", "points", "criteria", "not ", "rating]]", "I cannot rate"),
    *("Good", "enough", "ſ", "İ", "\0", "\u2028", "🙂", "</b>", "<b>", "|", ":", "：", "?", "!"),
)
LEADS = (
    "",
    "Score: ",
    "Evaluation score:\n",
    "Rating: ",
    "Rating: [[",
    "So.\n**Rating:** ",
    "Rating: [",
    "Rating:\n",
    "(",
)
TAILS = (
    "",
    "",
    "]]",
    "]",
    ".",
    " because",
    "\n",
    "\n\nIt holds up and so on and on and on, I think.",
)
VALUES = (
    *("1", "4", "5", "10", "-1", "3.5", "4.0", "85", "100", "four", "ten", "eighty-five", "3½"),
    *("a hundred", "three and a half", "six point two five", "minus two", "４", "٤", "4²", "04"),
    *("Yes", "no", "Agree", "disagree", "strongly-agree", "Strongly **Disagree**", "Neutral"),
    *("Neither agree nor disagree", "Good", "good enough", "somewhat agree", "N/A", "3-4", "80%"),
)
ratings = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(LEADS),
    st.sampled_from(VALUES),
    st.lists(st.sampled_from((*PIECES, *VALUES)), max_size=2).map("".join),
    st.sampled_from(TAILS),
)
texts = st.one_of(
    ratings,
    st.tuples(ratings, ratings).map("\n".join),
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=9).map("".join),
)
scales = st.sampled_from(SCALES)
policies = st.sampled_from(["first", "last", "unanimous"])
endings = st.sampled_from(["stop", "length"])
forms = st.sampled_from(["rating", "score"])


def menu_of(scale, policy="first", form="rating"):
    labels = scale_labels(scale)
    return Menu(labels=labels, option_ids=labels, form=form, reader=policy, scale=scale)


def read(text, scale, policy="first", ended="stop", form="rating"):
    return read_rating(text, finish_reason=ended, menu=menu_of(scale, policy, form))


def spelled(number: int) -> str:
    """English words of a number from 0 to 100, by a rule of the test's own."""
    if number == 100:
        return "hundred"
    if number < 20:
        return UNITS[number]
    ten, unit = divmod(number, 10)
    return TENS[ten - 2] + (f" {UNITS[unit]}" if unit else "")


def is_written(label: str, text: str) -> bool:
    """Whether a value stands in a text, sought from the value and not from the text."""
    text = text.translate(str.maketrans("０１２３４５６７８９．", "0123456789.")).casefold()
    if not re.fullmatch(r"-?[0-9.]+", label):
        parts = re.split(r"[\s-]+", label.casefold())
        others = {"neutral": ["neither", "agree", "nor", "disagree"]}
        spellings = [parts, others.get(label.casefold(), parts)]
        return any(re.search(r"[\s*_‐‑–-]*".join(each), text) for each in spellings)
    sign = r"[−-]" if label.startswith("-") else ""
    whole, _, rest = label.removeprefix("-").partition(".")
    fraction = rf"\.{rest}0*" if rest else r"(?:\.0+)?"
    lead = "0*" if whole != "0" or not rest else "0*(?<!\\d0)"
    found = re.search(rf"(?<![\d.]){sign}(?:{lead}{whole}){fraction}(?!\d|\.\d)", text)
    if found or (whole == "0" and re.search(rf"{sign}\.{rest}0*(?!\d)", text)):
        return True
    parts = {"5": "[½]| and a half", "25": "[¼]| and a quarter", "75": "[¾]"}.get(rest, "(?!)")
    if rest and re.search(rf"(?:{whole}|{spelled(int(whole))})(?:{parts})", text):
        return True
    words = spelled(int(whole)).replace(" ", "[ -]")
    words += " point " + " ".join(UNITS[int(digit)] for digit in rest) if rest else ""
    said = "(?:minus|negative) +" if sign else ""
    return re.search(rf"(?<![a-z])(?<!ty[ -]){said}{words}(?![a-z])", text) is not None


@pytest.mark.slow
@settings(max_examples=300)
@given(texts, scales, policies, endings, forms)
def test_reading_is_total_and_says_either_a_value_or_why_not(text, scale, policy, ended, form):
    rating = read(text, scale, policy, ended, form)
    assert rating == read(text, scale, policy, ended, form)
    if rating.outcome is Outcome.SCORED:
        assert score_of(rating.label, scale) == rating.score
    else:
        assert (rating.label, rating.score) == (None, None)
    assert rating.outcome is not Outcome.FAILED
    if rating.outcome is Outcome.TRUNCATED:
        assert ended == "length"
    if rating.outcome is Outcome.CONFLICTING:
        assert policy == "unanimous"


@pytest.mark.slow
@settings(max_examples=500)
@given(texts, scales, policies, endings, forms)
def test_no_reply_reads_as_a_value_that_is_not_written_in_it(text, scale, policy, ended, form):
    rating = read(text, scale, policy, ended, form)
    if rating.label is not None:
        assert is_written(rating.label, text)


def test_what_is_written_is_told_from_what_is_not():
    assert is_written("4", "a 4.0 it is")
    assert is_written("85", "eighty-five")
    assert is_written("3.5", "three and a half")
    assert is_written("Strongly Agree", "strongly-agree")
    assert not is_written("4", "14 or 40 or 4.5 or fourteen or twenty-four")
    assert not is_written("Strongly Agree", "agree")


WRAPPED = (
    *("{}", "{}.", "**{}**", "[[{}]]", "Rating: {}", "**Rating:** {}", "Rating: [[{}]]"),
    *("Rating: [{}]", "Rating: {}, since it holds.", "So.\n\nRating: {}\nIt holds.", "`{}`"),
)
FORM_WORDS = ("Rating", "Score", "Answer", "Evaluation score")


@given(scales, st.data(), st.sampled_from(WRAPPED), policies, st.sampled_from(FORM_WORDS))
def test_every_value_is_read_back_however_it_is_wrapped(scale, data, wrapped, policy, word):
    if scale.decimals:
        tenths = data.draw(st.integers(int(scale.lowest * 100), int(scale.highest * 100)))
        label = f"{Decimal(tenths) / 100:f}"
    else:
        label = data.draw(st.sampled_from(scale_labels(scale)))
    form = "rating" if word == "Rating" else "score"
    rating = read(wrapped.replace("Rating", word).format(label), scale, policy, form=form)
    assert rating.outcome is Outcome.SCORED
    assert rating.score == (float(label) if not scale.labels else scale.labels.index(label))


@given(st.integers(0, 100), st.sampled_from(WRAPPED), st.sampled_from([" ", "-"]), st.booleans())
def test_numbers_in_words_are_read_as_the_numbers_they_say(number, wrapped, between, upper):
    said = ("one " if number == 100 else "") + spelled(number)
    said = said.replace(" ", between) if number != 100 else said
    scale = next(scale for scale in SCALES if scale.name == "hundred")
    rating = read(wrapped.format(said.upper() if upper else said), scale)
    assert (rating.score, rating.label) == (number, str(number))


numbers = st.one_of(
    st.integers(-200, 3000).map(str),
    st.decimals(-20, 120, places=2, allow_nan=False).map("{:f}".format),
    st.from_regex(r"[0-9]{17,400}", fullmatch=True),
)


@given(numbers, st.sampled_from(NUMBERED), st.sampled_from(WRAPPED), policies)
def test_a_number_scores_exactly_where_the_scale_has_it(number, scale, wrapped, policy):
    rating = read(wrapped.format(number), scale, policy)
    value = Decimal(number)
    whole = scale.decimals or value == int(value)
    if scale.lowest <= value <= scale.highest and whole and len(number) < 16:
        assert rating.score == float(value)
    else:
        assert rating.outcome is Outcome.OFF_MENU


@given(
    st.integers(0, 12),
    st.integers(1, 120),
    st.sampled_from(["{}/{}", "{} / {}", "{} out of {}", "{} (out of {})", "**{}**/{}"]),
    st.sampled_from(["{}", "Rating: {}", "Rating: {}. It holds."]),
)
def test_a_fraction_scores_only_out_of_the_highest_of_its_scale(value, highest, form, wrapped):
    text = wrapped.format(form.format(value, highest))
    five, ten = (load_scale(name) for name in ("points5", "points10"))
    for scale in (five, ten):
        rating = read(text, scale)
        assert rating.score == (value if highest == scale.highest and rating.score else None)
        if not text.startswith("**"):
            on_it = highest == scale.highest and scale.lowest <= value <= scale.highest
            assert rating.outcome is (Outcome.SCORED if on_it else Outcome.OFF_MENU)


@pytest.mark.slow
@given(texts, st.sampled_from(SCALES))
def test_a_number_is_never_a_word_and_a_word_never_a_number(text, scale):
    assume(
        not re.search(r"[\d½]|" + "|".join((*UNITS, *TENS, "hundred", "ſ")), text, re.IGNORECASE)
    )
    assert scale.labels or read(text, scale).outcome is not Outcome.SCORED


@pytest.mark.slow
@settings(max_examples=200)
@given(texts, st.sampled_from(SCALES), st.data(), texts)
def test_stopping_early_changes_no_reading(before, scale, data, after):
    stops = stop_strings(menu_of(scale))
    assume(stops)
    text = before + data.draw(st.sampled_from(stops)) + after
    end = min(text.find(stop) + len(stop) for stop in stops if stop in text)
    assert read(text[:end], scale) == read(text, scale)


@pytest.mark.slow
@settings(max_examples=200)
@given(texts, scales, policies, endings, st.integers(0, 80), forms)
def test_what_is_settled_early_stays(text, scale, policy, ended, cut, form):
    menu = menu_of(scale, policy, form)
    settled = settled_reading(text[:cut], finish_reason=None, menu=menu)
    if settled is not None:
        assert read_verdict(text, finish_reason=ended, menu=menu) == settled


def test_a_list_that_goes_on_behind_a_later_rating_changes_no_earlier_one():
    text = "Rating: 1. It is harmful.\nRating: [[2]]\n2. It is long."
    stopped = text[: text.index("]]") + 2]
    assert read(stopped, load_scale("points5")).label == "1"
    assert read(text, load_scale("points5")).label == "1"


def test_a_decimal_scale_has_no_stop_strings_and_its_labels_are_not_listed():
    seven = next(scale for scale in SCALES if scale.decimals)
    assert stop_strings(menu_of(seven)) == ()
    assert stop_strings(menu_of(load_scale("binary"))) == ("Rating: [[No]]", "Rating: [[Yes]]")
    assert stop_strings(menu_of(load_scale("binary"), "last")) == ()


def test_a_score_without_brackets_has_no_end_to_stop_at():
    ten = menu_of(load_scale("points10"), form="score")
    assert stop_strings(ten) == ()
    assert settled_reading("Score: 1", finish_reason=None, menu=ten) is None
    assert read("Score: 10", load_scale("points10"), form="score").label == "10"


def test_a_request_that_never_succeeded_is_failed_and_no_text_is_unparsed():
    five = load_scale("points5")
    assert read("Rating: 4", five, ended="refused: too long").outcome is Outcome.FAILED
    assert read(None, five).outcome is Outcome.UNPARSED


def test_a_rating_needs_a_scale_the_form_and_a_policy_of_the_house():
    five = load_scale("points5")
    with pytest.raises(SweepError, match="got form 'rating' without a scale"):
        read_rating("4", finish_reason="stop", menu=Menu(labels=(), option_ids=(), form="rating"))
    other = Menu(labels=(), option_ids=(), form="best_response", scale=five)
    with pytest.raises(SweepError, match="got form 'best_response'"):
        read_rating("4", finish_reason="stop", menu=other)
    with pytest.raises(SweepError, match=r"schroeder2024 knows no rating, expected first, last"):
        read("4", five, "schroeder2024")
    with pytest.raises(SweepError, match="needs a scale"):
        read_verdict("4", finish_reason="stop", menu=Menu(labels=(), option_ids=(), form="rating"))


def test_the_whole_form_is_the_one_templates_ask_for():
    assert FORMS["rating"].complete("4") == "Rating: [[4]]"


@pytest.mark.parametrize(
    "text",
    [
        "Rating: " * 5_000,
        "Rating: 4 " * 5_000,
        "Rating: 1. a\n" * 3_000,
        "Rating:" + " " * 100_000 + "[[4]]",
        "Rating: 4" + " " * 100_000,
        "Rating: " + "4, " * 10_000,
        "Rating: [[4]]" + ", [[4]]" * 6_000 + ".",
        "Rating: " + "9" * 100_000,
        "9" * 100_000,
        "Rating: [[" * 5_000,
        "[" * 50_000,
        "I cannot " * 6_000,
        "neither agree nor " * 5_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.slow
def test_long_replies_are_read_in_time(text):
    for scale in (load_scale("points5"), load_scale("likert5")):
        for ended in ("stop", "length"):
            assert read(text, scale, "unanimous", ended).outcome is not Outcome.FAILED


GERMAN = Scale(name="de", level="ordinal", labels=("Stimme nicht zu", "Stimme völlig zu", "groß"))
HINDI = Scale(name="hi", level="ordinal", labels=("असहमत", "सहमत"))
CHINESE = Scale(name="zh", level="ordinal", labels=("不同意", "同意", "非常同意"))


@pytest.mark.parametrize(
    ("scale", "text", "label"),
    [
        # One letter or a letter and its mark: the same word.
        (GERMAN, "Rating: [[Stimme vo\u0308llig zu]]", "Stimme völlig zu"),
        (GERMAN, "stimme vo\u0308llig zu.", "Stimme völlig zu"),
        (GERMAN, "Rating: STIMME VÖLLIG ZU", "Stimme völlig zu"),
        (GERMAN, "Rating: GROSS", "groß"),
        (CHINESE, "Rating: 非常同意。", "非常同意"),
        (CHINESE, "同意。", "同意"),
        (CHINESE, "Rating：不同意！因为它太长。", "不同意"),
        (HINDI, "Rating: [[सहमत]]", "सहमत"),
        (HINDI, "Rating: असहमत।", "असहमत"),
        # A vowel sign more is another word.
        (HINDI, "Rating: सहमति", None),
        (CHINESE, "Rating: 同意、不同意", None),
    ],
)
def test_words_of_other_scripts_are_read_as_they_are_written(scale, text, label):
    found = read(text, scale)
    assert found.label == label
    assert (found.outcome is Outcome.SCORED) == (label is not None)
