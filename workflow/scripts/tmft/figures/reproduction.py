"""The published curves and ours, a small panel each."""

import math

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

COLUMNS = 6
LEAST_SPAN = 20  # points, so that a flat curve looks flat
SIDES = {"theirs": ("published", "0.4", "o"), "ours": ("ours", "black", "s")}


def draw_reproduction(curves: pd.DataFrame) -> Figure:
    """Test Spearman by layer, theirs and ours, with bands of their 95 % t intervals, from ``compare_curves``."""
    sns.set_theme(style="ticks", rc={"pdf.fonttype": 42, "font.family": "DejaVu Sans"})
    groups = list(curves.groupby(["task", "recipe", "role", "size"], sort=False))
    rows = max(1, math.ceil(len(groups) / COLUMNS))
    figure, grid = plt.subplots(rows, COLUMNS, figsize=(14, 2.3 * rows + 0.6), layout="constrained", squeeze=False)
    for axes in grid.flat[len(groups) :]:
        axes.set_axis_off()
    for axes, ((task, recipe, role, size), own) in zip(grid.flat, groups, strict=False):
        _draw_panel(axes, own)
        axes.set_title(f"{task}, {recipe}\n{role} {size}", fontsize="small")
    for axes in grid.flat[max(0, len(groups) - COLUMNS) : len(groups)]:
        axes.set_xlabel("Layer", fontsize="small")
    sns.despine(figure)
    figure.supylabel("Test Spearman × 100", fontsize="medium")
    seeds = {label: curves[f"{side}_n"].dropna() for side, (label, *_) in SIDES.items()}
    counts = [f"{label}: n = {_span(n)}" for label, n in seeds.items() if len(n)]
    note = "; ".join(["bands: 95 % t intervals over seeds", *counts])
    legend = grid[0, 0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside lower center", ncols=2, frameon=False, title=note, title_fontsize="small")
    return figure


def _draw_panel(axes: Axes, curve: pd.DataFrame) -> None:
    for side, (label, colour, marker) in SIDES.items():
        if curve[side].notna().any():
            mean, half_width = curve[side], curve[f"{side}_half_width"]
            axes.plot(curve["layer"], mean, color=colour, marker=marker, markersize=3, linewidth=1.2, label=label)
            axes.fill_between(curve["layer"], mean - half_width, mean + half_width, color=colour, alpha=0.25, lw=0)
    means = curve[["theirs", "ours"]].stack()
    missing = max(0.0, LEAST_SPAN - (means.max() - means.min())) / 2
    axes.set_ylim(means.min() - missing - 2, means.max() + missing + 2)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.grid(axis="y", alpha=0.3)
    axes.tick_params(labelsize="small")


def _span(n: pd.Series) -> str:
    low, high = int(n.min()), int(n.max())
    return str(low) if low == high else f"{low} to {high}"
