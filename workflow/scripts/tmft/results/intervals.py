"""How sure a mean or a difference of scores is: t intervals over seeds, a bootstrap over test pairs and seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.95
CHUNK = 256  # resamples in memory at a time


def t_half_width(sd: ArrayLike, n: ArrayLike) -> Any:
    """Half of the 95 % t interval of a mean over n seeds with sample standard deviation ``sd``; nan below two seeds."""
    n = np.asarray(n, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sd * stats.t.ppf((1 + LEVEL) / 2, n - 1) / np.sqrt(n)


@dataclass(frozen=True)
class Estimate:
    """A mean of ``n`` replicates with its standard error, nan where n is 1."""

    mean: float
    error: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float], other_n: int | None = None) -> "Estimate":
        """The mean of values, one per seed.

        With ``other_n`` the error is that of its difference from a mean over so many other seeds, whose spread is not
        known and taken to be the same: sd sqrt(1/n + 1/other_n).
        """
        n = len(values)
        sd = float(np.std(values, ddof=1)) if n > 1 else math.nan
        return cls(float(np.mean(values)), sd * math.sqrt(1 / n + (1 / other_n if other_n else 0)), n)

    @property
    def half_width(self) -> float:
        """Half of the 95 % t interval."""
        return float(self.error * stats.t.ppf((1 + LEVEL) / 2, self.n - 1))

    def p_not_above(self, value: float = 0.0) -> float:
        """The p-value of the hypothesis that the mean is at most ``value``; 1 where nothing can be said."""
        if not self.error > 0:
            return 0.0 if self.error == 0 and self.mean > value else 1.0
        return float(stats.t.sf((self.mean - value) / self.error, self.n - 1))

    def p_not_below(self, value: float = 0.0) -> float:
        """The p-value of the hypothesis that the mean is at least ``value``; 1 where nothing can be said."""
        return Estimate(-self.mean, self.error, self.n).p_not_above(-value)

    def p_equal(self, value: float = 0.0) -> float:
        """The two-sided p-value of the hypothesis that the mean is ``value``."""
        return min(1.0, 2 * min(self.p_not_above(value), self.p_not_below(value)))


def p_fewer_than(number: int, p_values: Sequence[float]) -> float:
    """The p-value of the hypothesis that fewer than ``number`` of the effects are there, from the p-value of each.

    Bonferroni's combination of all but the ``number`` - 1 smallest (Benjamini and Heller 2008): of all effects it is
    the largest p-value, of any one k times the smallest.
    """
    ordered = sorted(p_values)
    return min(1.0, (len(ordered) - number + 1) * ordered[number - 1])


def bootstrap_scores(metric: str, predictions: np.ndarray, labels: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Scores (runs, resamples) of the predictions (runs, n) over test pairs drawn with replacement.

    A resample has the same pairs for every run. ``metric`` is of SCORES; predictions are decisions where that wants
    classes. Constant predictions have the correlation 0.
    """
    generator = np.random.default_rng(seed)
    n, parts = len(labels), []
    for start in range(0, resamples, CHUNK):
        counts = generator.multinomial(n, np.full(n, 1 / n), size=min(CHUNK, resamples - start)).astype(float)
        parts.append(SCORES[metric](predictions, labels, counts))
    return np.concatenate(parts, axis=1)


def paired_difference(first: np.ndarray, second: np.ndarray, paired: bool, seed: int) -> np.ndarray:
    """The difference of two mean scores in each resample, from ``bootstrap_scores`` (seeds, resamples) of both.

    Seeds are drawn with replacement too, the same for both where they are ``paired``. A few seeds drawn from themselves
    vary less than new ones would, so what they differ from their mean by is widened to the t interval's width.
    """
    generator = np.random.default_rng(seed)
    draws = [_draw(generator, first)]
    draws.append(draws[0] if paired else _draw(generator, second))
    return _mean_of(first, draws[0]) - _mean_of(second, draws[1])


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of bootstrap values."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _draw(generator: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    return generator.integers(len(scores), size=scores.shape)


def _mean_of(scores: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """The mean over the seeds drawn for each resample, their deviations widened."""
    n = len(scores)
    mean = scores.mean(axis=0)
    if n == 1:
        return mean
    widening = math.sqrt(n / (n - 1)) * stats.t.ppf((1 + LEVEL) / 2, n - 1) / stats.norm.ppf((1 + LEVEL) / 2)
    return mean + widening * (np.take_along_axis(scores, draws, axis=0).mean(axis=0) - mean)


def _spearman(predictions: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """With mean ranks for ties, as in scipy."""
    label_ranks = _centred_ranks(labels, counts)
    return np.stack([_correlation(_centred_ranks(own, counts), label_ranks, counts) for own in predictions])


def _pearson(predictions: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    def centred(values: np.ndarray) -> np.ndarray:
        return values - (counts @ values / counts.sum(axis=1))[:, None]

    centred_labels = centred(labels.astype(float))
    return np.stack([_correlation(centred(own.astype(float)), centred_labels, counts) for own in predictions])


def _centred_ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    order = np.argsort(values, kind="stable")
    distinct, starts, groups = np.unique(values[order], return_index=True, return_inverse=True)
    sizes = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = np.empty(counts.shape)
    ranks[:, order] = (np.cumsum(sizes, axis=1) - sizes / 2)[:, groups]
    return ranks - counts.sum(axis=1, keepdims=True) / 2


def _correlation(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (counts * x * y).sum(axis=1) / np.sqrt((counts * x * x).sum(axis=1) * (counts * y * y).sum(axis=1))
    return np.nan_to_num(ratio)


def _f1(predictions: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.stack([_class_f1(own, labels, counts, 1) for own in predictions])


def _macro_f1(predictions: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    classes = np.unique(labels)
    return np.stack([np.mean([_class_f1(own, labels, counts, one) for one in classes], axis=0) for own in predictions])


def _class_f1(predictions: np.ndarray, labels: np.ndarray, counts: np.ndarray, positive: int) -> np.ndarray:
    predicted, actual = predictions == positive, labels == positive
    return 2 * counts @ (predicted & actual) / np.maximum(1, counts @ predicted + counts @ actual)


SCORES = {"spearman": _spearman, "pearson": _pearson, "f1": _f1, "macro_f1": _macro_f1}
"""Scores (runs, resamples) of predictions (runs, n) and labels (n,), a pair taken ``counts`` (resamples, n) times."""
