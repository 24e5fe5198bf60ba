"""Alpha and omega of schroeder2024: replications as subjects, questions as items, signs dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.core.codes import Flag
from judgerel_ray.legacy.factoring import (
    NON_RESPONSE,
    Floats,
    absolute_correlations,
    fit_by_derivatives,
    fit_by_library,
    fit_in_some_order,
    standardised_alpha,
)

WARNING = Flag.PUBLISHED.note()
"""What must stand beside every number of this estimator."""

_LIBRARY_UP_TO = 200  # questions: its time grows with their fourth power


@dataclass(frozen=True, slots=True, kw_only=True)
class Schroeder2024:
    """The published estimator's two numbers; iterates as (alpha, omega).

    Attributes
    ----------
    alpha, omega : float or None
        Averages over questions: `n_varying` times the coefficient of ``|R|``, and 1 for each of
        `n_constant`.
    alpha_undefined, omega_undefined : str or None
        Why there is none.
    n_questions, n_replications : int
        As given; replications with a missing code are not counted.
    n_varying : int
        Questions with more than one code: all that was analysed.
    n_constant : int
        Questions answered alike every time, averaged in as reliability 1.
    n_silent : int
        Questions never answered; they vanish.
    n_dropped : int
        Replications left out because a code is missing.
    n_improper : int
        Questions with a uniqueness below 0 (Heywood cases), which the source does not look for.
    converged : bool or None
        The optimiser's word; None where nothing was fitted.
    """

    alpha: float | None
    omega: float | None
    alpha_undefined: str | None = None
    omega_undefined: str | None = None
    n_questions: int
    n_replications: int
    n_varying: int = 0
    n_constant: int = 0
    n_silent: int = 0
    n_dropped: int = 0
    n_improper: int = 0
    converged: bool | None = None

    def __iter__(self) -> Iterator[float | None]:
        yield from (self.alpha, self.omega)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Codes sorted out by the authors' rule: what is analysed, averaged in, and dropped."""

    varying_RK: Floats  # noqa: N815  a shape, not a case
    n_questions: int
    n_replications: int
    n_constant: int
    n_silent: int
    n_dropped: int

    @property
    def n_varying(self) -> int:
        """Questions with more than one code."""
        return int(self.varying_RK.shape[1])

    @property
    def undefined(self) -> str | None:
        """Why nothing can be computed at all."""
        if not self.n_questions:
            return "no_verdicts"
        if self.n_replications < 2:
            return "single_replication"
        return "no_verdicts" if self.n_silent == self.n_questions else None

    def average(self, coefficient: float) -> float:
        """Count every constant question as 1."""
        total = self.n_constant + self.n_varying * coefficient
        return total / (self.n_constant + self.n_varying)


def schroeder2024(codes_RQ: ArrayLike) -> Schroeder2024:  # noqa: N803
    """Compute the alpha and omega printed in [1]_, as its authors' script does.

    Parameters
    ----------
    codes_RQ : array-like of float, shape (n_replications, n_questions)
        One code a judgment, from :func:`judgerel_ray.legacy.codes_from_verdicts`; NaN is missing,
        and its whole replication is left out.

    Returns
    -------
    Schroeder2024
        Both 1 where no question varies. Undefined are: "no_verdicts" (no questions, or none that
        was ever answered: nothing is left to average),
        "single_replication", "one_varying_question" (the script fails), "singular_correlations"
        and "factor_analysis_failed" (omega alone: the script fails).

    Raises
    ------
    ValueError
        If `codes_RQ` has not two axes or holds infinities.
    SweepError
        If factor_analyzer is not installed (extra ``legacy``).

    See Also
    --------
    schroeder2024_noise_floor : What the same script makes of independent noise.

    Notes
    -----
    Questions that never vary are taken out: those coded 6 throughout vanish, the others count as 1.
    On the rest, correlations over replications lose their signs; alpha is Cronbach's of that matrix
    and omega is omega total from three minres factors, rotated by oblimin, with reliabilipy's
    communalities. Above 200 varying questions the same factors are fitted with exact derivatives,
    which gives the same omega to 1e-7.

    Given the question, replications are independent, so the population covariance is diagonal and
    the omega meant is 0: what is measured is sampling noise and how many questions there are.
    `WARNING` says so and belongs beside every use.

    The order of questions and replications changes omega by less than 1e-6, and by up to 1e-3 where
    correlations are singular: then the optimiser starts from rounding.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    Six fair dice, thrown 20 times, are "reliable":

    >>> found = schroeder2024(np.random.default_rng(0).integers(1, 7, size=(20, 6)))
    >>> found.alpha > 0.5, found.omega > 0.5
    (True, True)
    >>> alpha, omega = schroeder2024([[1, 6], [1, 6]])
    >>> alpha, omega
    (1.0, 1.0)
    """
    design = sort_out(codes_RQ)
    why = design.undefined or ("one_varying_question" if design.n_varying == 1 else None)
    nothing = Schroeder2024(
        alpha=None,
        omega=None,
        alpha_undefined=why,
        omega_undefined=why,
        n_questions=design.n_questions,
        n_replications=design.n_replications,
        n_varying=design.n_varying,
        n_constant=design.n_constant,
        n_silent=design.n_silent,
        n_dropped=design.n_dropped,
    )
    if why:
        return nothing
    if not design.n_varying:
        return replace(nothing, alpha=1.0, omega=1.0)
    corr = absolute_correlations(design.varying_RK)
    alpha = design.average(standardised_alpha(corr))
    try:
        by = fit_by_library if design.n_varying <= _LIBRARY_UP_TO else fit_by_derivatives
        fit = fit_in_some_order(corr, by)
    except ValueError as error:  # numpy's LinAlgError is one
        singular = isinstance(error, np.linalg.LinAlgError)
        reason = "singular_correlations" if singular else "factor_analysis_failed"
        return replace(nothing, alpha=alpha, omega_undefined=reason)
    return replace(
        nothing,
        alpha=alpha,
        omega=design.average(fit.omega),
        n_improper=fit.n_improper,
        converged=fit.converged,
    )


def sort_out(codes_RQ: ArrayLike) -> Design:  # noqa: N803
    """Sort questions into varying, constant and silent ones."""
    codes = np.asarray(codes_RQ, dtype=np.float64)
    if codes.ndim != 2:
        raise ValueError(
            f"schroeder2024: codes must be replications x questions, got shape {codes.shape}"
        )
    if np.isinf(codes).any():
        raise ValueError("schroeder2024: codes must be finite or NaN, got an infinity")
    whole = codes[~np.isnan(codes).any(axis=1)]
    constant = (whole == whole[:1]).all(axis=0) if len(whole) else np.ones(codes.shape[1], bool)
    silent = constant & (whole == NON_RESPONSE).all(axis=0)
    return Design(
        varying_RK=whole[:, ~constant],
        n_questions=codes.shape[1],
        n_replications=len(whole),
        n_constant=int((constant & ~silent).sum()),
        n_silent=int(silent.sum()),
        n_dropped=len(codes) - len(whole),
    )
