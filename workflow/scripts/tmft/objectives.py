"""What a task asks of the sentence vectors of its pairs: loss, predictions, metrics."""

from dataclasses import dataclass

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from tmft.metrics import correlations


@dataclass(frozen=True)
class CosineRegression:
    """Cosine similarity as the prediction of a score (paper, section 3).

    Scores are mapped from ``label_range`` to 0..1. ``selection`` names the validation metric that chooses the epoch.
    """

    label_range: tuple[float, float]
    selection = "spearman"

    def targets(self, labels: np.ndarray) -> np.ndarray:
        """Scores (n,) mapped to 0..1, float32."""
        low, high = self.label_range
        return ((labels - low) / (high - low)).astype(np.float32)

    def predict(self, u: Tensor, v: Tensor) -> Tensor:
        """Cosine similarities (n,) of the vectors (n, hidden) of both sides."""
        return F.cosine_similarity(u, v)

    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        """Mean squared error between cosine and target."""
        return F.mse_loss(self.predict(u, v), targets)

    def metrics(self, predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        """Spearman and Pearson correlation with the labels, from -1 to 1."""
        return correlations(predictions, labels)


OBJECTIVES = {"cosine_regression": CosineRegression}
