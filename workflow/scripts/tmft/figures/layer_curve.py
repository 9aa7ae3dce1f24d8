"""Test scores by layer, a line per encoder and recipe (paper, Figures 2 and 4 to 11)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.curves import SPREAD, curve_points, draw_line, trained_n
from tmft.figures.style import (
    add_legend,
    add_titles,
    draw_baseline,
    layer_axis,
    line_styles,
    mark_collapsed,
    metric_label,
    new_figure,
    score_limits,
    seeds_note,
)
from tmft.results.tables import read_table


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The points and the single runs (``curve_points``) from the tables ``runs`` and ``summary`` among ``files``."""
    return curve_points(read_table(files.runs), read_table(files.summary), figure["lines"], figure["metrics"][0])


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Mean test score by layer, a line each, with a band of its 95 % t interval and the single runs as dots.

    A layer where runs collapsed carries their number; a grey line is what a constant answer scores (paper, Figures 2
    and 4 to 11).
    """
    metric, styles = figure["metrics"][0], line_styles(figure["looks"])
    drawing, axes = new_figure()
    for line, own in points.groupby("line", sort=False):
        draw_line(axes, own, single[single["line"] == line], "layer", line, styles[line])
    draw_baseline(axes, points["baseline"], metric)
    score_limits(axes, points["mean"], single["value"], points["baseline"])
    layer_axis(axes.xaxis)
    axes.set_ylabel(metric_label(figure["task"], metric))
    seeds = trained_n(points, single, ["line"])
    add_titles(drawing, figure["title"], seeds.max() == 1)
    add_legend(drawing, seeds_note(seeds, SPREAD))
    mark_collapsed(axes, points, "layer", styles)
    return drawing
