"""What a task asks of the sentence vectors of its pairs: loss, predictions, metrics."""

import math
from abc import ABC, abstractmethod

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tmft.experiment.metrics import CLASSIFICATION, LOGIT, METRICS, REGRESSION
from tmft.training.metrics import best_threshold, f1, macro_f1, measure


class Objective(nn.Module, ABC):
    """The part of a run that depends on the task; what weights it has are trained with the encoder's.

    ``u`` and ``v`` are the vectors (n, hidden) of both sides of n pairs, ``labels`` their n labels within
    ``label_range``, ``classes`` how many classes these are. ``key`` is what the configuration calls the objective.
    """

    key: str

    def __init__(self, label_range: tuple[float, float], hidden_size: int) -> None:
        super().__init__()
        self.low, self.high = label_range
        self.classes = int(self.high) + 1

    @property
    def selection(self) -> str:
        """The metric that chooses the epoch and that figures show."""
        return METRICS[self.key][0]

    @abstractmethod
    def targets(self, labels: np.ndarray) -> np.ndarray:
        """What the loss compares with, (n,)."""

    @abstractmethod
    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        """Mean over the pairs."""

    def predict(self, u: Tensor, v: Tensor) -> Tensor:
        """One number per pair, (n,): the cosine similarity."""
        return F.cosine_similarity(u, v)

    def calibrate(self, predictions: np.ndarray, labels: np.ndarray) -> None:
        """Choose on the validation split what turns predictions into decisions, if anything does."""

    def decide(self, predictions: np.ndarray) -> np.ndarray:
        """What the predictions come to, (n,); nothing can be said of a model that decides all pairs alike."""
        return predictions

    def metrics(self, predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        """Scores of predictions, each from -1 or 0 to 1."""
        return measure(self.key, self.decide(predictions), labels, self.classes, predictions)

    def baseline(self, labels: np.ndarray) -> dict[str, float]:
        """What the best constant answer scores; empty where that is nothing."""
        return {}


class CosineRegression(Objective):
    """Cosine similarity as the prediction of a score mapped to 0..1; mean squared error (paper, section 3)."""

    key = REGRESSION

    def targets(self, labels: np.ndarray) -> np.ndarray:
        return ((labels - self.low) / (self.high - self.low)).astype(np.float32)

    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        return F.mse_loss(self.predict(u, v), targets)


class CosineLogit(Objective):
    """Cosine similarity as the logit of "label 1, not 0"; binary cross entropy (paper, appendix A).

    A pair is positive where its cosine reaches the threshold that gives the best F1 on validation.
    """

    key = LOGIT
    threshold = math.nan

    def targets(self, labels: np.ndarray) -> np.ndarray:
        return labels.astype(np.float32)

    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.predict(u, v), targets)

    def calibrate(self, predictions: np.ndarray, labels: np.ndarray) -> None:
        self.threshold = best_threshold(predictions, labels, lowest=-1.0)

    def decide(self, predictions: np.ndarray) -> np.ndarray:
        return (predictions >= self.threshold).astype(np.int64)

    def metrics(self, predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        return super().metrics(predictions, labels) | {"threshold": self.threshold}

    def baseline(self, labels: np.ndarray) -> dict[str, float]:
        """Calling every pair positive."""
        return {"f1": f1(np.ones_like(labels), labels)}


class DifferenceClassification(Objective):
    """A linear layer over [u; v; |u - v|] with an output a class, 0 to ``high``; cross entropy (paper, appendix A).

    The layer is drawn from torch's global random numbers.
    """

    key = CLASSIFICATION

    def __init__(self, label_range: tuple[float, float], hidden_size: int) -> None:
        super().__init__(label_range, hidden_size)
        self.output = nn.Linear(3 * hidden_size, self.classes)

    def targets(self, labels: np.ndarray) -> np.ndarray:
        return labels.astype(np.int64)

    def loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(self._logits(u, v), targets)

    def predict(self, u: Tensor, v: Tensor) -> Tensor:
        """The most probable class."""
        return self._logits(u, v).argmax(1)

    def baseline(self, labels: np.ndarray) -> dict[str, float]:
        """Calling every pair what most pairs are."""
        most = np.bincount(labels.astype(np.int64)).argmax()
        return {"macro_f1": macro_f1(np.full_like(labels, most), labels, self.classes)}

    def _logits(self, u: Tensor, v: Tensor) -> Tensor:
        return self.output(torch.cat([u, v, (u - v).abs()], dim=1))


OBJECTIVES: dict[str, type[Objective]] = {
    objective.key: objective for objective in (CosineRegression, CosineLogit, DifferenceClassification)
}
