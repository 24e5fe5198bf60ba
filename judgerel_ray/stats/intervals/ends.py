"""Where both ends of an interval lie by its error: on the scale itself, on another, in trials."""

from __future__ import annotations

import math

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.intervals.precision import t_quantile

_MANY_TRIALS = 10**9


def student_ends(value: float, half: float) -> tuple[float, float, IntervalMethod]:
    """Lay an interval about a coefficient that is corrected for chance, at most 1.

    On the logit scale where the plain one excludes 0: there 0 could never be covered.

    Examples
    --------
    >>> low, high, method = student_ends(0.5, 0.25)
    >>> round(low, 3), round(high, 3), method.value
    (0.269, 0.731, 'jackknife_logit')
    >>> student_ends(0.5, 0.625)[:2]
    (-0.125, 1.0)
    """
    low, high = value - half, value + half
    if low > 0 and value < 1:
        return *logit_ends(value, half), IntervalMethod.JACKKNIFE_LOGIT
    return low, min(1.0, high), IntervalMethod.JACKKNIFE


def logit_ends(value: float, half: float) -> tuple[float, float]:
    """Lay an interval about a value in (0, 1) on the logit scale.

    Examples
    --------
    >>> [round(end, 3) for end in logit_ends(0.9, 0.1)]
    [0.748, 0.965]
    """
    # As tanh: exp could be too large for a double near 0 and 1.
    centre = math.log(value / (1 - value))
    reach = half / (value * (1 - value))
    return (1 + math.tanh((centre - reach) / 2)) / 2, (1 + math.tanh((centre + reach) / 2)) / 2


def share_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Lay the interval of a share about its value, by its standard error over questions.

    Each end is the outer one of two: that of Student's t, within [0, 1] (where the other end is cut
    off there, on the logit scale if that is farther out), and that of as many independent trials as
    the error is worth [1]_. Near 0 and 1 few questions differ, and a sample without them shows less
    spread, too, so that t excludes a truth nearer the middle too often (docs/decisions/008, 021).

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data, Survey Methodology 24.

    Examples
    --------
    >>> [round(end, 3) for end in share_ends(0.9, 0.03, 40)]
    [0.821, 0.961]
    >>> low, high = share_ends(0.95, 0.04, 20)
    >>> round(low, 3), high
    (0.765, 1.0)
    >>> share_ends(1.0, 0.25, 20)[1]
    1.0
    """
    half = t_quantile(n_questions - 1, confidence) * error
    low, high = value - half, value + half
    if not 0 < value < 1:
        return max(0.0, low), min(1.0, high)
    inner_low, inner_high = logit_ends(value, half)
    if high > 1 and low >= 0:
        low = min(low, inner_low)
    elif low < 0 and high <= 1:
        high = max(high, inner_high)
    by_trials = binomial_ends(value, error, n_questions, confidence=confidence)
    return max(0.0, min(low, by_trials[0])), min(1.0, max(high, by_trials[1]))


def binomial_ends(
    value: float, error: float, n_questions: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give Clopper and Pearson's ends for as many trials as the error of a share is worth.

    References
    ----------
    .. [1] Korn and Graubard (1998), as of :func:`share_ends`.

    Examples
    --------
    >>> [round(end, 3) for end in binomial_ends(0.9, 0.03, 40)]
    [0.821, 0.952]
    """
    lost = t_quantile(_MANY_TRIALS, confidence) / t_quantile(n_questions - 1, confidence)
    worth = value * (1 - value) / error**2 * lost**2
    return trial_ends(value * worth, worth, confidence)


def trial_ends(k: float, n: float, confidence: float) -> tuple[float, float]:
    """Give Clopper and Pearson's ends of k successes in n trials, which need not be whole.

    Examples
    --------
    >>> [round(end, 3) for end in trial_ends(4.5, 5, 0.95)]
    [0.371, 1.0]
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    return low, high
