"""Agreement between judges by replication."""

import numpy as np
import pytest

from judgerel_ray.legacy import inter_rater_spread

# Judges x replications x questions.
CODES = np.array(
    [
        [[1, 6, 7], [1, 2, 6], [6, 6, 6]],
        [[1, 6, 7], [2, 2, 3], [6, 6, 6]],
        [[2, 6, 1], [1, 2, 6], [6, 6, 6]],
    ],
    dtype=float,
)


def by_hand(non_response):
    """Pair by pair, in plain Python."""
    shares = []
    for replication in range(CODES.shape[1]):
        hits = pairs = 0
        for i in range(3):
            for j in range(i):
                for a, b in zip(CODES[i, replication], CODES[j, replication], strict=True):
                    both = a < 6 and b < 6
                    if non_response == "left_out" and not both:
                        continue
                    pairs += 1
                    hits += a == b and (both or non_response == "agrees")
        shares.append(hits / pairs if pairs else np.nan)
    return shares


@pytest.mark.parametrize("non_response", ["agrees", "never_agrees", "left_out"])
def test_shares_are_counted_pair_by_pair(non_response):
    found = inter_rater_spread(CODES, non_response=non_response)
    assert found.agreement_R == pytest.approx(by_hand(non_response), nan_ok=True)
    assert found.non_response == non_response


def test_a_replication_without_pairs_is_left_out_of_the_summary():
    found = inter_rater_spread(CODES, non_response="left_out")
    assert np.isnan(found.agreement_R[2])
    assert found.summary.n == 2
    assert inter_rater_spread(CODES[:, 2:], non_response="left_out").summary is None


def test_missing_codes_are_left_out():
    codes = CODES.copy()
    codes[2] = np.nan
    assert np.array_equal(
        inter_rater_spread(codes).agreement_R, inter_rater_spread(codes[:2]).agreement_R
    )


@pytest.mark.parametrize("codes", [CODES[:1], CODES[0]])
def test_one_judge_has_nobody_to_agree_with(codes):
    with pytest.raises(ValueError, match="at least two judges"):
        inter_rater_spread(codes)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="agrees, never_agrees, left_out, got 'no'"):
        inter_rater_spread(CODES, non_response="no")
