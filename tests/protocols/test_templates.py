from pathlib import Path

import pytest

from judgerel_ray.core import Item, SweepError
from judgerel_ray.core.traits import SHIPPED as PROTOCOLS
from judgerel_ray.protocols import load_template, shipped_templates
from judgerel_ray.protocols.prompts import render_correctness
from judgerel_ray.protocols.registry import protocol_named

SHIPPED = [(protocol, name) for protocol in PROTOCOLS for name in shipped_templates(protocol)]
BEST_OF_SETTINGS = 'form = "best_response"\nverdict = "first"\n'


def folder_with(parent: Path, **files: str) -> Path:
    folder = parent / "mine"
    folder.mkdir()
    for name, text in files.items():
        suffix = ".toml" if name == "template" else ".txt"
        (folder / f"{name}{suffix}").write_text(text, encoding="utf-8")
    return folder


def test_every_protocol_ships_a_default():
    assert set(SHIPPED) == {
        ("respond", "default"),
        ("best_of", "default"),
        ("best_of", "paraphrase"),
        ("best_of", "reason_first"),
        ("correctness", "default"),
        ("confusion", "default"),
        ("rating", "default"),
        ("rating", "lee2025"),
        ("rating", "paraphrase"),
        ("rating", "reason_first"),
        ("rating", "terse"),
        ("think_twice", "default"),
        ("think_twice", "paraphrase"),
    }


@pytest.mark.parametrize(("protocol", "name"), SHIPPED)
def test_a_shipped_template_has_a_text_for_every_question_form(protocol, name):
    template = load_template(protocol, name)
    assert set(template.texts) == set(protocol_named(protocol).texts)
    assert {"question", "context"} <= set(template.texts)
    assert (template.name, template.protocol) == (name, protocol)
    assert all(text and not text.endswith("\n") for text in template.texts.values())


def test_the_declared_forms_of_the_shipped_templates():
    forms = {key: (load_template(*key).form, load_template(*key).verdict_first) for key in SHIPPED}
    assert forms == {
        ("respond", "default"): (None, False),
        ("best_of", "default"): ("best_response", True),
        ("best_of", "paraphrase"): ("best_response", True),
        ("best_of", "reason_first"): ("best_response", False),
        ("correctness", "default"): ("correctness", True),
        ("confusion", "default"): ("best_response", True),
        ("rating", "default"): ("rating", True),
        ("rating", "lee2025"): ("score", True),
        ("rating", "paraphrase"): ("rating", True),
        ("rating", "reason_first"): ("rating", False),
        ("rating", "terse"): ("rating", True),
        ("think_twice", "default"): ("correct_answer", False),
        ("think_twice", "paraphrase"): ("correct_answer", False),
    }


@pytest.mark.parametrize("name", ["default", "paraphrase", "reason_first"])
def test_every_best_of_text_asks_for_the_declared_form(name):
    for text in load_template("best_of", name).texts.values():
        assert '"Best Response: [[letter]]"' in text
        assert text.endswith("Responses:\n\n{responses}")


def test_templates_differ_in_their_hash():
    assert len({load_template(*key).sha for key in SHIPPED}) == len(SHIPPED)


def test_a_folder_is_named_after_its_base_name(tmp_path):
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS, question="{question} {responses}")
    template = load_template("best_of", f"{folder}/")
    assert (template.name, dict(template.texts)) == (
        "mine",
        {"question": "{question} {responses}"},
    )


def test_a_folder_without_a_separator_is_found_where_the_sweep_runs(tmp_path, monkeypatch):
    folder_with(tmp_path, template=BEST_OF_SETTINGS, question="{question} {responses}")
    monkeypatch.chdir(tmp_path)
    assert load_template("best_of", "mine").name == "mine"


def test_a_folder_does_not_hide_a_shipped_name(tmp_path, monkeypatch):
    (tmp_path / "default").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_template("best_of", "default").form == "best_response"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("template", 'form = "best_response"\nverdict = "last"\n'),
        ("question", "{responses}{question}"),
    ],
)
def test_the_hash_follows_every_file(tmp_path, name, text):
    files = {"template": BEST_OF_SETTINGS, "question": "{question} {responses}"}
    folder = folder_with(tmp_path, **files)
    before = load_template("best_of", str(folder)).sha
    (folder / f"{name}{'.toml' if name == 'template' else '.txt'}").write_text(text)
    assert load_template("best_of", str(folder)).sha != before


def test_the_hash_does_not_know_the_newlines_of_an_editor(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = folder_with(tmp_path / "a", template=BEST_OF_SETTINGS, question="{question}\n{responses}")
    two = folder_with(tmp_path / "b", template=BEST_OF_SETTINGS)
    (two / "question.txt").write_bytes(b"{question}\r\n{responses}\r\n")
    assert load_template("best_of", str(one)).sha == load_template("best_of", str(two)).sha


def test_verdict_last_is_kept(tmp_path):
    settings = 'form = "best_response"\nverdict = "last"\n'
    folder = folder_with(tmp_path, template=settings, question="{question} {responses}")
    assert load_template("best_of", str(folder)).verdict_first is False


def test_a_missing_text_is_an_error_only_when_it_is_needed(tmp_path):
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS, question="{question} {responses}")
    template = load_template("best_of", str(folder))
    assert template.text("question") == "{question} {responses}"
    with pytest.raises(SweepError, match=r"expected dialogue\.txt, got question\.txt"):
        template.text("dialogue")


def test_an_unknown_name_lists_the_shipped_ones_and_suggests_the_nearest():
    with pytest.raises(
        SweepError, match=r"default, paraphrase, reason_first .*'paraphrse'"
    ) as caught:
        load_template("best_of", "paraphrse")
    assert caught.value.hint == "did you mean 'paraphrase'?"


def test_an_unknown_protocol_suggests_the_nearest():
    with pytest.raises(SweepError, match="respond, best_of, correctness") as caught:
        load_template("best_off", "default")
    assert caught.value.hint == "did you mean 'best_of'?"


def test_a_missing_folder_is_named():
    with pytest.raises(SweepError, match=r"template folder not found: '\./no/such'"):
        load_template("best_of", "./no/such")


def test_an_empty_name_is_no_folder():
    with pytest.raises(SweepError, match="unknown template"):
        load_template("best_of", "")


def test_an_unknown_placeholder_names_file_placeholder_and_the_known_ones(tmp_path):
    folder = folder_with(
        tmp_path, template=BEST_OF_SETTINGS, question="{questoin} {question} {responses}"
    )
    with pytest.raises(SweepError) as caught:
        load_template("best_of", str(folder))
    assert str(caught.value) == (
        "unknown placeholder {questoin}, known here: {question}, {responses} "
        f"[file={folder / 'question.txt'}]. Try: did you mean 'question'?"
    )


def test_a_text_that_would_not_show_the_responses_is_refused(tmp_path):
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS, question="{question}")
    with pytest.raises(SweepError, match=r"lacks \{responses\}"):
        load_template("best_of", str(folder))


def test_doubled_braces_are_no_placeholder(tmp_path):
    text = "{question} {responses} {{reason}}"
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS, question=text)
    assert load_template("best_of", str(folder)).text("question") == text


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ('from = "best_response"', "unknown key, expected form, verdict, got 'from'"),
        ('criterion = "name"', "unknown key, expected form, verdict, got 'criterion'"),
        ("form = [", "not a TOML file"),
        ("form = 3", "form must be text, got 3"),
        ('form = "best_response"', "verdict must be 'first' or 'last', got None"),
        ('form = "best_response"\nverdict = "frist"', "must be 'first' or 'last', got 'frist'"),
    ],
)
def test_wrong_settings_are_named(tmp_path, settings, problem):
    folder = folder_with(tmp_path, template=settings, question="{question} {responses}")
    with pytest.raises(SweepError, match=problem) as caught:
        load_template("best_of", str(folder))
    assert caught.value.where["file"] == folder / "template.toml"


def test_a_folder_without_settings_is_refused(tmp_path):
    folder = folder_with(tmp_path, question="{question} {responses}")
    with pytest.raises(SweepError, match=r"lacks template\.toml"):
        load_template("best_of", str(folder))


def test_a_folder_without_texts_is_refused(tmp_path):
    with pytest.raises(SweepError, match="has no text"):
        load_template("best_of", str(folder_with(tmp_path, template=BEST_OF_SETTINGS)))


def test_a_misspelt_text_file_is_refused(tmp_path):
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS, qestion="{question} {responses}")
    with pytest.raises(SweepError, match=r"got 'qestion\.txt'") as caught:
        load_template("best_of", str(folder))
    assert caught.value.hint == "did you mean 'question'?"


def test_a_text_of_another_encoding_is_refused(tmp_path):
    folder = folder_with(tmp_path, template=BEST_OF_SETTINGS)
    (folder / "question.txt").write_bytes(b"{question} {responses} \xff")
    with pytest.raises(SweepError, match="not UTF-8"):
        load_template("best_of", str(folder))


@pytest.mark.parametrize(("text", "whole"), [("{prediction}\n", True), ("See {prediction}", False)])
def test_a_recorded_prompt_is_asked_as_it_is(tmp_path, text, whole):
    folder = folder_with(
        tmp_path, template='form = "correctness"\nverdict = "last"\n', question=text
    )
    if not whole:
        with pytest.raises(SweepError, match=r"text lacks \{question\}, \{ground_truth\}"):
            load_template("correctness", str(folder))
        return
    item = Item(item_id="q", benchmark="log", category="log", question="?", gold="x")
    prompt = " Is {it} right?\n"
    template = load_template("correctness", str(folder))
    assert render_correctness(template, item, prompt)[0].content == prompt
