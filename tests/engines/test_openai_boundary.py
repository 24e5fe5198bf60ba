"""What a server sends: no key, in no spelling and at no cut, and only what tables can hold."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from functools import reduce
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.core import EngineError
from judgerel_ray.engines.openai.boundary import (
    LEAST,
    Boundary,
    finite_logprob,
    int32_count,
    is_placeholder_key,
)

KEY = "sk-9dK2+mQ7vTz/41Xw8Rb3Lp"
ODD_KEY = 'sk-"9dK2\\mQ7/vTz41'
SPELLINGS = {
    "plain": str,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "base64": lambda part: b64encode(part.encode()).decode(),
    "base64 second": lambda part: b64encode(b"x" + part.encode()).decode(),
    "base64 third": lambda part: b64encode(b"xy" + part.encode() + b"z").decode(),
    "base64 url": lambda part: urlsafe_b64encode(part.encode()).decode(),
    "url": lambda part: quote(part, safe=""),
    "url lower": lambda part: "".join(f"%{ord(one):02x}" for one in part),
    "url twice": lambda part: quote(quote(part, safe=""), safe=""),
    "url twice, lower": lambda part: quote(quote(part, safe=""), safe="").lower(),
    "url of all, four times": lambda part: "".join(f"%252525{ord(one):02X}" for one in part),
    "url of json": lambda part: quote(json.dumps(part)[1:-1], safe=""),
    "url of base64": lambda part: quote(b64encode(part.encode()).decode(), safe=""),
    "json": lambda part: json.dumps(part)[1:-1],
    "json slashes": lambda part: json.dumps(part)[1:-1].replace("/", "\\/"),
    "json twice": lambda part: json.dumps(json.dumps(part)),
    "json codes": lambda part: "".join(f"\\u{ord(one):04x}" for one in part),
    "json codes twice": lambda part: "".join(f"\\\\u{ord(one):04X}" for one in part),
    "json codes upper": lambda part: "".join(f"\\u{ord(one):04x}" for one in part).upper(),
    "json codes of url": lambda part: "".join(f"\\u0025{ord(one):02x}" for one in part),
    "hex": lambda part: part.encode().hex(),
    "hex upper": lambda part: part.encode().hex().upper(),
}


@pytest.mark.parametrize("key", [KEY, ODD_KEY])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_stretch_of_a_key_is_redacted_in_every_spelling(key, spelling):
    boundary, spell = Boundary(key), SPELLINGS[spelling]
    for first in range(len(key) - LEAST + 1):
        for last in range(first + LEAST, len(key) + 1):
            spelled = spell(key[first:last])
            for found in (
                boundary.clean(f"by ({spelled})."),
                boundary.document(json.dumps({"a": [f"by ({spelled})."]}))["a"][0],
                next(iter(boundary.document(json.dumps({f"by ({spelled}).": 1})))),
                boundary.message(f"by ({spelled})."),
            ):
                assert found.startswith("by (")
                assert "[key]" in found
                assert spelled not in found
                # Quotes around it stay, and digits of Base64 that hold bits of its neighbours.
                assert len(found) <= len("by ([key]).") + 8


def test_what_a_body_spells_out_in_codes_is_seen_once_it_is_read():
    codes = SPELLINGS["json codes"](KEY)
    assert Boundary(KEY).document(f'{{"a": "{codes}", "{codes}": 1}}') == {"a": "[key]", "[key]": 1}


KEYS = st.text("abcdefghijkXYZ0123456789-_./+=~", min_size=LEAST, max_size=64).filter(
    lambda key: not is_placeholder_key(key)
)
STEPS = st.sampled_from(
    [SPELLINGS[name] for name in ("lower", "upper", "url", "url lower", "json", "json codes")]
    + [str.swapcase, str.lower, lambda text: json.dumps(text.replace("/", "\\/"))[1:-1]]
)


@given(KEYS, st.integers(0, 52), st.integers(LEAST, 64), st.lists(STEPS, max_size=4))
def test_a_part_is_redacted_whatever_was_made_of_it_one_after_another(key, first, size, steps):
    part = key[min(first, len(key) - LEAST) :][:size]
    assume(len(set(part.lower())) > 2)
    spelled = reduce(lambda text, step: step(text), steps, part)
    assert Boundary(key).clean(f"by ({spelled}).") == "by ([key])."
    assert Boundary(key).document(json.dumps([f"by ({spelled})."])) == ["by ([key])."]


RULES = "| a | b |\n|" + "-" * 60 + "|" + "-" * 30 + "|\n"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("key", "text", "left"),
    [
        ("abcde" * 200, "abcde" * 40_000, "[key]"),
        ("a" * 500 + "bcde", "a" * 200_000, "a" * 200_000),
        ("a" * 500 + "bcde", "a" * 200_000 + "bcde", "[key]"),
        ("-" * 60 + "abcde", RULES, RULES),
        (KEY, "\\" * 200_000, "\\" * 200_000),
        (ODD_KEY, "\\" * 200_000, "\\" * 200_000),
        (KEY, "%25" * 70_000, "%25" * 70_000),
        (KEY, KEY + "%252525252525252d" * 12_000, "[key]" + "%252525252525252d" * 12_000),
    ],
    ids=["periodic", "run", "run, key", "rules", "backslashes", "quotes", "percent", "deep"],
)
def test_what_a_text_takes_grows_with_its_length_alone(key, text, left):
    # Time that grows faster, with the text's length squared or with the key's, would take hours.
    assert Boundary(key).clean(text) == left


@given(text=st.text(), key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12))
def test_a_text_without_the_key_stays_as_it_is(text, key):
    assert Boundary(key).clean(text) == text.encode(errors="replace").decode() or key[:6] in text


@pytest.mark.parametrize(
    "key",
    ["", "short-key", "EMPTY", "none", "no-key-required", "sk-no-key-required", "token-abc123",
     "xxxxxxxxxxxxxxxxxxxx", "000000000000"],
)  # fmt: skip
def test_what_is_no_key_is_never_searched_for_in_replies(key):
    text = f"The answer is {key}, and {key}."
    boundary = Boundary(key)
    assert boundary.clean(text) == text
    assert boundary.document(json.dumps([text])) == [text]


def test_a_short_key_is_kept_out_of_messages_and_a_placeholder_is_not():
    assert Boundary("hunter22").message("key hunter22 is wrong") == "key [key] is wrong"
    assert Boundary("EMPTY").message("EMPTY is no key") == "EMPTY is no key"


def test_a_message_is_one_line_and_cut_after_the_key_is_out():
    for n in range(40):
        found = Boundary(KEY).message(f"{'x' * (300 - n)}{KEY}\n\nand {KEY}")
        assert KEY[:3] not in found
        assert "\n" not in found
        assert len(found) <= 300


def test_a_variable_that_ends_in_a_line_break_holds_the_same_key():
    assert (
        Boundary(f"{KEY}\n").clean(f"Illegal header value b'Bearer {KEY}\\n'").count("[key]") == 1
    )


def test_lone_surrogates_are_replaced_and_pairs_stay():
    boundary = Boundary()
    found = boundary.document('["a\\ud800b", "\\ud83d\\ude00", {"\\udfff": 1}]')
    assert found == ["a\ufffdb", "\U0001f600", {"\ufffd": 1}]
    assert boundary.clean("\ud83d") == "\ufffd"


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, "{}]", "9" * 5_000, "<html>", "\ufeff{}"])
def test_a_body_that_is_not_json_is_reported_without_its_content(body):
    with pytest.raises(EngineError, match="the server's answer is not JSON"):
        Boundary(KEY).document(body)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()),
    st.sampled_from([2**31 - 1, 2**31, 2**33, 10**30, 10**400, -(10**400), -1, 0, "7"]),
)  # fmt: skip


@given(VALUES)
def test_counts_and_log_probabilities_are_in_the_tables_domain_or_none(value):
    count, logprob = int32_count(value), finite_logprob(value)
    assert count is None or (type(value) is int and 0 <= count < 2**31 and count == value)
    assert logprob is None or (type(value) in (int, float) and -1e300 <= logprob <= 1e-3)
    if type(value) is float and -1e9 < value <= 0:
        assert logprob == value


def test_a_server_is_itself_at_its_own_address_alone():
    openai = pytest.importorskip("openai")
    from judgerel_ray.engines.openai.channel import is_same_server

    def url(text):
        return openai.AsyncOpenAI(api_key="none", base_url=text).base_url

    same = [
        ("http://a.example/v1", "http://A.example:80/other"),
        ("http://a.example/v1", "https://a.example/v1"),
        ("https://a.example/v1", "https://a.example:443/v1"),
        ("http://a.example:8000/v1", "http://a.example:8000/"),
    ]
    others = [
        ("https://a.example/v1", "http://a.example/v1"),
        ("http://a.example/v1", "http://b.example/v1"),
        ("http://a.example/v1", "http://a.example.b.example/v1"),
        ("http://a.example:8000/v1", "http://a.example:8001/v1"),
        ("http://a.example:8000/v1", "https://a.example/v1"),
        ("http://a.example/v1", "http://a.example@b.example/v1"),
    ]
    assert all(is_same_server(url(home), url(there)) for home, there in same)
    assert not any(is_same_server(url(home), url(there)) for home, there in others)
