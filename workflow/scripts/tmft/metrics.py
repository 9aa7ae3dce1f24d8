"""Scores of predictions."""

import numpy as np
from scipy import stats

# Cosines of a collapsed encoder differ by rounding only; their order means nothing.
CONSTANT = 1e-5


def is_constant(predictions: np.ndarray) -> bool:
    """Whether n predictions are the same to float32 rounding, so that no correlation is defined."""
    return bool(np.ptp(predictions) < CONSTANT)


def correlations(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Spearman and Pearson correlation of (n,) predictions with (n,) labels, from -1 to 1 (paper, section 3)."""
    return {
        "spearman": float(stats.spearmanr(predictions, labels).statistic),
        "pearson": float(stats.pearsonr(predictions, labels).statistic),
    }
