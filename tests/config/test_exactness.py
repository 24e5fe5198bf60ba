"""A sweep that samples, asked for distributions: keys of sampling are left out, however written."""

import pytest

from judgerel_ray.config import as_exact, parse_sweep
from judgerel_ray.core import SweepError

JUDGE = '[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n'
OTHER = "engine = 'simulated'\nmodel = '''\n[[ask]]\n'''\nname = 'j'\ngpus = 0\n"
ASK = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "items.parquet"\n'


@pytest.mark.parametrize(
    "keys",
    [
        "replications = 100\nearly_stop = true\n",
        "replications = { adaptive = 0.05, first = 5 }\n",
        "[ask.replications]\nadaptive = 0.05\nmax = 50\n",
        "[ask.exact]\nforced = true\n[ask.replications]\nadaptive = 0.05\n",
    ],
)
def test_keys_of_sampling_are_left_out(keys):
    second = ASK.replace('"b"', '"c"') + "replications = 3\n"
    text = f'name = "s"\n{JUDGE}{ASK}{keys}{second}' + JUDGE.replace('"j"', '"k"')
    found = as_exact(parse_sweep(text))
    assert [ask.mode for ask in found.ask] == ["exact", "exact"]
    assert found.ask[0].exact.forced == ("forced" in keys)
    assert [judge.name for judge in found.judge] == ["j", "k"]


def test_ratings_are_explored_too():
    ask = ASK.replace("best_of", "rating") + 'criteria = ["helpfulness"]\nreplications = 9\n'
    [found] = as_exact(parse_sweep(f'name = "s"\n{JUDGE}{ask}')).ask
    assert (found.mode, found.protocol, found.scales) == ("exact", "rating", ("points5",))
    with pytest.raises(SweepError, match="mode exact needs reader = \"first\", got 'last'"):
        as_exact(parse_sweep(f'name = "s"\n{JUDGE}{ask}reader = "last"\n'))


def test_a_sweep_without_verdicts_has_no_distribution():
    text = f'name = "s"\n{JUDGE}{ASK.replace("best_of", "respond")}'
    with pytest.raises(SweepError, match="no ask of the sweep has a distribution"):
        as_exact(parse_sweep(text))


@pytest.mark.parametrize(
    "text",
    [
        f"{JUDGE}[[ask]]\nprotocol = 'best_of'\nbenchmark = 'b'\npath = '''\nmode = 1\nx'''\n",
        f"[[judge]]\n{OTHER}{ASK}",
        f"{JUDGE}{ASK}'replications' = 5\n",
        f"ask = [{{protocol = 'best_of', benchmark = 'b', path = 'x', replications = 5}}]\n{JUDGE}",
    ],
)
def test_keys_that_are_not_a_line_each_change_no_other_text(text):
    with pytest.raises(SweepError, match="keys of sampling cannot be left out of the asks as they"):
        as_exact(parse_sweep(f'name = "s"\n{text}'))


def test_a_text_that_looks_like_another_ask_is_none():
    found = as_exact(parse_sweep(f'name = "s"\n{ASK}[[judge]]\n{OTHER}'))
    assert ([one.mode for one in found.ask], found.judge[0].model) == (["exact"], "[[ask]]\n")
