"""Replies as judges write them, and what each policy reads from them.

Every row gives the reading by first, last, unanimous and schroeder2024: a label, or
``-`` unparsed, ``!`` conflicting, ``off`` off the menu, ``no`` refused, ``cut`` truncated.
"""

import pytest

from judgerel_ray.core import Menu
from judgerel_ray.protocols import read_verdict

POLICIES = ("first", "last", "unanimous", "schroeder2024")
OUTCOMES = {
    "-": "unparsed",
    "!": "conflicting",
    "off": "off_menu",
    "no": "refused",
    "cut": "truncated",
}

LETTERS = [
    # The form as it was asked for, and what writers make of it.
    ("Best Response: [[B]]", "B B B B"),
    ("Best Response: [[B]]\n\nIt is the only one that adds up.", "B B B B"),
    ("Best Response: [[B]]Explanation: it adds up.", "B B B B"),
    ("My pick follows.\n\nBest Response: [[E]]", "E E E E"),
    ("best response: [[b]]", "B B B -"),
    ("BEST RESPONSE: [[B]]", "B B B -"),
    ("Best response: [[B]]", "B B B -"),
    ("Best  Response : [[B]]", "B B B -"),
    ("Best\nResponse: [[B]]", "B B B -"),
    ("Best Response:[[B]]", "B B B B"),
    ("Best Response:\n[[B]]", "B B B B"),
    ("Best Response:\n\n  [[ B ]]", "B B B B"),
    ("Best Response: [[\nB\n]]", "B B B B"),
    ("Best Response: [ [B] ]", "B B B B"),
    ("Best Response： [[B]]", "B B B -"),
    ("**Best Response:** [[B]]", "B B B B"),
    ("**Best Response**: [[B]]", "B B B -"),
    ("**Best Response: [[B]]**", "B B B B"),
    ("Best Response: **[[B]]**", "B B B B"),
    ("Best Response: [[**B**]]", "B B B B"),
    ("Best Response: **B**", "B B B B"),
    ("Best Response: *B*.", "B B B B"),
    ("Best Response: `[[B]]`", "B B B B"),
    ("Best Response: `B`", "B B B B"),
    ('Best Response: "[[B]]"', "B B B B"),
    ('"Best Response: [[B]]"', "B B B B"),
    ("Best Response: \\[\\[B\\]\\]", "B B B B"),
    ("## Best Response: [[B]]", "B B B B"),
    ("Best Response:\n> B", "B B B B"),
    ("Best Response:\n- [B]: the text of it", "B B B B"),
    ("<b>Best Response:</b> [D]", "D D D B"),
    ("Best Response: <strong>B</strong>", "B B B -"),
    # One bracket, none, or an odd one.
    ("Best Response: [B]", "B B B B"),
    ("Best Response: [B]: it adds up", "B B B B"),
    ("Best Response: [B]. It adds up", "B B B B"),
    ("Best Response: [B]Explanation: it adds up", "B B B B"),
    ("Best Response: (B) Paris", "B B B B"),
    ("Best Response: B) Paris", "B B B B"),
    ("Best Response: {B}", "B B B B"),
    ("Best Response: [[B]", "B B B B"),
    ("Best Response: [B", "B B B B"),
    ("Best Response: B]\n", "B B B B"),
    ("Best Response: B", "B B B B"),
    ("Best Response: b", "B B B B"),
    ("Best Response: B.", "B B B B"),
    ("Best Response: B. It adds up.", "B B B B"),
    ("Best Response: B, since it adds up.", "B B B B"),
    ("Best Response: B\nit adds up", "B B B B"),
    ("Best Response: B: it adds up", "B B B B"),
    ("Best Response: B - it adds up", "B B B B"),
    ("Best Response: B — it adds up", "B B B B"),
    ("Best Response: B (the second one)", "B B B B"),
    ("Best Response: B because it adds up", "B B B B"),
    ("Best Response: A is the most accurate", "A A A A"),
    ("Best Response: A Explanation: it adds up", "A A A A"),
    ("Best Response: [[Response B]]", "B B B -"),
    ("Best Response: [[option b]]", "B B B -"),
    # What looks like a letter and is none.
    ("Best Response: Explanation: none was given", "- - - E"),
    ("Best Response: Better is the second", "- - - B"),
    ("Best Response: A short proof wins", "- - - A"),
    ("Best Response: a short proof wins", "- - - A"),
    ("Best Response: e.g. the second one", "- - - E"),
    ("Best Response: c'est la vie", "- - - C"),
    ("Best Response: A's proof", "- - - A"),
    ("Best Response: A+", "- - - A"),
    ("Best Response: C++ code", "- - - C"),
    ("Best Response: Bob wrote it", "- - - B"),
    ("Best Response: AExplanation", "- - - A"),
    ("Best Response: I think the last one", "- - - -"),
    ("Best Response: the second", "- - - -"),
    ("Best Response: Please see above", "- - - -"),
    ("Best Response: [[]]", "- - - -"),
    ("Best Response:", "- - - -"),
    ("Best Response", "- - - -"),
    ("Best Response is [[B]]", "- - - -"),
    ("Best Response [[B]]", "- - - -"),
    ("The best response is B.", "- - - -"),
    ("Response B is the best.", "- - - -"),
    ("[[B]]", "- - - -"),
    ("B", "- - - -"),
    ("Worst Response: [[B]]", "- - - -"),
    ("Best Reply: [[B]]", "- - - -"),
    ("[F]: a further answer\n[G]: and another", "- - - -"),
    ("", "- - - -"),
    ("   \n", "- - - -"),
    # The form quoted, not used.
    ('Best Response: [[letter]]". Question: what is next?', "- - - -"),
    ("Best Response: [[Letter]]", "- - - -"),
    ("Best Response: [[Best Response Letter]]", "- - - B"),
    ("Best Response: [[letter of the best response]]", "- - - -"),
    ('I must write "Best Response: [[letter]]".\nBest Response: [[C]]', "C C C C"),
    ("Best Response: [[letter]]\nBest Response: [[letter]]", "- - - -"),
    # Off the menu: never skipped for a later letter.
    ("Best Response: [[F]]", "off off off -"),
    ("Best Response: [F]. The argument holds.", "off off off -"),
    ("Best Response: (I) mauve.", "off off off -"),
    ("Best Response: F", "off off off -"),
    ("Best Response: [[AA]]", "off off off A"),
    ("Best Response: [[3]]", "off off off -"),
    ("Best Response: 3", "off off off -"),
    ("Best Response: [[None]]", "off off off -"),
    ("Best Response: None of them is right", "off off off -"),
    ("Best Response: [[None of the above]]", "off off off -"),
    ("Best Response: [[Tie]]", "off off off -"),
    ("Best Response: Both A and C are right", "off off off B"),
    ("Best Response: [[F]]\nBest Response: [[B]]", "off B ! B"),
    ("Best Response: [[B]]\nBest Response: [[F]]", "B off ! B"),
    ("Best Response: [[F]]\nBest Response: [[F]]", "off off off -"),
    # Several labels in one statement.
    ("Best Response: [[A, B]]", "off off ! A"),
    ("Best Response: [[A/B]]", "off off ! A"),
    ("Best Response: [A] and [B]", "off off ! A"),
    ("Best Response: A and B are equal", "off off ! A"),
    ("Best Response: [A], [B]", "off off ! A"),
    ("Best Response: B, A is wrong.", "B B B B"),
    ("Best Response: [B], A's proof fails.", "B B B B"),
    ("Best Response: A/B", "off off ! A"),
    ("Best Response: A and B", "off off ! A"),
    ("Best Response: A or B.", "off off ! A"),
    ("Best Response: B & D.", "off off ! B"),
    ("Best Response: A, B, and C.", "off off ! A"),
    ("Best Response: B and it is short", "B B B B"),
    ("Best Response: B, a short proof", "B B B B"),
    # After the complete form only a policy of whole replies reads on: a stop ends the others there.
    ("Best Response: [[A]] and [[B]]", "A A ! A"),
    ("Best Response: [[A]] or [[B]]", "A A ! A"),
    ("Best Response: [[A]], or [[B]].", "A A ! A"),
    ("Best Response: [[A]]/[[B]]", "A A ! A"),
    ("Best Response: [[A]] / [[B]]", "A A ! A"),
    ("Best Response: [[A]], [[B]]", "A A ! A"),
    ("Best Response: [[A]], [[B]], and [[C]] are all right", "A A ! A"),
    ("Best Response: [[A]][[B]]", "A A ! A"),
    ("Best Response: [[A]] [[B]]", "A A ! A"),
    ("Best Response: [[A]]\n[[B]]", "A A ! A"),
    ("Best Response: [[A]]. [[B]].", "A A ! A"),
    ("Best Response: [[A]]; [[B]]", "A A ! A"),
    ("Best Response: [[A]] | [[B]]", "A A ! A"),
    ("Best Response: **[[A]]** or **[[B]]**", "A A ! A"),
    ("Best Response: [[A]] & [[B]] because both add up", "A A ! A"),
    ("Best Response: [[A]] (or [[B]])", "A A ! A"),
    ("Best Response: [[A]] or possibly [[B]]", "A A ! A"),
    ("Best Response: [[A]] as well as [[B]]", "A A ! A"),
    ("Best Response: [[A]] and [[B]] are equally good.", "A A ! A"),
    ("Best Response: [[A]] or B.", "A A ! A"),
    ("Best Response: [[A]] and [B], both add up", "A A ! A"),
    ("Best Response: [[A]] or [[F]]", "A A ! A"),
    ("Best Response: [[A]] or [[A]]", "A A A A"),
    ("Best Response: [[A]] [[A]]", "A A A A"),
    ("Best Response: [[A]] and a short proof", "A A A A"),
    ("Best Response: [[B]] and A short proof", "B B B B"),
    ("Best Response: [[A]]. [[B]] is vague.", "A A A A"),
    ("Best Response: [[A]], [[B]] is vague.", "A A A A"),
    ("Best Response: [[A]], and [[B]] is vague.", "A A A A"),
    ("Best Response: [[A]]\n[[B]]: vague\n[[C]]: wrong", "A A A A"),
    ("Best Response: [[A]]\n\nIt beats [[B]] and [[C]].", "A A A A"),
    ("Best Response: [[A]] is better than [[B]]", "A A A A"),
    ("Best Response: [[A]], not [[B]]", "A A A A"),
    ("Best Response: [[A]] or [[letter]]", "A A A A"),
    # Several statements.
    ("Best Response: [[A]]\nBest Response: [[B]]", "A B ! !"),
    ("Best Response: [[A]]\n...\nBest Response: [[A]]", "A A A A"),
    ("Best Response: [A]Best Response: [C]", "A C ! !"),
    ("Best Response: [[A]]\nOn reflection, best response: [[B]]", "A B ! A"),
    ("Best Response: A. Best Response: B. Best Response: A.", "A A ! !"),
    ("Best Response: Best Response: [[D]]", "D D D B"),
    ("Best Response: Response C\nBest Response: [[D]]", "D D D D"),
    # Refused.
    ("I cannot judge these responses.", "no no no -"),
    ("I can't evaluate content of this kind.", "no no no -"),
    ("I can’t help with that.", "no no no -"),
    ("I'm sorry, but I can't assist with that request.", "no no no -"),
    ("I am sorry, but I cannot choose between them.", "no no no -"),
    ("Sorry, I cannot do that.", "no no no -"),
    ("I apologize, but I am unable to rank these.", "no no no -"),
    ("I'm unable to provide a judgment.", "no no no -"),
    ("I'm sorry, but I can't.", "no no no -"),
    ("I cannot.", "no no no -"),
    ("Unfortunately, I am not able to decide.", "no no no -"),
    ("I must decline to judge this.", "no no no -"),
    ("As an AI language model, I cannot choose a best response.", "no no no -"),
    ("As an AI, I am unable to judge.", "no no no -"),
    ("As an AI developed to help, I don't have opinions and am unable to judge.", "no no no -"),
    ("**I cannot evaluate these.**", "no no no -"),
    # Not refused: a verdict, or something said on the way to none.
    ("I cannot judge them fully, but\nBest Response: [[C]]", "C C C C"),
    ("I cannot find an error in any of the responses.", "- - - -"),
    ("I cannot stress enough how good the second one is.", "- - - -"),
    ("As an AI enthusiast would say, the second.", "- - - -"),
    ("Response A says: I cannot help with that.", "- - - -"),
    ("The model wrote that it is sorry.", "- - - -"),
]

CUT_OFF = [
    ("Best Response: [[B]]", "B cut cut B"),
    ("Best Response: [[B]] It has", "B cut cut B"),
    ("Best Response: [B]", "B cut cut B"),
    ("Best Response: B because", "B cut cut B"),
    ("Best Response: B\n", "B cut cut B"),
    ("Best Response: [[F]] It", "off cut cut -"),
    ("The first response", "cut cut cut -"),
    ("", "cut cut cut -"),
    ("Best", "cut cut cut -"),
    ("Best Response", "cut cut cut -"),
    ("Best Response:", "cut cut cut -"),
    ("Best Response: [[", "cut cut cut -"),
    ("Best Response: [[B", "cut cut cut B"),
    ("Best Response: [[A", "cut cut cut A"),
    ("Best Response: [B", "cut cut cut B"),
    ("Best Response: B", "cut cut cut B"),
    ("Best Response: **B", "cut cut cut B"),
    ("I cannot judge these", "cut cut cut -"),
    ("Best Response: [[A]] No.\nBest Response: [[", "A cut cut A"),
    ("Best Response: [[A]] No.\nBest Response: B", "A cut cut !"),
    ("Best Response: [[A]] No.\nBest Response: [[B]]", "A cut ! !"),
    ("Best Response: [[A]]. Best Response: [[B]]. Best Response: [", "A cut ! !"),
    ("Best Response: [[A]] as in Best Response: [[letter]]", "A cut cut A"),
]

CORRECTNESS = [
    ("correct", "correct correct correct correct"),
    ("incorrect", "incorrect incorrect incorrect incorrect"),
    ("Correct.", "correct correct correct correct"),
    ("INCORRECT", "incorrect incorrect incorrect incorrect"),
    ("**Correct**", "correct correct correct correct"),
    ('"incorrect"', "incorrect incorrect incorrect incorrect"),
    ("[[correct]]", "correct correct correct correct"),
    ("Correctness: correct", "correct correct correct correct"),
    ("The prediction is correct.", "correct correct correct correct"),
    ("The prediction is incorrect: it names Rome.", "incorrect incorrect incorrect incorrect"),
    ("100% correct", "correct correct correct correct"),
    (
        "The prediction does not match, so it is incorrect.",
        "incorrect incorrect incorrect incorrect",
    ),
    ("It does not match the truth and is incorrect.", "incorrect incorrect incorrect incorrect"),
    ("Incorrect. The correct answer is Rome.", "incorrect incorrect incorrect incorrect"),
    ("The correct answer is Rome, so: incorrect", "incorrect incorrect incorrect incorrect"),
    ("Correct answer: Rome. Verdict: incorrect", "incorrect incorrect incorrect incorrect"),
    ("incorrect\ncorrect", "incorrect correct ! incorrect"),
    ("correct at first sight, but incorrect", "correct incorrect ! incorrect"),
    ("not correct", "- - - correct"),
    ("It isn't correct.", "- - - correct"),
    ("It isn’t quite correct.", "- - - correct"),
    ("It is not entirely correct", "- - - correct"),
    ("It cannot be considered correct", "- - - correct"),
    ("I don't think the prediction is correct", "- - - correct"),
    ("not incorrect", "- - - incorrect"),
    ("partially correct", "- - - correct"),
    ("Is this correct?", "- - - correct"),
    ("Is it correct or incorrect?", "- - - incorrect"),
    ('I answer "correct" or "incorrect".', "- - - incorrect"),
    ("Let me see whether the prediction is correct.", "- - - correct"),
    ("Correctness:", "- - - correct"),
    ("It was answered correctly.", "- - - correct"),
    ("incorrectly", "- - - incorrect"),
    ("auto-correct", "- - - correct"),
    ("2019", "- - - -"),
    ("", "- - - -"),
    ("I cannot judge this.", "no no no -"),
]


def cases(rows):
    return [
        pytest.param(text, policy, expected, id=f"{number}-{policy}")
        for number, (text, readings) in enumerate(rows)
        for policy, expected in zip(POLICIES, readings.split(), strict=True)
    ]


def shown(text: str, finish_reason: str, menu: Menu) -> str:
    reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
    assert (reading.label is not None) == (reading.outcome == "scored")
    return reading.label or reading.outcome.value


@pytest.mark.parametrize(("text", "policy", "expected"), cases(LETTERS))
def test_a_whole_reply(text, policy, expected):
    menu = Menu(
        labels=tuple("ABCDE"), option_ids=tuple("vwxyz"), form="best_response", reader=policy
    )
    assert shown(text, "stop", menu) == OUTCOMES.get(expected, expected)


@pytest.mark.parametrize(("text", "policy", "expected"), cases(CUT_OFF))
def test_a_reply_that_was_cut_off(text, policy, expected):
    menu = Menu(
        labels=tuple("ABCDE"), option_ids=tuple("vwxyz"), form="best_response", reader=policy
    )
    assert shown(text, "length", menu) == OUTCOMES.get(expected, expected)


@pytest.mark.parametrize(("text", "policy", "expected"), cases(CORRECTNESS))
def test_a_word_of_correctness(text, policy, expected):
    labels = ("correct", "incorrect")
    menu = Menu(labels=labels, option_ids=labels, form="correctness", reader=policy)
    assert shown(text, "stop", menu) == OUTCOMES.get(expected, expected)


def test_the_replies_are_many_and_no_two_the_same():
    texts = [text for rows in (LETTERS, CUT_OFF, CORRECTNESS) for text, _ in rows]
    assert len(texts) >= 120
    for rows in (LETTERS, CUT_OFF, CORRECTNESS):
        assert len({text for text, _ in rows}) == len(rows)
