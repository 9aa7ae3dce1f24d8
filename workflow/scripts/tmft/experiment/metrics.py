"""The metrics, each a function in tmft.training.metrics: what tables and figures call it, and whose it is."""

from typing import NamedTuple


class Metric(NamedTuple):
    """The name of a metric, and the objectives whose predictions it scores."""

    name: str
    objectives: tuple[str, ...]


REGRESSION, LOGIT, CLASSIFICATION = "cosine_regression", "cosine_logit", "difference_classification"
DECLARED = {
    "spearman": Metric("Spearman", (REGRESSION,)),
    "pearson": Metric("Pearson", (REGRESSION,)),
    "kendall": Metric("Kendall's tau", (REGRESSION,)),
    "f1": Metric("F1", (LOGIT,)),
    "macro_f1": Metric("macro F1", (CLASSIFICATION,)),
    "accuracy": Metric("accuracy", (LOGIT, CLASSIFICATION)),
    "average_precision": Metric("average precision", (LOGIT,)),
}
METRICS = {
    objective: tuple(key for key, metric in DECLARED.items() if objective in metric.objectives)
    for objective in (REGRESSION, LOGIT, CLASSIFICATION)
}
"""The metrics of each objective that tables show, first the one that figures show and layers are chosen by."""
METRIC_NAMES = {key: metric.name for key, metric in DECLARED.items()}
