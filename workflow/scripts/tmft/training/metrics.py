"""Scores of predictions: each metric is a function of the name under which tmft.experiment.metrics declares it.

A function takes n decisions, n labels, the number of classes and the n predictions that the decisions come from. Of a
regression the decisions are the predictions themselves.
"""

from typing import Any

import numpy as np
from scipy import stats

from tmft.experiment.metrics import METRICS

# Cosines of a collapsed encoder differ by rounding only; their order means nothing.
CONSTANT = 1e-5


def is_constant(predictions: np.ndarray) -> bool:
    """Whether n predictions are the same to float32 rounding, so that no score of them means anything."""
    return bool(np.ptp(predictions) < CONSTANT)


def measure(
    objective: str, decisions: np.ndarray, labels: np.ndarray, classes: int, predictions: np.ndarray
) -> dict[str, float]:
    """All metrics of an objective by name."""
    return {metric: globals()[metric](decisions, labels, classes, predictions) for metric in METRICS[objective]}


def spearman(decisions: np.ndarray, labels: np.ndarray, *_: Any) -> float:
    """Rank correlation with the labels, from -1 to 1 (paper, section 3)."""
    return float(stats.spearmanr(decisions, labels).statistic)


def pearson(decisions: np.ndarray, labels: np.ndarray, *_: Any) -> float:
    """Correlation with the labels, from -1 to 1."""
    return float(stats.pearsonr(decisions, labels).statistic)


def kendall(decisions: np.ndarray, labels: np.ndarray, *_: Any) -> float:
    """Kendall's tau-b: of pairs of items, the share in the order of the labels less that in the other, ties apart."""
    return float(stats.kendalltau(decisions, labels).statistic)


def accuracy(decisions: np.ndarray, labels: np.ndarray, *_: Any) -> float:
    """Share of the decisions that are right."""
    return float(np.mean(decisions == labels))


def f1(decisions: np.ndarray, labels: np.ndarray, *_: Any) -> float:
    """F1 of class 1: the harmonic mean of precision and recall."""
    return _class_f1(decisions, labels, 1)


def macro_f1(decisions: np.ndarray, labels: np.ndarray, classes: int, *_: Any) -> float:
    """Mean of the F1 of the classes 0 to ``classes`` - 1."""
    return float(np.mean([_class_f1(decisions, labels, positive) for positive in range(classes)]))


def _class_f1(decisions: np.ndarray, labels: np.ndarray, positive: int) -> float:
    """2 TP / (2 TP + FP + FN); 0 where the class does not occur."""
    predicted, actual = decisions == positive, labels == positive
    return float(2 * np.sum(predicted & actual) / max(1, np.sum(predicted) + np.sum(actual)))


def average_precision(decisions: np.ndarray, labels: np.ndarray, classes: int, predictions: np.ndarray) -> float:
    """Sum over the distinct predictions, falling, of precision times the recall gained; ``labels`` are 1 or 0."""
    _, chosen, hits = _cuts(predictions, labels)
    return float(np.sum(np.diff(hits, prepend=0) * hits / chosen) / hits[-1])


def best_threshold(scores: np.ndarray, labels: np.ndarray, lowest: float) -> float:
    """The threshold with the best F1 of ``scores >= threshold``; the highest where several have it.

    It lies midway between two scores, or at ``lowest``, the lowest possible score, where calling everything positive
    is best.
    """
    cuts, chosen, hits = _cuts(scores, labels)
    thresholds = np.append((cuts[:-1] + cuts[1:]) / 2, lowest)
    return float(thresholds[np.argmax(2 * hits / (chosen + hits[-1]))])


def _cuts(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct scores, falling, and for each how many scores reach it and how many of these are positive."""
    cuts, places, counts = np.unique(-scores.astype(np.float64), return_inverse=True, return_counts=True)
    return -cuts, np.cumsum(counts), np.cumsum(np.bincount(places, weights=labels))
