"""How intervals are made: questions left out, drawn anew, or a posterior over all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.matrix import UnitCounts
from judgerel_ray.stats import (
    CountStatistic,
    Interval,
    bootstrap_interval,
    clopper_pearson,
    jackknife_interval,
)
from judgerel_ray.stats.intervals.mixing import posterior_interval

IntervalName = Literal["auto", "jackknife", "posterior", "bootstrap"]
METHODS: tuple[IntervalName, ...] = get_args(IntervalName)
_ONE_DECIDES = "depends_on_one_question"
_VERDICTS = 2  # of which the posterior is known to cover
_FEWEST = 40  # of fewer, 2.5 % is less than one resample
_RESOLVED = 0.975  # confidence above which fewer than five of the posterior's 400 draws lie outside
MOST_RESAMPLES = 100_000
"""Of a bootstrap: the ends of a 95 % interval then vary by 0.2 % of its width between draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChoice:
    """How the intervals of all coefficients are made."""

    # Leave out one question at a time, with Student's t; for nominal alpha, kappa and ICC the
    # posterior of a Dirichlet process, which covers where one verdict dominates (other coefficients
    # keep the jackknife); or draw questions anew. By default, "auto", the posterior where two
    # verdicts occur and the jackknife is flagged as resting on few informative questions or has no
    # interval because one question decides; the jackknife elsewhere. Above a confidence of .975
    # draws do not reach, and "auto" has the outer ends of both. Of more verdicts neither covers
    # everywhere (docs/coverage.md), and the flagged jackknife stays.
    method: IntervalName = "auto"
    n_resamples: int = 2000  # Resamples of the bootstrap, at least 40.
    # Seed of its draws: equal seeds give equal digits, whatever the order of the rows.
    seed: int = 0
    # Coverage asked for, in (0, 1); of every interval but those of items, of the published
    # estimator and of serving noise, which are 95 % ones.
    confidence: float = 0.95
    with_errors: bool = False  # Tables have their standard errors, as MeasuredCoefficients.

    def interval(
        self,
        counts_UV: NDArray[np.generic],
        statistic: CountStatistic,
        clusters_U: NDArray[np.int64],
        *,
        p_noise: float | None = None,
    ) -> Interval:
        """Compute the interval of a coefficient of counts; `p_noise` where it is known.

        Examples
        --------
        >>> from judgerel_ray.stats import count_statistic
        >>> agreement = count_statistic("percent_agreement", n_values=2)
        >>> counts = np.array([[2, 0], [1, 1], [0, 2], [2, 0]])
        >>> drawn = IntervalChoice(method="bootstrap", n_resamples=100)
        >>> [one.interval(counts, agreement, np.arange(4)).method for one in (AUTO, drawn)]
        ['outer ends of jackknife-t and binomial over 4 questions', 'percentile bootstrap, 100 \
resamples of 4 questions']
        >>> alpha = count_statistic("krippendorff_alpha", n_values=2)
        >>> AUTO.interval(counts, alpha, np.arange(4)).method.split(",")[0]
        'Dirichlet process posterior over 4 questions'
        """
        if self.method == "bootstrap":
            return bootstrap_interval(
                counts_UV,
                statistic,
                clusters_U=clusters_U,
                n_resamples=self.n_resamples,
                seed=self.seed,
                confidence=self.confidence,
            )
        left_out = jackknife_interval(
            counts_UV, statistic, clusters_U=clusters_U, confidence=self.confidence
        )
        failing = left_out.few_informative or left_out.undefined == _ONE_DECIDES
        wanted = failing and np.count_nonzero(np.asarray(counts_UV).any(axis=0)) == _VERDICTS
        if self.method == "jackknife" or (self.method == "auto" and not wanted):
            return left_out
        found = posterior_interval(
            counts_UV,
            statistic,
            clusters_U=clusters_U,
            confidence=self.confidence,
            p_noise=p_noise,
        )
        if found is None or found.undefined:
            return left_out
        found = replace(found, few_informative=failing, biased=left_out.biased)
        if self.confidence <= _RESOLVED or self.method == "posterior":
            return found
        # So far out lie a few draws at most, and the most extreme one is no quantile.
        ends = (found.low, found.high, left_out.low, left_out.high)
        if any(end is None for end in ends):
            return left_out
        low, high, *jackknife = (float(end) for end in ends if end is not None)
        return replace(found, low=min(low, jackknife[0]), high=max(high, jackknife[1]))


AUTO = IntervalChoice()
"""The default: it needs no seed, and covers better where questions are few."""


def share_interval(
    found: UnitCounts, statistic: CountStatistic, choice: IntervalChoice = AUTO
) -> Interval:
    """Compute the interval of a share: exact where each question has one reply, else by question.

    Where the bootstrap is chosen, it is used for either.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> one = UnitCounts(counts_UV=np.array([[1, 0]] * 3), values=(), clusters_U=np.arange(3))
    >>> share_interval(one, count_statistic("valid_rate", n_values=2)).method
    'Clopper-Pearson over 3 questions'
    """
    replies = np.bincount(found.clusters_U, weights=found.counts_UV.sum(axis=1))
    if replies.max(initial=0) == 1 and choice.method == AUTO.method:
        n_first, n = int(found.counts_UV[:, 0].sum()), int(found.counts_UV.sum())
        return clopper_pearson(n_first, n, confidence=choice.confidence)
    return choice.interval(found.counts_UV, statistic, found.clusters_U)


def check_resamples(n: int, *, fewest: int = 1) -> None:
    """Refuse too few resamples, and more than anything is gained by.

    Examples
    --------
    >>> check_resamples(2000)
    """
    if n < fewest:
        raise SweepError(f"resamples must be at least {fewest}, got {n}")
    if n > MOST_RESAMPLES:
        raise SweepError(
            f"resamples must be at most {MOST_RESAMPLES}, got {n}: with as many, chance moves the "
            "ends of an interval by 0.2 % of its width, and more only take longer",
            hint=f"--resamples {MOST_RESAMPLES}",
        )


def interval_choice(
    method: str = "auto", *, resamples: int | None = None, seed: int | None = None
) -> IntervalChoice:
    """Choose how intervals are made, by name.

    Examples
    --------
    >>> interval_choice("bootstrap", seed=7).seed
    7
    >>> interval_choice(seed=7)
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: resamples and seed are of the bootstrap alone. Try: ...
    """
    known = next((name for name in METHODS if name == method), None)
    if known is None:
        raise SweepError(f"interval must be one of {', '.join(METHODS)}, got {method!r}")
    if known != "bootstrap":
        if resamples is not None or seed is not None:
            raise SweepError(
                "resamples and seed are of the bootstrap alone", hint="--interval bootstrap"
            )
        return IntervalChoice(method=known)
    found = IntervalChoice(
        method=known,
        n_resamples=AUTO.n_resamples if resamples is None else resamples,
        seed=AUTO.seed if seed is None else seed,
    )
    check_resamples(found.n_resamples, fewest=_FEWEST)
    if found.seed < 0:
        raise SweepError(f"seed must be at least 0, got {found.seed}")
    return found
