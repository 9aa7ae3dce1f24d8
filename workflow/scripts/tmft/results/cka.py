"""How alike two encoders' sentence vectors are: linear centred kernel alignment (CKA; Kornblith et al. 2019)."""

import math
from typing import Any, NamedTuple

import numpy as np

# Squared, relative: features that differ by float32 rounding only are the same.
CONSTANT = 1e-12


class Alignment(NamedTuple):
    """The CKA of two sets of features over the same ``n`` sentences, None with a ``reason`` where it is not defined."""

    n: int
    biased: float | None
    """The published estimator, 0 to 1; independent features of width d are well above 0 unless n is far above d."""
    unbiased: float | None
    """From unbiased estimates of the Hilbert-Schmidt independence criterion (HSIC), so that independent features give
    values around 0, negative ones among them."""
    reason: str | None


class _Features(NamedTuple):
    """Features that are centred, and what is needed of them alone."""

    values: np.ndarray  # (n, width)
    squared_norms: np.ndarray  # (n,)
    biased: float  # HSIC with themselves, times (n - 1)²
    unbiased: float  # the same, unbiased, times n (n - 3)


def compare_layers(first: np.ndarray, second: np.ndarray) -> list[dict[str, Any]]:
    """The CKA of layer i of one encoder with layer i of another, for each layer that both have.

    Shapes are (layers, n, width); widths and numbers of layers may differ.
    """
    pairs = zip(first, second, strict=False)
    return [{"layer": layer} | linear_cka(*pair)._asdict() for layer, pair in enumerate(pairs)]


def linear_cka(first: np.ndarray, second: np.ndarray) -> Alignment:
    """The linear CKA of two feature matrices, (n, width) each, n at least 4; row i of both is sentence i.

    Computed in float64 through products of the size of the widths, so that its cost grows linearly with n.
    """
    n = len(first)
    for features in (first, second):
        if not np.isfinite(features).all():
            return Alignment(n, None, None, "features are not finite")
        if _is_constant(features):
            return Alignment(n, None, None, "features are constant")
    x, y = _centre(first), _centre(second)
    biased, unbiased = _hsic(x.values, y.values, x.squared_norms, y.squared_norms)
    biased /= math.sqrt(x.biased * y.biased)
    if min(x.unbiased, y.unbiased) <= 0:
        return Alignment(n, biased, None, "too few sentences for the unbiased estimate")
    return Alignment(n, biased, unbiased / math.sqrt(x.unbiased * y.unbiased), None)


def _centre(features: np.ndarray) -> _Features:
    values = features.astype(np.float64)
    values -= values.mean(axis=0)
    squared_norms = np.square(values).sum(axis=1)
    return _Features(values, squared_norms, *_hsic(values, values, squared_norms, squared_norms))


def _hsic(x: np.ndarray, y: np.ndarray, x_norms: np.ndarray, y_norms: np.ndarray) -> tuple[float, float]:
    """HSIC of centred features, biased and unbiased (Song et al. 2012), up to factors that CKA cancels.

    Song et al.'s estimator sets the diagonals of both kernel matrices to zero. With centred features the row sums of a
    linear kernel are zero before that, so what the diagonals took away, the squared norms, is all that it needs.
    """
    n = len(x)
    alignment = float(np.square(x.T @ y).sum())
    correction = x_norms.sum() * y_norms.sum() / ((n - 1) * (n - 2)) - n / (n - 2) * (x_norms @ y_norms)
    return alignment, alignment + float(correction)


def _is_constant(features: np.ndarray) -> bool:
    values = features.astype(np.float64)
    return bool(np.square(values - values.mean(axis=0)).sum() <= CONSTANT * np.square(values).sum())
