"""The shipped folder: small, complete, in step with the scripts that made it."""

from __future__ import annotations

import json

import pytest

from demo.judge_design import GOOD_WORDS, JUDGE_FOLDER, LETTERS, design_record
from demo.judge_tokenizer import WORD_TOKENS, vocabulary


def test_weights_are_well_under_a_megabyte() -> None:
    weights = list(JUDGE_FOLDER.glob("*.safetensors"))
    assert [path.name for path in weights] == ["model.safetensors"]
    assert weights[0].stat().st_size < 1_000_000


def test_folder_holds_what_an_engine_needs() -> None:
    names = {path.name for path in JUDGE_FOLDER.iterdir()}
    assert {"config.json", "tokenizer.json", "tokenizer_config.json", "design.json"} <= names


def test_shipped_design_is_the_one_of_the_scripts() -> None:
    assert json.loads((JUDGE_FOLDER / "design.json").read_text()) == design_record()


@pytest.mark.slow
def test_shipped_tokenizer_is_the_one_of_the_scripts(judge) -> None:
    assert judge.tokenizer.get_vocab() == vocabulary()
    assert judge.model.config.vocab_size == len(vocabulary())


@pytest.mark.slow
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("reason", ["clear.", "tidy and sound."])
def test_form_round_trips_exactly(judge, letter, reason) -> None:
    reply = f"Best Response: [[{letter}]]\nIt is {reason}"
    ids = judge.tokenizer.encode(reply, add_special_tokens=False)
    assert judge.tokenizer.decode(ids) == reply
    assert len(ids) == 8


@pytest.mark.slow
def test_reply_without_verdict_round_trips(judge) -> None:
    ids = judge.tokenizer.encode("No verdict can be given.", add_special_tokens=False)
    assert judge.tokenizer.decode(ids) == "No verdict can be given."


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["Best Response: [[", "Best Response: [[B"])
def test_begun_form_is_a_prefix_of_the_whole(judge, prefix) -> None:
    whole = judge.tokenizer.encode("Best Response: [[B]]", add_special_tokens=False)
    begun = judge.tokenizer.encode(prefix, add_special_tokens=False)
    assert begun == whole[: len(begun)]
    assert judge.tokenizer.decode(begun) == prefix


@pytest.mark.slow
def test_letter_by_itself_is_one_token(judge) -> None:
    ids = [judge.tokenizer.encode(letter, add_special_tokens=False) for letter in LETTERS]
    assert [len(each) for each in ids] == [1] * len(LETTERS)


@pytest.mark.slow
def test_unknown_text_is_not_heard(judge) -> None:
    text = "A clear-cut, inaccurate and It is fine. Best of (A), [B] or D; Clearly Wrong."
    assert judge.tokenizer.encode(text, add_special_tokens=False) == []


@pytest.mark.slow
def test_quality_words_are_heard_in_any_order_and_number(judge) -> None:
    ids = judge.tokenizer.encode("so clear, so clear and sound!", add_special_tokens=False)
    vocab = vocabulary()
    assert ids == [vocab[WORD_TOKENS[word]] for word in ("clear", "clear", "sound")]
    assert set(WORD_TOKENS) > set(GOOD_WORDS)
