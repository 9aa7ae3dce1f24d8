"""How similar two encoders are, layer by layer (paper, Figures 12 to 14)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.style import add_legend, add_titles, layer_axis, line_styles, new_figure
from tmft.runtime.files import read_json


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The points (``cka_points``) from the comparisons among ``files``, by the state of their encoders."""
    layers = {label: read_json(getattr(files, state))["layers"] for state, label in figure["curves"].items()}
    return (cka_points(layers),)


def cka_points(layers: dict[str, list[dict[str, Any]]]) -> pd.DataFrame:
    """The numbers of a CKA curve from the layers of each comparison: line, layer, n, biased, unbiased, reason."""
    return pd.DataFrame([{"line": line} | layer for line, compared in layers.items() for layer in compared])[
        ["line", "layer", "n", "biased", "unbiased", "reason"]
    ]


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """The biased CKA of two encoders by layer, a line each before and after fine-tuning (paper, Figures 12 to 14)."""
    drawing, axes = new_figure()
    styles = line_styles(figure["looks"])
    for line, own in points.groupby("line", sort=False):
        axes.plot(own["layer"], own["biased"].astype(float), label=line, **styles[line])
    axes.set(ylabel="CKA", ylim=(-0.05, 1.05))
    layer_axis(axes.xaxis)
    add_titles(drawing, figure["title"], set(figure["curves"]) != {"pretrained"})
    sentences = " and ".join(str(n) for n in points["n"].unique())
    add_legend(drawing, f"linear CKA, biased estimator, {sentences} sentences")
    return drawing
