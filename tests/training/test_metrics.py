"""Scores against their formulas."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tmft.training.metrics import is_constant, measure


def ranks(values: np.ndarray) -> np.ndarray:
    """Mean ranks, written from the definition."""
    return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50)), min_size=4, max_size=40))
def test_correlations_follow_their_formulas(pairs):
    labels, predictions = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if np.ptp(labels) == 0 or np.ptp(predictions) == 0:
        return
    scores = measure("cosine_regression", predictions, labels, 2, predictions)
    np.testing.assert_allclose(scores["pearson"], np.corrcoef(predictions, labels)[0, 1], atol=1e-9)
    np.testing.assert_allclose(scores["spearman"], np.corrcoef(ranks(predictions), ranks(labels))[0, 1], atol=1e-9)
    assert {type(score) for score in scores.values()} == {float}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=4, max_size=20))
def test_kendalls_tau_counts_pairs_in_order(pairs):
    labels, predictions = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if np.ptp(labels) == 0 or np.ptp(predictions) == 0:
        return
    signs = [np.sign(side[:, None] - side) for side in (labels, predictions)]
    expected = np.sum(signs[0] * signs[1]) / np.sqrt(np.sum(signs[0] ** 2) * np.sum(signs[1] ** 2))
    found = measure("cosine_regression", predictions, labels, 2, predictions)["kendall"]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_rounding_noise_is_constant_and_a_small_spread_is_not():
    noise = np.random.default_rng(0).standard_normal(100)
    assert is_constant(0.98 + 1e-7 * noise)
    assert not is_constant(0.98 + 1e-4 * noise)
