"""A real engine and a judge that reasons first: letters, their distributions, and the weights."""

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import judgerel_ray
from judgerel_ray.core import request_key
from judgerel_ray.fleet import scheduler
from judgerel_ray.measuring.distributions import verdict_shares
from judgerel_ray.stats import clopper_pearson, split_variance
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments
from judgerel_ray.store.made_tables import read_distributions

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

M, N_LETTERS, TOP_K = 100, 5, 50
TEMPERATURES = (1.0, 0.5)
TAIL = 5e-3  # of the truth: probability that its tree leaves out
UNDECIDED = 1e-3
LIMIT = 3.3  # standard errors
CURVE, NEW_TOKENS = (1.0, 0.75, 0.5, 0.25, 0.0), 50


@pytest.fixture(scope="module")
def reasoned(run_lean, tmp_path_factory):
    """Three of the demo's questions, sampled and, where that is soon done, explored as well.

    And a question of a thousand words, explored alone: its tokens are those of its own lease.
    """
    from demo.judge_design import ITEMS_FILE
    from demo.reasoning_judge import REASONING_JUDGE_FOLDER, TEMPLATE

    folder = tmp_path_factory.mktemp("vllm_reasoning")
    pl.read_parquet(ITEMS_FILE)[:12:4].write_parquet(folder / "items.parquet")
    long = {
        "item_id": "long",
        "question": "Which is best?",
        "context": " ".join(f"word{n}" for n in range(1000)),
        "options": ["so clear", "rather vague", "quite sound"],
    }
    (folder / "long.jsonl").write_text(json.dumps(long))
    ask = (
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "demo"\npath = "items.parquet"\n'
        f'templates = ["{TEMPLATE}"]\ntop_k = {TOP_K}\nmax_tokens = 24\n'
    )
    file = folder / "s.toml"
    file.write_text(
        'name = "reasoned"\n[[judge]]\nname = "j"\nengine = "vllm"\n'
        f'model = "{REASONING_JUDGE_FOLDER}"\ngpus = 0\nmax_model_len = 2048\n'
        f"{ask}temperatures = {list(TEMPERATURES)}\nreplications = {M}\nverdict_logprobs = true\n"
        f'{ask}temperatures = [{TEMPERATURES[-1]}]\nmode = "exact"\n'
        f"exact = {{ undecided = {UNDECIDED} }}\n"
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "long"\npath = "long.jsonl"\ntop_k = 50\n'
        f'max_tokens = {NEW_TOKENS}\ntemperatures = {list(CURVE)}\nmode = "exact"\n'
        "exact = { undecided = 5e-3 }\n[fleet]\nlease_seconds = 0.1\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        # One lease at a time: of two at work, the first to land has the tokens of both.
        patch.setattr(scheduler, "FIRST_LEASES_AHEAD", 1)
        assert run_lean(file, folder / "run") == 0
    return RunDirectory.open(str(folder / "run"))


@pytest.fixture(scope="module")
def replies(reasoned):
    """Every reply with its letter's place on the menu, and what was read there."""
    sampled = (pl.col("stage") == "judge") & (pl.col("benchmark") == "demo")
    rows = scan_judgments(reasoned).filter(sampled)
    texts = scan_completions(reasoned).select("key", "logprobs", "text")
    found = rows.join(texts, on="key").sort("item_id", "temperature", "replication").collect()
    assert found.height == 3 * len(TEMPERATURES) * M
    return found


@pytest.fixture(scope="module")
def truths(reasoned):
    """By question and temperature, what its replies tend to by the weights alone."""
    from demo.judge_truth import load_judge, prompt_text
    from demo.reasoning_judge import REASONING_JUDGE_FOLDER, TEMPLATE
    from demo.reasoning_truth import ReasoningTree
    from judgerel_ray.design import option_orders
    from judgerel_ray.tables import frame_to_items

    judge = load_judge(REASONING_JUDGE_FOLDER)
    found = {}
    for item in frame_to_items(pl.read_parquet(reasoned.read_bytes("items.parquet"))):
        if item.benchmark != "demo":
            continue
        shown = option_orders(item, n_orders=1, seed=0)[0]
        tree = ReasoningTree(judge, prompt_text(judge, item, shown, template=TEMPLATE))
        names = [option.option_id for option in shown]
        for temperature in TEMPERATURES:
            reasonings = tree.reasonings(temperature=temperature, top_k=TOP_K, tail=TAIL)
            found[item.item_id, temperature] = names, reasonings
    return found


def matrices(rows):
    """By question: distributions of its replies, and their letters as ones and zeros."""
    for _, unit in rows.group_by("item_id", maintain_order=True):
        shares, letters = [], []
        for row in unit.iter_rows(named=True):
            place = None if row["label"] is None else ord(row["label"]) - ord("A")
            told = {"place": place, "temperature": row["temperature"], "top_k": TOP_K}
            shares.append(verdict_shares(row["logprobs"], n=N_LETTERS, **told))
            letters.append(N_LETTERS if place is None else place)
        yield np.array(shares), np.eye(N_LETTERS + 1)[letters]


def test_replies_reason_and_then_give_their_verdict(replies):
    scored = replies.filter(pl.col("outcome") == "scored")
    assert scored.height > 0.8 * replies.height
    assert (
        scored["text"].str.contains(r"^The \w+ answer is (slightly|clearly) ahead\.\n").mean() > 0.9
    )
    assert scored["logprobs"].list.len().min() > 1


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_distributions_have_the_mean_of_the_letters(replies, temperature):
    """Given their reasonings, letters are independent draws of the distributions beside them.

    So a question's letters less its distributions have mean 0 and a known covariance: a chi-square
    test over all questions, p > .001.
    """
    statistic, freedom = 0.0, 0
    for shares, letters in matrices(replies.filter(pl.col("temperature") == temperature)):
        shift = (letters - shares).sum(axis=0)
        covariance = np.diag(shares.sum(axis=0)) - shares.T @ shares
        # Verdicts expected less than five times in all are left to the others.
        kept = np.flatnonzero(np.diag(covariance) >= 5)[1:]
        statistic += shift[kept] @ np.linalg.solve(covariance[np.ix_(kept, kept)], shift[kept])
        freedom += kept.size
    p = scipy_stats.chi2.sf(statistic, freedom)
    print(f"T = {temperature}: chi-square {statistic:.1f} on {freedom} degrees, p = {p:.3f}")
    assert freedom >= 3
    assert p > 0.001


def test_the_split_is_that_of_the_weights(reasoned, replies, truths):
    from demo.reasoning_truth import true_split

    table = judgerel_ray.distributions(reasoned.url, view="reasoning").rows.filter(
        pl.col("benchmark") == "demo"
    )
    for temperature in TEMPERATURES:
        row = table.filter(pl.col("temperature") == temperature).row(0, named=True)
        laws = [law for (_, t), (_, law) in truths.items() if t == temperature]
        splits = [true_split(law) for law in laws]
        errors = standard_errors(laws)
        print(
            f"T = {temperature}: variance of distributions over that of letters "
            f"{row['ratio']:.3f} [{row['ratio_low']:.3f}, {row['ratio_high']:.3f}]"
        )
        for name, error in errors.items():
            truth = float(np.mean([getattr(split, name) for split in splits]))
            print(f"  {name}: {row[name]:.4f}, by the weights {truth:.4f}, s.e. {error:.4f}")
            assert abs(row[name] - truth) < LIMIT * error + 2 * TAIL
            assert truth > 0.02
        # Means of distributions scatter less than means of letters: by that ratio of variances.
        units = list(matrices(replies.filter(pl.col("temperature") == temperature)))
        ours, theirs = (
            np.mean([unit[kind].var(axis=0, ddof=1).sum() for unit in units]) for kind in (0, 1)
        )
        assert ours / theirs == pytest.approx(row["ratio"], abs=0.05)
        assert ours < 0.9 * theirs


def standard_errors(laws):
    """Monte-Carlo standard errors of the split, the questions held fixed, by drawing again."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        drawn = []
        for law in laws:
            matrix = [[one.letters.get(x, 0.0) for x in "ABCDEF"] + [0.0] for one in law]
            known = np.array([*matrix, [0.0] * 6 + [1.0]])
            shares = np.array([one.share for one in law])
            shares = np.append(shares, max(0.0, 1 - shares.sum()))
            drawn.append(known[rng.choice(shares.size, p=shares / shares.sum(), size=M)])
        split = split_variance(np.array(drawn))
        found.append((split.reasoning, split.verdict))
    return dict(zip(("reasoning", "verdict"), np.std(found, axis=0).tolist(), strict=True))


def test_exploring_goes_through_the_reasoning(reasoned, truths):
    from demo.judge_design import LETTERS, NO_VERDICT
    from demo.reasoning_truth import true_split

    table = read_distributions(reasoned).filter(pl.col("benchmark") == "demo")
    assert table["temperature"].unique().to_list() == [TEMPERATURES[-1]]
    for (item, temperature), (names, law) in truths.items():
        if temperature != TEMPERATURES[-1]:
            continue
        rows = table.filter(pl.col("item_id") == item)
        mean = true_split(law).mean
        true = {name: mean.get(x, 0.0) for x, name in zip(LETTERS, names, strict=False)}
        true[None] = mean[NO_VERDICT]
        for verdict, low, high in rows.select("verdict", "low", "high").iter_rows():
            assert low - TAIL < true[verdict] < high + TAIL
        assert math.isclose(rows["low"].sum(), 1, abs_tol=UNDECIDED + 1e-6)


def test_bounds_meet_the_interval_of_the_count_drawn_in_every_cell(reasoned, replies):
    table = read_distributions(reasoned).filter(pl.col("benchmark") == "demo")
    drawn = replies.filter(pl.col("temperature") == TEMPERATURES[-1])
    counts = dict(drawn.group_by("item_id", "verdict").len().rows_by_key(["item_id", "verdict"]))
    assert table.height == 3 * (N_LETTERS + 1)
    for item, verdict, low, high in table.select("item_id", "verdict", "low", "high").iter_rows():
        ((seen,),) = counts.get((item, verdict), [(0,)])
        ends = clopper_pearson(seen, M, confidence=0.999)
        assert low <= ends.high, (item, verdict)
        assert ends.low <= high, (item, verdict)


def test_a_temperature_curve_costs_a_hundredth_of_uncached_replies(reasoned):
    """The plain way: 100 requests a temperature, each of the whole prompt and 50 new tokens.

    Those are counted here and measured, with the rest, by bench/exact_tokens.py.
    """
    row = scan_judgments(reasoned).filter(pl.col("item_id") == "long").collect()
    assert row["prompt_tokens"].item() >= 1000
    key = row["key"].item()
    (commit,) = (
        commit
        for commit in read_ledger(reasoned).commits
        if key in {request_key(condition, 0) for condition in commit.conditions}
    )
    assert commit.rows == 1
    tokens = commit.tokens
    computed = tokens.prompt - tokens.cached + tokens.generated
    plain = len(CURVE) * 100 * (row["prompt_tokens"].item() + NEW_TOKENS)
    print(f"explored: {computed} tokens computed, the plain way {plain}: 1/{plain / computed:.0f}")
    assert computed <= plain / 100
    table = read_distributions(reasoned).filter(pl.col("benchmark") == "long")
    settled = table.group_by("temperature").agg(pl.col("low").sum())
    assert settled.height == len(CURVE)
    assert settled["low"].min() >= 1 - 5e-3 - 1e-6
