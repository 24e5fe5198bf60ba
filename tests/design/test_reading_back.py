"""A form passes the check exactly where every word, written by its example, is read back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.config import ask_table
from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.design import AskFrame, check_own_forms
from judgerel_ray.engines.simulated.replies import own_reply
from judgerel_ray.protocols import Template, fill_example, read_verdict
from judgerel_ray.protocols.best_of.protocol import best_of_menu
from judgerel_ray.protocols.replies.own_forms import own_form

TABLES = [
    {"pattern": r"\[\[(?P<verdict>[^\]]+)\]\]", "example": "It is [[{verdict}]]."},
    {"pattern": r"(?m)^Answer: (?P<verdict>.*)$", "example": "So.\nAnswer: {verdict}\nDone."},
    {"pattern": r"(?P<verdict>\w+)\W*\z", "example": "My verdict: {verdict}"},
    {"json": "a[0].winner", "example": '{"a": [{"winner": "{verdict}", "why": "so"}]} ok'},
]
words = st.text(st.sampled_from(list("AaBb1 .*+?()[]{}|^$\\\"'`-_#<>/éß")), min_size=1, max_size=5)
readers = st.sampled_from(["first", "last", "unanimous"])


def frame_of(table, names, tie, reader):
    """An ask about one item, by a template with that form; None where words clash."""
    try:
        own = own_form({**table, "options": names, "tie": tie}, protocol="best_of", where={})
    except SweepError:
        return None
    options = tuple(Option(option_id=f"o{i}", text=f"{i}") for i in range(len(names)))
    item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    template = Template(
        name="t", protocol="best_of", form="own", verdict_first=False, texts={}, sha="", own=own
    )
    ask = ask_table(protocol="best_of", benchmark="b", path="p", reader=reader)
    return AskFrame(index=0, ask=ask, items=(item,), templates=(template,), judges=())


@settings(max_examples=300)
@given(st.sampled_from(TABLES), st.lists(words, min_size=2, max_size=4), words, readers)
def test_what_passes_is_read_back_and_what_is_refused_is_not(table, names, tie, reader):
    frame = frame_of(table, names, tie, reader)
    if frame is None:
        return
    menu = best_of_menu(frame, frame.templates[0], frame.items[0].options)
    replies = [own_reply(label, menu) for label in menu.labels]
    assert replies == [fill_example(menu.own, word) for (word,) in menu.words]
    found = [read_verdict(one, finish_reason="stop", menu=menu).label for one in replies]
    refused = None
    try:
        check_own_forms(frame)
    except SweepError as error:
        refused = str(error)
    assert (refused is None) == (tuple(found) == menu.labels)
    assert "\n" not in (refused or "")
