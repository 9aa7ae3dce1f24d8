"""Test scores by layer, a line per encoder and recipe (paper, Figures 2 and 4 to 11)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tmft.figures.style import (
    BASELINES,
    add_legend,
    band_note,
    draw_line,
    metric_label,
    new_figure,
    say_if_all_collapsed,
)
from tmft.results.tables import read_table


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The points and the single runs (``curve_points``) from the tables ``runs`` and ``summary`` among ``files``."""
    return curve_points(read_table(files.runs), read_table(files.summary), figure["lines"], figure["metrics"][0])


def curve_points(
    runs: pd.DataFrame, summary: pd.DataFrame, lines: list[dict[str, str]], metric: str = "spearman"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The numbers a layer curve draws, times 100, from the tables of ``tmft.results.tables``.

    ``lines`` names encoder, recipe and label of each line. Returns the points (line, encoder, recipe, layer,
    parameters, baseline, mean, sd, n, collapsed) and the single runs (line, layer, seed, value).
    """
    labels = pd.DataFrame(lines).rename(columns={"label": "line"})

    def select(table: pd.DataFrame) -> pd.DataFrame:
        chosen = table[(table["split"] == "test") & (table["metric"] == metric)]
        return labels.merge(chosen, on=["encoder", "recipe"], how="left")

    points, single = select(summary), select(runs)
    points[["baseline", "mean", "sd"]] *= 100
    single["value"] *= 100
    columns = ["line", "encoder", "recipe", "layer", "parameters", "baseline", "mean", "sd", "n", "collapsed"]
    return points[columns], single[["line", "layer", "seed", "value"]]


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Mean test score by layer, a line each, with a band of one standard deviation and the single runs as dots.

    A layer where runs collapsed carries their number above its mean; a grey line is what a constant answer scores
    (paper, Figures 2 and 4 to 11).
    """
    metric = figure["metrics"][0]
    drawing, axes = new_figure()
    for place, (line, own) in enumerate(points.groupby("line", sort=False)):
        draw_line(axes, own, single[single["line"] == line], "layer", line, place)
    for score in points["baseline"].dropna().unique():
        axes.axhline(score, color="grey", linewidth=1, linestyle="--", zorder=0, label=BASELINES.get(metric, ""))
    axes.set(title=figure["title"], xlabel="Layer", ylabel=metric_label(figure["task"], metric))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    say_if_all_collapsed(axes, points)
    add_legend(drawing, band_note(points))
    return drawing
