"""The metrics of each objective, and what tables and figures call them."""

METRICS = {
    "cosine_regression": ("spearman", "pearson"),
    "cosine_logit": ("f1", "accuracy", "average_precision"),
    "difference_classification": ("macro_f1", "accuracy"),
}
"""The metrics of each objective that tables show, first the one that figures show and layers are chosen by."""

METRIC_NAMES = {
    "spearman": "Spearman",
    "pearson": "Pearson",
    "f1": "F1",
    "accuracy": "accuracy",
    "average_precision": "average precision",
    "macro_f1": "macro F1",
}
