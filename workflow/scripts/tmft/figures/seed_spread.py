"""How far seeds differ: a box per layer, encoder and recipe, without an assumption on their distribution."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.curves import curve_points, trained_n
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

KEPT = ["line", "layer", "baseline", "mean", "n", "collapsed"]
QUANTILES = {"lowest": 0.0, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "highest": 1.0}
SPREAD = "box: quartiles and median; whiskers: lowest and highest; marks: single seeds"
WIDTH = 0.8  # of all boxes of a layer together, in layers


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The boxes (``spread_points``) and the single runs, from the tables ``runs`` and ``summary`` among ``files``."""
    tables = read_table(files.runs), read_table(files.summary)
    return spread_points(*curve_points(*tables, figure["lines"], figure["metrics"][0]))


def spread_points(points: pd.DataFrame, single: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The quantiles of test scores over seeds, from the points and single runs of ``tmft.figures.layer_curve``.

    Returns the boxes (line, layer, baseline, mean, n, collapsed and QUANTILES, linearly interpolated, over the seeds
    with a score; empty where there is none) and the single runs as they were.
    """
    scores = single.groupby(["line", "layer"])["value"]
    quantiles = pd.DataFrame({name: scores.quantile(share) for name, share in QUANTILES.items()}).reset_index()
    return points[KEPT].merge(quantiles, on=["line", "layer"]), single


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Boxes from the lower to the upper quartile with the median, whiskers to the extremes, single seeds as marks."""
    metric, styles = figure["metrics"][0], line_styles(figure["looks"])
    drawing, axes = new_figure()
    width = WIDTH / len(styles)
    shifts = {line: (place - (len(styles) - 1) / 2) * width for place, line in enumerate(styles)}
    points, single = (table.assign(at=table["layer"] + table["line"].map(shifts)) for table in (points, single))
    for line, style in styles.items():
        own, seeds = points[(points["line"] == line) & (points["n"] > 0)], single[single["line"] == line]
        boxes = [
            dict(zip(["whislo", "q1", "med", "q3", "whishi"], quantiles, strict=True))
            for quantiles in own[list(QUANTILES)].itertuples(index=False)
        ]
        edge = {"color": style["color"]}
        parts = {f"{part}props": edge for part in ("median", "whisker", "cap")}
        parts["boxprops"] = {"edgecolor": style["color"], "facecolor": (style["color"], 0.2)}
        axes.bxp(
            boxes,
            positions=own["at"],
            widths=0.8 * width,
            showfliers=False,
            manage_ticks=False,
            patch_artist=True,
            **parts,
        )
        face = {"facecolors": style["markerfacecolor"], "edgecolors": style["color"]}
        axes.scatter(seeds["at"], seeds["value"], s=10, label=line, marker=style["marker"], linewidths=0.6, **face)
    draw_baseline(axes, points["baseline"], metric)
    score_limits(axes, single["value"], points["baseline"])
    layer_axis(axes.xaxis)
    axes.set_ylabel(metric_label(figure["task"], metric))
    seeds = trained_n(points, single, ["line"])
    add_titles(drawing, figure["title"], seeds.max() == 1)
    add_legend(drawing, seeds_note(seeds, SPREAD))
    mark_collapsed(axes, points, "at", styles)
    return drawing
