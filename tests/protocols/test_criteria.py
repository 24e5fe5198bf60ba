import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.protocols import DEFINITION_LENGTHS, load_criterion, shipped_criteria

GOOD = 'question = "Is it kind?"\n[definitions]\nshort = "It is kind."\nlong = "It is, truly."\n'


def criterion_file(folder, text):
    file = folder / "kindness.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", shipped_criteria())
def test_a_shipped_criterion_has_a_question_and_a_definition_of_each_length(name):
    criterion = load_criterion(name)
    assert criterion.name == name
    assert criterion.question.startswith("Is the response ")
    assert criterion.question.endswith("?")
    assert tuple(criterion.definitions) == DEFINITION_LENGTHS == ("none", "short", "long")
    words = {length: len(told.split()) for length, told in criterion.definitions.items()}
    assert words["none"] == 0
    assert 8 <= words["short"] <= 25
    assert 70 <= words["long"] <= 110


def test_the_shipped_criteria_differ_in_every_text():
    shipped = [load_criterion(name) for name in shipped_criteria()]
    assert len(shipped) == 5
    assert len({criterion.question for criterion in shipped}) == 5
    for length in ("short", "long"):
        assert len({criterion.definitions[length] for criterion in shipped}) == 5


def test_a_criterion_of_ones_own_is_named_after_its_file(tmp_path):
    criterion = load_criterion(criterion_file(tmp_path, GOOD))
    assert (criterion.name, criterion.question) == ("kindness", "Is it kind?")
    assert dict(criterion.definitions) == {
        "none": "",
        "short": "It is kind.",
        "long": "It is, truly.",
    }


def test_a_criterion_of_ones_own_has_the_name_its_file_gives_it(tmp_path):
    criterion = load_criterion(criterion_file(tmp_path, 'name = " Kindness to users "\n' + GOOD))
    assert criterion.name == "Kindness to users"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = ""\n' + GOOD, "name must be a text that is not empty"),
        ('name = "a\\nb"\n' + GOOD, "one line of at most 60 characters, got 'a.*nb'"),
        (f'name = "{"a" * 61}"\n' + GOOD, "one line of at most 60 characters"),
        (GOOD.replace("Is it kind?", "  "), "question must be a text that is not empty, got '  '"),
        (GOOD.replace("question", "qestion"), "got 'qestion' .*did you mean 'question'"),
        (GOOD.replace("long", "lang"), "got 'lang' .*table=definitions.*did you mean 'long'"),
        ('question = "Is it kind?"\n', "definitions must be a table with short and long, got None"),
        (GOOD.replace('long = "It is, truly."\n', ""), "long must be a text .* got None"),
        (GOOD.replace('"It is kind."', "3"), "short must be a text .* got 3"),
        (GOOD + 'none = "x"\n', "unknown key, expected short, long, got 'none'"),
        ("question", "not a TOML file"),
    ],
)
def test_a_wrong_file_is_told_in_one_line_that_names_it(tmp_path, text, said):
    file = criterion_file(tmp_path, text)
    with pytest.raises(SweepError, match=said) as caught:
        load_criterion(file)
    assert "\n" not in str(caught.value)
    assert file in str(caught.value)


def test_an_unknown_name_lists_the_shipped_ones_and_suggests_the_nearest():
    with pytest.raises(SweepError, match=r"conciseness, factuality, .*did you mean 'harmlessness'"):
        load_criterion("harmlesness")
