"""Does a fit reach the lowest minimum that many starts find, and what does missing it cost?

    OMP_NUM_THREADS=1 python -m bench.omega_starts [--sets 40] [--starts 120] [--seed 1]

Correlations of 40 and 200 subjects on six to ten items, drawn from three laws: one factor, three
groups of items under a general factor, noise. Of three factors by minres: how many sets have a
lower minimum by so many other starts (random uniquenesses) than the fit has, and how far omega
hierarchical is then off; once for the two starts that were made before (uniquenesses of a half, and
what the other items do not explain), once for the shipped fit. Of one factor: the same for the
admissible solution, the starts random loadings. Prints times a matrix, and how often a bound holds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.internal_consistency import minres
from judgerel_ray.stats.internal_consistency import schmid_leiman as rotation
from judgerel_ray.stats.internal_consistency.minres import Lowest, lowest_minima
from judgerel_ray.stats.internal_consistency.schmid_leiman import (
    LEAST_UNIQUENESS,
    Factors,
    minres_factors,
    omegas_from_factors,
)

Floats = NDArray[np.float64]
LAWS = ("one factor", "three groups", "noise")
FACTORS = 3
WORSE = 1e-7  # of misfit, which rounding does not reach


def correlations(law: str, *, items: int, subjects: int, sets: int, seed: int) -> Floats:
    """Correlations of simulated scores."""
    rng = np.random.default_rng([seed, items, subjects, LAWS.index(law)])
    scores = rng.normal(size=(sets, subjects, items))
    if law == "one factor":
        loadings = rng.uniform(0.4, 0.8, (sets, 1, items))
        scores = rng.normal(size=(sets, subjects, 1)) * loadings + scores * np.sqrt(1 - loadings**2)
    elif law == "three groups":
        group = rng.normal(size=(sets, subjects, FACTORS))[..., np.arange(items) % FACTORS]
        scores = rng.normal(size=(sets, subjects, 1)) + 0.7 * group + scores
    return np.array([np.corrcoef(one.T) for one in scores])


def uniquenesses(matrices: Floats, starts: Floats) -> Lowest:
    """The lowest minimum of all these starts, none of them given up early."""
    n, n_starts, items = starts.shape
    low = np.full((n * n_starts, items), LEAST_UNIQUENESS)
    found = lowest_minima(
        rotation.FactorsMisfit(np.repeat(matrices, n_starts, axis=0), FACTORS),
        starts.reshape(-1, 1, items), low, np.ones_like(low),
    )  # fmt: skip
    best = found.value_B.reshape(n, n_starts).argmin(axis=1)
    chosen = np.arange(n) * n_starts + best
    return Lowest(found.x_BK[chosen], found.value_B[chosen], found.converged_B[chosen])


def hierarchical(matrices: Floats, psi: Floats) -> Floats:
    """Omega hierarchical of uniquenesses; NaN where there is none."""
    roots, vectors = np.linalg.eigh(matrices - psi[:, :, None] * np.eye(psi.shape[1]))
    top = np.where(roots[:, -FACTORS, None] > 0, roots[:, : -FACTORS - 1 : -1], np.nan)
    loadings = vectors[:, :, : -FACTORS - 1 : -1] * np.sqrt(top)[:, None, :]
    fits = Factors(loadings, np.ones(len(psi), dtype=bool), psi <= LEAST_UNIQUENESS)
    found = [one.hierarchical for one in omegas_from_factors(matrices, fits)]
    return np.array([np.nan if one is None else one for one in found])


def misfits(matrices: Floats, psi: Floats) -> Floats:
    """Half the squares of the smaller eigenvalues."""
    return rotation.FactorsMisfit(matrices, FACTORS).at(psi, np.arange(len(psi)))[0]


def of_three_factors(matrices: Floats, *, starts: int, seed: int) -> Iterator[str]:
    """What two starts and the shipped fit miss."""
    n, items = matrices.shape[:2]
    begun = time.perf_counter()
    shipped = minres_factors(matrices, n_factors=FACTORS)
    took = 1e3 * (time.perf_counter() - begun) / n
    shipped_psi = shipped.uniquenesses_BK
    unexplained = np.clip(1 / np.diagonal(np.linalg.inv(matrices), axis1=1, axis2=2), 0.005, 1)
    two = np.stack([np.full((n, items), 0.5), unexplained], axis=1)
    before = uniquenesses(matrices, two).x_BK
    rng = np.random.default_rng([seed, items])
    drawn = np.broadcast_to(rng.uniform(LEAST_UNIQUENESS, 1, (starts, items)), (n, starts, items))
    many = uniquenesses(matrices, drawn)
    best = np.minimum(many.value_B, misfits(matrices, shipped_psi))
    many_h = hierarchical(matrices, many.x_BK)
    for psi in (before, shipped_psi):
        missed = misfits(matrices, psi) > best + WORSE
        off = np.abs(hierarchical(matrices, psi) - many_h)[missed]
        off = off[~np.isnan(off)]
        yield f"{missed.sum()} of {n} | {off.max(initial=0.0):.3f}"
    yield f"{took:.1f}"


def of_one_factor(matrices: Floats, *, starts: int, seed: int) -> str:
    """What the admissible fit of one factor misses."""
    offdiagonal = matrices * (1 - np.eye(matrices.shape[1]))
    matrices, offdiagonal = (x[offdiagonal.sum(axis=(1, 2)) > 0] for x in (matrices, offdiagonal))
    n, items = matrices.shape[:2]
    fit = minres.one_factor_minres(matrices)
    rng = np.random.default_rng([seed, items])
    drawn = np.broadcast_to(rng.uniform(-1, 1, (starts, items)), (n, starts, items))
    ends = np.ones((n * starts, items))
    functions = minres.OneFactorMisfit(np.repeat(offdiagonal, starts, axis=0))
    found = lowest_minima(functions, drawn.reshape(-1, 1, items), -ends, ends)
    many = found.value_B.reshape(n, starts)
    by_minres = minres.OneFactorMisfit(offdiagonal).at(fit.loadings_BK, np.arange(n))[0]
    missed = int((by_minres > many.min(axis=1) + WORSE).sum())
    return f"{missed} of {n} | {int(fit.heywood_B.sum())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--starts", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| law | items | subjects | three factors, two starts: missed | omega_h off by at most | "
        "shipped: missed | off | ms a matrix | one factor: missed | at a bound |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for items in (6, 7, 8, 10):
        for subjects in (40, 200):
            for law in LAWS:
                matrices = correlations(
                    law, items=items, subjects=subjects, sets=given.sets, seed=given.seed
                )
                chosen = {"starts": given.starts, "seed": given.seed}
                cells = " | ".join(of_three_factors(matrices, **chosen))
                one = of_one_factor(matrices, **chosen)
                print(f"| {law} | {items} | {subjects} | {cells} | {one} |", flush=True)


if __name__ == "__main__":
    main()
