import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Outcome, Scale, SweepError
from judgerel_ray.protocols import (
    load_scale,
    read_rating,
    scale_labels,
    scale_values,
    score_of,
    shipped_scales,
)


def scale_file(folder, text, name="mine"):
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_scales_that_ship():
    assert shipped_scales() == ("binary", "likert5", "points10", "points5")
    assert load_scale("points5") == Scale(name="points5", level="interval", lowest=1, highest=5)
    assert load_scale("points10") == Scale(name="points10", level="interval", lowest=1, highest=10)
    likert = ("Strongly Disagree", "Disagree", "Neutral", "Agree", "Strongly Agree")
    assert load_scale("likert5") == Scale(name="likert5", level="ordinal", labels=likert)
    assert load_scale("binary") == Scale(name="binary", level="nominal", labels=("No", "Yes"))


@pytest.mark.parametrize("name", ["binary", "likert5", "points10", "points5"])
def test_values_labels_and_scores_belong_together(name):
    scale = load_scale(name)
    values, labels = scale_values(scale), scale_labels(scale)
    assert [score_of(label, scale) for label in labels] == list(values)
    assert list(values) == sorted(set(values))


def test_a_scale_of_ones_own_is_named_after_its_file(tmp_path):
    text = 'level = "interval"\nlowest = 1\nhighest = 7\ndecimals = true\n'
    scale = load_scale(scale_file(tmp_path, text, "points7"))
    assert scale == Scale(name="points7", level="interval", lowest=1, highest=7, decimals=True)
    assert (scale_values(scale), scale_labels(scale)) == (None, ())
    assert (score_of("3.5", scale), score_of("7.1", scale), score_of("3.50", scale)) == (
        3.5,
        None,
        None,
    )


def test_a_file_is_found_where_the_sweep_runs(tmp_path, monkeypatch):
    scale_file(tmp_path, 'level = "nominal"\nlabels = ["Bad", "Fine"]\n')
    monkeypatch.chdir(tmp_path)
    assert load_scale("mine.toml").labels == ("Bad", "Fine")


def test_numbers_below_zero_and_fractional_ends(tmp_path):
    text = 'level = "interval"\nlowest = -2\nhighest = 2\n'
    assert scale_labels(load_scale(scale_file(tmp_path, text))) == ("-2", "-1", "0", "1", "2")
    text = 'level = "interval"\nlowest = 0.5\nhighest = 1.5\ndecimals = true\n'
    assert load_scale(scale_file(tmp_path, text)).lowest == 0.5


WRONG = [
    ("lowest = 1\nhighest = 5\n", "level must be one of nominal, ordinal, interval, got None"),
    ('level = "ratio"\nlowest = 1\nhighest = 5\n', "got 'ratio'"),
    ("level = 3\nlowest = 1\nhighest = 5\n", "got 3"),
    ('level = "interval"\nlowest = 5\nhighest = 5\n', "lowest must be below highest, got 5 and 5"),
    ('level = "interval"\nlowest = 5\nhighest = 1\n', "lowest must be below highest, got 5 and 1"),
    ('level = "interval"\nlowest = 1\n', "highest must be a whole number, got None"),
    ('level = "interval"\nlowest = true\nhighest = 5\n', "lowest must be a whole number, got True"),
    ('level = "interval"\nlowest = "1"\nhighest = 5\n', "lowest must be a whole number, got '1'"),
    ('level = "interval"\nlowest = 0.5\nhighest = 5\n', "got 0.5 .*Try: decimals = true"),
    (
        'level = "interval"\nlowest = nan\nhighest = 5\ndecimals = true\n',
        "must be a number, got nan",
    ),
    ('level = "interval"\nlowest = 0\nhighest = inf\n', "highest must be a whole number, got inf"),
    ('level = "interval"\nlowest = 0\nhighest = 5000\n', "at most 1001 values, got 0 to 5000"),
    (
        'level = "interval"\nlowest = 0\nhighest = 1e300\ndecimals = true\n',
        "at most 15 digits, got 1e\\+300",
    ),
    ('level = "interval"\nlowest = 0\nhighest = 5\ndecimals = 1\n', "true or false, got 1"),
    ('level = "interval"\n', "a scale needs labels, or lowest and highest"),
    ('level = "interval"\nlowest = 0\nhigest = 5\n', "got 'higest' .*did you mean 'highest'"),
    ('level = "ordinal"\nlabels = ["Yes"]\n', r"at least 2 texts .* got \['Yes'\]"),
    ('level = "ordinal"\nlabels = "Yes"\n', "at least 2 texts .* got 'Yes'"),
    ('level = "ordinal"\nlabels = ["Yes", 2]\n', "at least 2 texts"),
    ('level = "ordinal"\nlabels = ["Yes", "Yes"]\n', "got 'Yes' twice"),
    ('level = "ordinal"\nlabels = ["yes", "Yes"]\n', "got 'Yes' beside 'yes'"),
    ('level = "ordinal"\nlabels = ["So so", "so-so"]\n', "got 'so-so' beside 'So so'"),
    ('level = "ordinal"\nlabels = ["Yes", ""]\n', "between letters or digits, got ''"),
    ('level = "ordinal"\nlabels = ["Yes", " No"]\n', "between letters or digits, got ' No'"),
    ('level = "ordinal"\nlabels = ["Yes", "[No]"]\n', "between letters or digits"),
    ('level = "ordinal"\nlabels = ["Yes", "N\\no"]\n', "between letters or digits"),
    ('level = "ordinal"\nlabels = ["1", "2"]\n', "must be words, got the number '1'"),
    ('level = "ordinal"\nlabels = ["one", "two"]\n', "must be words, got the number 'one'"),
    ('level = "ordinal"\nlabels = ["No", "Yes"]\nlowest = 0\n', "got labels and lowest"),
    ('level = "ordinal', "not a TOML file"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_file_is_told_in_one_line_that_names_it(tmp_path, text, said):
    file = scale_file(tmp_path, text)
    with pytest.raises(SweepError, match=said) as caught:
        load_scale(file)
    assert "\n" not in str(caught.value)
    assert file in str(caught.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(SweepError, match=r"cannot be read: .*nowhere\.toml"):
        load_scale(str(tmp_path / "nowhere.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SweepError, match="not UTF-8"):
        load_scale(str(tmp_path / "binary.toml"))


def test_an_unknown_name_lists_the_shipped_ones_and_suggests_the_nearest():
    with pytest.raises(SweepError, match=r"binary, likert5, points10, points5 or a \.toml file"):
        load_scale("points")
    with pytest.raises(SweepError, match="did you mean 'likert5'"):
        load_scale("likert")


ends = st.sampled_from("abcdeYN9éß中İ")
label_texts = st.builds(
    lambda first, middle, last: first + middle + last,
    ends,
    st.text(alphabet=st.sampled_from("abcdeYN oO09 '’&,/-éß中İ"), min_size=1, max_size=10),
    ends,
)


@given(
    st.lists(label_texts, min_size=2, max_size=4, unique=True), st.sampled_from(["[[{}]]", "{}"])
)
@example(["a0a", "a-     a"], "[[{}]]")
@example(["a0a", "a-    a"], "{}")
def test_every_label_that_a_file_may_have_is_read_back(tmp_path_factory, labels, form):
    folder = tmp_path_factory.getbasetemp()
    listed = ", ".join(f'"{label}"' for label in labels)
    try:
        scale = load_scale(scale_file(folder, f'level = "ordinal"\nlabels = [{listed}]\n'))
    except SweepError:
        return
    for place, label in enumerate(scale.labels):
        menu = Menu(
            labels=scale.labels, option_ids=scale.labels, form="rating", reader="first", scale=scale
        )
        reply = f"Rating: {form.format(label)}"
        rating = read_rating(reply, finish_reason="stop", menu=menu)
        assert (rating.score, rating.outcome) == (place, Outcome.SCORED)


def test_words_with_marks_on_their_letters_make_a_scale(tmp_path):
    words = 'level = "ordinal"\nlabels = ["पूरी तरह असहमत", "vo\u0308llig"]\n'
    assert load_scale(str(scale_file(tmp_path, words))).labels == ("पूरी तरह असहमत", "völlig")
    apart = 'level = "ordinal"\nlabels = ["a", "b-     c"]\n'
    with pytest.raises(SweepError, match="no more than 5 blanks and hyphens in a row"):
        load_scale(str(scale_file(tmp_path, apart)))
    alone = 'level = "ordinal"\nlabels = ["\u0308", "a"]\n'
    with pytest.raises(SweepError, match="a label must be at most 60 letters"):
        load_scale(str(scale_file(tmp_path, alone)))


def test_a_file_may_not_bear_the_name_of_another_scale_that_ships(tmp_path):
    other = scale_file(tmp_path, 'level = "interval"\nlowest = 1\nhighest = 7\n', name="points5")
    with pytest.raises(SweepError, match="points5 is the name of a scale that ships") as said:
        load_scale(str(other))
    assert "a name of its own" in str(said.value)
    same = scale_file(tmp_path, 'level = "interval"\nlowest = 1\nhighest = 5\n', name="points5")
    assert load_scale(str(same)) == load_scale("points5")
