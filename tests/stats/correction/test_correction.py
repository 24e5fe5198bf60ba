"""Corrected means and rates against other programs, by hand, and by what they must cover."""

import numpy as np
import pytest
from scipy.stats import binomtest

from judgerel_ray.stats.correction.dawid_skene import dawid_skene
from judgerel_ray.stats.correction.misclassification import (
    judge_rates,
    rogan_gladen,
    rogan_gladen_difference,
)
from judgerel_ray.stats.correction.prediction_powered import (
    labels_for_width,
    ppi_difference,
    ppi_mean,
)
from judgerel_ray.stats.intervals.shares import clustered_mean, weighted_share_interval

Z = 1.959963984540054


def sample(n, m, kind):
    """Labels, the judge of the same units, and the judge of others."""
    i, j = np.arange(n), np.arange(m)
    if kind == "scores":
        labels = ((i * 37) % 11) / 10
        judged = np.clip(labels * 0.8 + 0.1 + ((i * 13) % 7 - 3) / 20, 0, 1)
        return labels, judged, ((j * 29) % 17) / 16
    labels, others = (i % 5 < 3).astype(float), (j % 3 < 2).astype(float)
    judged = np.where(i % 7 == 0, 1 - labels, labels)
    return labels, 1 - judged if kind == "opposed" else judged, others


# ppi-python 0.2.3: ppi_mean_pointestimate(y, f, o) and ppi_mean_ci(y, f, o, alpha=0.05), of the
# same arrays.
PPI_PYTHON = [
    (40, 360, "binary", 0.6787935612346498, 0.5651293884947687, 0.792457733974531),
    (40, 360, "scores", 0.49091534473398013, 0.4417250766438053, 0.5401056128241549),
    (25, 60, "scores", 0.49231795925332966, 0.4105044506185875, 0.5741314678880719),
    (30, 30, "opposed", 0.6, 0.42469549188468364, 0.7753045081153163),
]


@pytest.mark.parametrize(("n", "m", "kind", "value", "low", "high"), PPI_PYTHON)
def test_means_and_standard_errors_are_those_of_ppi_python(n, m, kind, value, low, high):
    found = ppi_mean(*sample(n, m, kind))
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.value - Z * found.standard_error == pytest.approx(low, abs=1e-9)
    assert found.value + Z * found.standard_error == pytest.approx(high, abs=1e-9)


def test_interval_is_wider_than_without_the_terms_of_small_samples():
    found = ppi_mean(*sample(40, 360, "binary"), is_share=True)
    assert found.high - found.low > 2 * Z * found.standard_error


def test_a_judge_without_any_error_in_few_labels_leaves_some_open():
    found = ppi_mean([1.0] * 30 + [0.0] * 2, [1.0] * 30 + [0.0] * 2, [1.0] * 900 + [0.0] * 60,
                     is_share=True)  # fmt: skip
    assert found.high - found.low > 0.1


def test_labels_of_one_question_count_as_one():
    labels, judged, others = sample(40, 360, "binary")
    alone = ppi_mean(labels, judged, others, is_share=True)
    five = [np.repeat(one, 5) for one in (labels, judged)]
    repeated = ppi_mean(
        *five, np.repeat(others, 5), clusters_N=np.repeat(np.arange(40), 5),
        clusters_M=np.repeat(40 + np.arange(360), 5), is_share=False,
    )  # fmt: skip
    single = ppi_mean(labels, judged, others)
    assert repeated.value == pytest.approx(single.value, abs=1e-3)  # pooled variance has n - 1
    assert repeated.high == pytest.approx(single.high, abs=1e-3)
    assert alone.n_clusters == repeated.n_clusters == 40


def test_weights_take_out_what_was_labelled_more_often():
    rng = np.random.default_rng(3)
    true = rng.random(4000) < 0.3
    judged = np.where(rng.random(4000) < 0.8, true, ~true).astype(float)
    p = np.where(judged == 1, 0.5, 0.05)
    drawn = rng.random(4000) < p
    labels = true[drawn].astype(float)
    ids = np.arange(4000)
    found = ppi_mean(
        labels, judged[drawn], judged, weights_N=1 / p[drawn], clusters_N=ids[drawn],
        clusters_M=ids, is_share=True,
    )  # fmt: skip
    assert abs(labels.mean() - true.mean()) > 0.1
    assert found.low < true.mean() < found.high
    assert abs(found.value - true.mean()) < 0.03


def test_all_labelled_is_their_mean():
    found = ppi_mean([1, 0, 1, 1], [0, 0, 1, 1], [])
    assert (found.value, found.weight) == (0.75, 0.0)


def test_no_mean_without_two_questions_or_any_error():
    assert ppi_mean([1.0], [1.0], [1.0, 0.0]).undefined == "too_few_labels"
    assert ppi_mean([1, 1], [1, 1], [1], clusters_N=[0, 0], clusters_M=[1]).undefined == (
        "too_few_labels"
    )
    assert ppi_mean([2.0, 2.0], [2.0, 2.0], [2.0]).undefined == "no_spread"


@pytest.mark.parametrize(
    "wrong", [dict(weights_N=[0.0, 1.0]), dict(clusters_N=[1], clusters_M=[2])]
)
def test_what_is_no_sample_is_refused(wrong):
    with pytest.raises(ValueError, match="ppi_mean: "):
        ppi_mean([1, 0], [1, 0], [1], **wrong)


def test_difference_of_paired_systems_is_narrower_than_of_two_samples():
    labels, judged, others = sample(60, 540, "binary")
    other = np.where(np.arange(60) % 10 == 0, 0.0, labels)
    ids = (np.arange(60), 60 + np.arange(540))
    a = ppi_mean(labels, judged, others, clusters_N=ids[0], clusters_M=ids[1], is_share=True)
    b = ppi_mean(other, other, others, clusters_N=ids[0], clusters_M=ids[1], is_share=True)
    c = ppi_mean(
        other, other, others, clusters_N=ids[0] + 1000, clusters_M=ids[1] + 1000, is_share=True
    )
    paired, apart = ppi_difference(a, b), ppi_difference(a, c)
    assert paired.value == apart.value == a.value - b.value
    assert paired.high - paired.low < apart.high - apart.low


def test_labels_for_a_width_give_that_width():
    rng = np.random.default_rng(5)

    def drawn(n):
        true = rng.random(3000) < 0.6
        judged = np.where(true, rng.random(3000) < 0.9, rng.random(3000) < 0.3).astype(float)
        return ppi_mean(true[:n].astype(float), judged[:n], judged[n:], is_share=True)

    needed = [labels_for_width(drawn(100), 0.12, most=3000) for _ in range(40)]
    widths = [(one := drawn(n)).high - one.low for n in needed]
    assert np.mean(widths) == pytest.approx(0.12, rel=0.05)
    assert labels_for_width(drawn(100), 0.001, most=3000) is None
    with pytest.raises(ValueError, match="width must be above 0"):
        labels_for_width(drawn(50), 0.0, most=10)


# Clopper and Pearson by SciPy.
@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (431, 600)])
def test_ends_of_a_plain_share_are_exact(k, n):
    found = weighted_share_interval(clustered_mean([1.0] * k + [0.0] * (n - k)))
    exact = binomtest(k, n).proportion_ci()
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_rates_of_a_judge_weigh_labels_and_have_ends():
    found = judge_rates([1, 1, 0, 0], [1, 0, 0, 0], weights_N=[3, 1, 1, 1])
    assert (found.tpr, found.tnr, found.n_passed) == (0.75, 1.0, 2.0)
    assert found.tpr_interval.low < 0.75 < found.tpr_interval.high
    none = judge_rates([1, 1], [1, 0])
    assert (none.tnr, none.tnr_interval.undefined) == (None, "too_few_units")


def published(k, n, se, n_se, sp, n_sp):
    """Lang and Reiczigel (2014), equations of their section 2."""
    n_, p = n + Z**2, (k + Z**2 / 2) / (n + Z**2)
    n_se_, n_sp_ = n_se + 2, n_sp + 2
    se_, sp_ = (n_se * se + 1) / n_se_, (n_sp * sp + 1) / n_sp_
    youden = se_ + sp_ - 1
    pi = (p + sp_ - 1) / youden
    shift = 2 * Z**2 * (pi * se_ * (1 - se_) / n_se_ - (1 - pi) * sp_ * (1 - sp_) / n_sp_)
    square = p * (1 - p) / n_ + pi**2 * se_ * (1 - se_) / n_se_
    square += (1 - pi) ** 2 * sp_ * (1 - sp_) / n_sp_
    half = Z * np.sqrt(square) / youden
    return pi + shift - half, pi + shift + half


def test_corrected_rate_has_the_published_interval():
    labels, judged = [1] * 40 + [0] * 60, [1] * 36 + [0] * 4 + [1] * 12 + [0] * 48
    found = rogan_gladen(labels, judged, [1] * 210 + [0] * 390)
    # (210 / 600 + .8 - 1) / (.9 + .8 - 1)
    assert found.value == pytest.approx(0.15 / 0.7)
    assert (found.low, found.high) == pytest.approx(published(210, 600, 0.9, 40, 0.8, 60))


def test_a_judge_that_tells_nothing_corrects_nothing():
    guess = rogan_gladen([1, 1, 0, 0] * 5, [1, 0, 1, 0] * 5, [1, 0])
    assert guess.undefined == "judge_uninformative"
    few = [1] * 30 + [0] * 4
    assert rogan_gladen(few, few, [1, 0]).undefined == "too_few_labels"
    enough = [*few, 0]
    assert rogan_gladen(enough, enough, [1, 0]).undefined is None
    apart, together = list(range(35)), [*range(33), 33, 33]  # two of those that fail share one
    assert rogan_gladen(enough, enough, [1, 0], clusters_N=apart).undefined is None
    assert rogan_gladen(enough, enough, [1, 0], clusters_N=together).undefined == "too_few_labels"
    with pytest.raises(ValueError, match=r"within \[0, 1\]"):
        judge_rates([2.0], [1.0])


def votes_of_four():
    """60 items, 4 judges who err at regular places."""
    i = np.arange(60)
    true = (i % 5 < 3).astype(int)
    said = [np.where((i * (j + 3) + j) % (4 + j) == 0, 1 - true, true) for j in range(4)]
    return np.eye(2)[np.stack(said, axis=1)]


def test_rates_and_errors_without_labels_are_those_of_crowd_kit():
    # crowd-kit 1.4.2: DawidSkene(n_iter=2000, tol=-1.0).fit(...), priors_ and errors_[said 1, true]
    found = dawid_skene(votes_of_four(), resamples=0)
    assert found.rates_V == pytest.approx([0.33280442459628184, 0.6671955754037184], abs=1e-9)
    expected = [
        [0.1597673953581373, 0.7446522762354333],
        [5.007946239546088e-12, 0.5995243594914074],
        [0.029159503089032326, 0.8347810980050212],
        [0.15051724617502862, 0.7992267147538765],
    ]
    assert found.errors_JVV[:, 1, :] == pytest.approx(np.array(expected), abs=1e-9)


def simulated(rng, *, copies):
    """800 items, 80 % true; six judges right of 85 %, of whom the first ones share their errors."""
    true = rng.random(800) < 0.8
    wrong = rng.random((800, 6)) < 0.15
    wrong[:, :copies] = np.where(rng.random((800, copies)) < 0.7, wrong[:, :1], wrong[:, :copies])
    return np.eye(2)[(true[:, None] ^ wrong).astype(int)]


@pytest.mark.slow
@pytest.mark.parametrize(("copies", "correlated"), [(1, False), (3, True)])
def test_errors_that_judges_share_are_seen_in_what_they_are_worth(copies, correlated):
    found = dawid_skene(simulated(np.random.default_rng(11), copies=copies), resamples=60)
    assert (found.p_correlated < 0.05) is correlated
    assert (found.effective < found.effective_null - 3 * found.effective_null_sd) is correlated
    assert (found.low_V[1] < 0.8 < found.high_V[1]) is not correlated


def test_two_judges_identify_nothing():
    with pytest.raises(ValueError, match="at least 3 judges"):
        dawid_skene(votes_of_four()[:, :2])


def two_systems(rng, n=400, per_question=2):
    """Verdicts and truths of two systems for the same questions, easy ones easy for both."""
    question = np.repeat(np.arange(n), per_question)
    easy = rng.random(n)[question]
    found = []
    for prevalence in (0.65, 0.5):
        true = np.where(rng.random(question.size) < 0.5, easy, rng.random(question.size))
        passes = true < prevalence
        found.append(
            (passes * 1.0, (rng.random(question.size) < np.where(passes, 0.9, 0.25)) * 1.0)
        )
    return question, found


def by_rates(question, systems, n_labelled=160):
    some = question < n_labelled
    return [
        rogan_gladen(labels[some], judged[some], judged, clusters_N=question[some],
                     clusters_M=question)
        for labels, judged in systems
    ]  # fmt: skip


@pytest.mark.slow
def test_difference_by_rates_is_as_wide_as_redrawn_questions_say():
    rng = np.random.default_rng(8)
    question, systems = two_systems(rng)
    a, b = by_rates(question, systems)
    found = rogan_gladen_difference(a, b)
    assert found.value == pytest.approx(a.value - b.value)
    rows = np.arange(question.size).reshape(400, 2)
    redrawn = []
    for _ in range(800):
        drawn = np.concatenate([rng.integers(0, 160, 160), rng.integers(160, 400, 240)])
        again = [[one[rows[drawn]].ravel() for one in pair] for pair in systems]
        one, other = by_rates(question, again)
        redrawn.append(one.value - other.value)
    assert found.high - found.low == pytest.approx(2 * Z * np.std(redrawn), rel=0.1)


def test_difference_by_rates_of_the_same_questions_is_narrower_than_of_two_samples():
    question, systems = two_systems(np.random.default_rng(9))
    a, b = by_rates(question, systems)
    (apart,) = by_rates(question + 1000, systems[1:], 1160)
    (again,) = by_rates(question + 1000, systems[:1], 1160)

    def width(one, other):
        found = rogan_gladen_difference(one, other)
        return found.high - found.low

    assert width(a, b) < width(a, apart)
    assert width(a, a) < 0.5 * width(a, again)
    none = rogan_gladen([1] * 9, [1] * 9, [1, 0])
    assert rogan_gladen_difference(a, none).undefined == "too_few_labels"
    assert rogan_gladen([1] * 9, [1] * 9, [1, 0], least=0).undefined == "too_few_labels"
