"""Scores of predictions."""

import numpy as np
from scipy import stats

# Cosines of a collapsed encoder differ by rounding only; their order means nothing.
CONSTANT = 1e-5


def is_constant(predictions: np.ndarray) -> bool:
    """Whether n predictions are the same to float32 rounding, so that no score of them means anything."""
    return bool(np.ptp(predictions) < CONSTANT)


def correlations(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Spearman and Pearson correlation of (n,) predictions with (n,) labels, from -1 to 1 (paper, section 3)."""
    return {
        "spearman": float(stats.spearmanr(predictions, labels).statistic),
        "pearson": float(stats.pearsonr(predictions, labels).statistic),
    }


def accuracy(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Share of the n predicted classes that are right."""
    return float(np.mean(predictions == labels))


def f1(predictions: np.ndarray, labels: np.ndarray, positive: int = 1) -> float:
    """Harmonic mean of precision and recall of one class, 2 TP / (2 TP + FP + FN); 0 where it does not occur."""
    predicted, actual = predictions == positive, labels == positive
    return float(2 * np.sum(predicted & actual) / max(1, np.sum(predicted) + np.sum(actual)))


def macro_f1(predictions: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """Mean of the F1 of the classes 0 to ``classes`` - 1."""
    return float(np.mean([f1(predictions, labels, positive) for positive in range(classes)]))


def average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """Sum over the distinct scores, falling, of precision times the recall gained; ``labels`` are 1 or 0, (n,)."""
    _, chosen, hits = _cuts(scores, labels)
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
