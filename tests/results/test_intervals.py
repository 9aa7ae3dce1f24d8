"""Intervals: against scipy and against plain loops, and how often they hold what they should."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from tmft.results.intervals import (
    SCORES,
    Estimate,
    bootstrap_scores,
    p_fewer_than,
    paired_difference,
    percentile_interval,
    t_half_width,
)

VALUES = [0.61, 0.64, 0.59, 0.66, 0.62]


def test_the_t_interval_is_scipys():
    test = stats.ttest_1samp(VALUES, 0.6)
    found = Estimate.of(VALUES)
    low, high = test.confidence_interval(0.95)
    np.testing.assert_allclose((found.mean - found.half_width, found.mean + found.half_width), (low, high))
    np.testing.assert_allclose(found.p_equal(0.6), test.pvalue)
    np.testing.assert_allclose(found.p_not_above(0.6), stats.ttest_1samp(VALUES, 0.6, alternative="greater").pvalue)
    np.testing.assert_allclose(found.p_not_below(0.6), stats.ttest_1samp(VALUES, 0.6, alternative="less").pvalue)
    np.testing.assert_allclose(t_half_width(np.std(VALUES, ddof=1), 5), found.half_width)


def test_half_widths_of_whole_columns():
    found = t_half_width(np.array([1.0, 2.0, math.nan, 3.0]), np.array([5, 2, 1, 0]))
    np.testing.assert_allclose(found[:2], [2.7764451 / math.sqrt(5), 2 * 12.7062047 / math.sqrt(2)])
    assert np.isnan(found[2:]).all()


def test_one_seed_has_no_interval_and_tells_nothing():
    found = Estimate.of([0.7])
    assert math.isnan(found.half_width) and found.p_equal(0.1) == found.p_not_above(0.1) == 1


def test_seeds_without_spread_are_certain():
    assert (Estimate.of([1.0, 1.0]).p_equal(0), Estimate.of([1.0, 1.0]).p_equal(1)) == (0, 1)


def test_a_mean_over_other_seeds_adds_its_own_error():
    """Two groups with one known sd, that of the first: the error of a difference of means."""
    np.testing.assert_allclose(Estimate.of(VALUES, 4).error, np.std(VALUES, ddof=1) * math.sqrt(1 / 5 + 1 / 4))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_all_of_some_effects_is_the_largest_p_and_any_of_them_bonferronis(p_values):
    assert p_fewer_than(len(p_values), p_values) == max(p_values)
    assert p_fewer_than(1, p_values) == min(1, len(p_values) * min(p_values))


def test_false_alarms_of_some_effects_are_rare():
    """7 of 10 effects are there and 8 are claimed: at most 5 % of the tries say so."""
    generator = np.random.default_rng(0)
    tries = np.concatenate([np.zeros((4000, 7)), generator.uniform(size=(4000, 3))], axis=1)
    assert np.mean([p_fewer_than(8, row) < 0.05 for row in tries]) < 0.055


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_resample_scores_as_its_pairs_do(seed):
    """Correlations of the drawn pairs by scipy, ties among labels and predictions included."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 6, size=40).astype(float)
    predictions = np.round(labels / 5 + generator.normal(0, 0.5, size=(3, 40)), 1)
    counts = generator.multinomial(40, np.full(40, 1 / 40), size=4).astype(float)
    for metric, expected in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        found = SCORES[metric](predictions, labels, counts)
        for run, own in enumerate(predictions):
            for resample, times in enumerate(counts.astype(int)):
                drawn = expected(np.repeat(own, times), np.repeat(labels, times)).statistic
                np.testing.assert_allclose(found[run, resample], drawn, atol=1e-12)


def test_a_resample_of_classes_scores_as_its_pairs_do():
    generator = np.random.default_rng(0)
    labels, predictions = generator.integers(0, 3, size=60), generator.integers(0, 3, size=(2, 60))
    counts = generator.multinomial(60, np.full(60, 1 / 60), size=5).astype(float)
    macro, binary = (SCORES[metric](predictions, labels, counts) for metric in ("macro_f1", "f1"))
    for run, own in enumerate(predictions):
        for resample, times in enumerate(counts.astype(int)):
            drawn = np.repeat(labels, times), np.repeat(own, times)
            np.testing.assert_allclose(macro[run, resample], f1_score(*drawn, average="macro", labels=[0, 1, 2]))
            np.testing.assert_allclose(binary[run, resample], f1_score(*drawn, average=None, labels=[1])[0])


def pairs(generator: np.random.Generator, n: int, noise: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and one run's predictions for each amount of noise, which is in part the same for all of them."""
    labels, common = generator.normal(size=n), generator.normal(size=n)
    return labels, np.stack([labels + own * (common + generator.normal(size=n)) for own in noise])


def test_over_pairs_alone_it_is_scipys_bootstrap():
    labels, predictions = pairs(np.random.default_rng(1), 300, [0.4, 0.5])

    def difference(first, second, gold):
        return stats.spearmanr(first, gold).statistic - stats.spearmanr(second, gold).statistic

    expected = stats.bootstrap(
        (*predictions, labels),
        difference,
        n_resamples=3000,
        paired=True,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    scores = bootstrap_scores("spearman", predictions, labels, 3000, seed=0)
    found = percentile_interval(paired_difference(scores[:1], scores[1:], paired=True, seed=0))
    np.testing.assert_allclose(found, expected, atol=0.1 * (expected.high - expected.low))


def test_the_seed_decides():
    labels, predictions = pairs(np.random.default_rng(0), 50, [0.5, 0.6])
    scores = [bootstrap_scores("spearman", predictions, labels, 300, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_constant_predictions_correlate_with_nothing():
    scores = bootstrap_scores("spearman", np.zeros((1, 20)), np.arange(20.0), 10, seed=0)
    np.testing.assert_array_equal(scores, 0)


@pytest.mark.parametrize(
    ("n", "shift"), [(80, 0.0), (80, 0.15), (600, 0.3)], ids=["few pairs", "few pairs and seeds that differ", "seeds"]
)
def test_the_interval_covers_the_difference_it_is_of(n, shift):
    """Each time new test pairs and five new seeds of two equal encoders, whose true difference is 0.

    An encoder errs on its own pairs, its seeds much alike; a seed has more or less of that error, by ``shift``.
    19 in 20 intervals should hold 0; in 400 tries two standard errors are 2.2 points. Five seeds drawn from
    themselves, without more, would hold it in 87 of 100 where seeds are what differs.
    """
    generator = np.random.default_rng(3)
    inside = 0
    for attempt in range(400):
        labels, scores = generator.normal(size=n), []
        for _ in range(2):
            error = generator.normal(size=n) + 0.4 * generator.normal(size=(5, n))
            amount = 0.6 + shift * generator.normal(size=(5, 1))
            scores.append(bootstrap_scores("pearson", labels + amount * error, labels, 100, attempt))
        low, high = percentile_interval(paired_difference(*scores, paired=True, seed=attempt))
        inside += low <= 0 <= high
    assert 0.93 <= inside / 400 <= 0.985
