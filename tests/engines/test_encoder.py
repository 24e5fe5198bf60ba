import pytest

from judgerel_ray.core import Message, RequestRefused, SweepError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.tokenization import (
    PromptEncoder,
    chat_template_text,
    template_file,
)
from judgerel_ray.protocols import as_plain

PROMPT = (Message(role="system", content="Be fair."), Message(role="user", content="Which?"))


class WordTokenizer:
    """Counts what it is asked; one token a word, 0 at the beginning where asked."""

    def __init__(self, chat_template=None):
        self.chat_template = chat_template
        self.n_encoded = 0

    def get_chat_template(self):
        if self.chat_template is None:
            raise ValueError("no chat template")
        return self.chat_template

    def apply_chat_template(
        self, conversation, *, chat_template, tokenize, add_generation_prompt, **options
    ):
        from jinja2 import Template

        assert not tokenize
        assert add_generation_prompt

        def raise_exception(message):
            from jinja2.exceptions import TemplateError

            raise TemplateError(message)

        return Template(chat_template).render(
            messages=conversation, raise_exception=raise_exception, **options
        )

    def encode(self, text, *, add_special_tokens):
        self.n_encoded += 1
        return [0] * add_special_tokens + [len(word) for word in text.split()]


def spec_with(chat_template):
    return EngineSpec(name="j", engine="vllm", model="m", chat_template=chat_template)


def test_a_template_writes_its_own_special_tokens():
    encoder = PromptEncoder(WordTokenizer(), "<s> {{ messages[1].content }} end")
    text, ids = encoder.encode(PROMPT)
    assert text == "<s> Which? end"
    assert ids == (3, 6, 3)  # no 0 before them
    assert len(encoder.chat_template_sha256) == 64


def test_plain_text_gets_the_tokenizers_own_special_tokens():
    encoder = PromptEncoder(WordTokenizer(), None)
    text, ids = encoder.encode(PROMPT)
    assert text == as_plain(PROMPT)
    assert ids[0] == 0
    assert encoder.chat_template_sha256 is None


def test_a_prompt_asked_again_is_not_encoded_again():
    tokenizer = WordTokenizer()
    encoder = PromptEncoder(tokenizer, None)
    assert encoder.encode(PROMPT) == encoder.encode(PROMPT)
    assert tokenizer.n_encoded == 1
    for i in range(300):
        encoder.encode((Message(role="user", content=str(i)),))
    encoder.encode(PROMPT)
    assert tokenizer.n_encoded == 302  # the oldest were let go


def test_template_options_reach_the_template():
    template = "{{ messages[1].content }}{% if thinking %} think{% endif %}"
    assert PromptEncoder(WordTokenizer(), template).encode(PROMPT)[0] == "Which?"
    told = PromptEncoder(WordTokenizer(), template, {"thinking": True})
    assert told.encode(PROMPT)[0] == "Which? think"


def test_what_a_template_cannot_say_is_refused():
    encoder = PromptEncoder(WordTokenizer(), "{{ raise_exception('no system role') }}")
    with pytest.raises(RequestRefused, match=r"^chat_template_failed: no system role"):
        encoder.encode(PROMPT)


def test_true_is_the_models_own_template_and_needs_one():
    assert chat_template_text(spec_with(True), WordTokenizer("own")) == "own"
    with pytest.raises(SweepError, match=r"has none of its own.*chat_template = false"):
        chat_template_text(spec_with(True), WordTokenizer())


def test_false_is_plain_and_a_path_is_that_file(tmp_path):
    assert chat_template_text(spec_with(False), WordTokenizer("own")) is None
    file = tmp_path / "mine.jinja"
    file.write_text("mine")
    assert chat_template_text(spec_with(str(file)), WordTokenizer("own")) == "mine"


def test_an_unreadable_template_file_is_the_callers_mistake(tmp_path):
    with pytest.raises(SweepError, match="must be a readable file"):
        template_file(spec_with(str(tmp_path / "none.jinja")))
    (tmp_path / "bytes.jinja").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(SweepError, match="must be a readable file"):
        template_file(spec_with(str(tmp_path / "bytes.jinja")))


@pytest.mark.slow
def test_a_real_tokenizer_begins_a_prompt_once(tiny_tokenizer):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(tiny_tokenizer))
    begin = tokenizer.bos_token_id
    template = chat_template_text(spec_with(True), tokenizer)
    spoken = PromptEncoder(tokenizer, template).encode(PROMPT)
    plain = PromptEncoder(tokenizer, None).encode(PROMPT)
    assert spoken[0].startswith("<s><|system|>")
    assert spoken[0].endswith("<|assistant|>\n")
    for _, ids in (spoken, plain):
        assert ids[0] == begin
        assert ids.count(begin) == 1
    assert tokenizer.encode(spoken[0]).count(begin) == 2  # the trap
