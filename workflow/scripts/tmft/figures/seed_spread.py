"""How far seeds differ: a box per layer, encoder and recipe, without an assumption on their distribution."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.layer_curve import curve_points
from tmft.figures.style import add_legend, line_style, metric_label, new_figure
from tmft.results.tables import read_table

QUANTILES = {"lowest": 0.0, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "highest": 1.0}
WIDTH = 0.8  # of all boxes of a layer together, in layers


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The boxes (``spread_points``) and the single runs, from the tables ``runs`` and ``summary`` among ``files``."""
    tables = read_table(files.runs), read_table(files.summary)
    return spread_points(*curve_points(*tables, figure["lines"], figure["metrics"][0]))


def spread_points(points: pd.DataFrame, single: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The quantiles of test scores over seeds, from the points and single runs of ``tmft.figures.layer_curve``.

    Returns the boxes (line, layer, n, collapsed and QUANTILES, linearly interpolated, over the seeds with a score;
    empty where there is none) and the single runs as they were.
    """
    scores = single.groupby(["line", "layer"])["value"]
    quantiles = pd.DataFrame({name: scores.quantile(share) for name, share in QUANTILES.items()}).reset_index()
    return points[["line", "layer", "n", "collapsed"]].merge(quantiles, on=["line", "layer"]), single


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Boxes from the lower to the upper quartile with the median, whiskers to the extremes, single seeds as marks."""
    drawing, axes = new_figure()
    lines = list(dict.fromkeys(points["line"]))
    width = WIDTH / len(lines)
    for place, line in enumerate(lines):
        style, shift = line_style(place), (place - (len(lines) - 1) / 2) * width
        own, seeds = points[(points["line"] == line) & (points["n"] > 0)], single[single["line"] == line]
        boxes = [
            dict(zip(["whislo", "q1", "med", "q3", "whishi"], quantiles, strict=True))
            for quantiles in own[list(QUANTILES)].itertuples(index=False)
        ]
        edge = {"color": style["color"]}
        parts = {f"{part}props": edge for part in ("box", "median", "whisker", "cap")}
        at = (own["layer"] + shift).tolist()
        axes.bxp(boxes, positions=at, widths=0.8 * width, showfliers=False, manage_ticks=False, **parts)
        axes.scatter(seeds["layer"] + shift, seeds["value"], s=12, label=line, marker=style["marker"], **edge)
    axes.set(title=figure["title"], xlabel="Layer", ylabel=metric_label(figure["task"], figure["metrics"][0]))
    axes.set_xticks(sorted(points["layer"].unique()))
    add_legend(drawing, "boxes: quartiles and median over seeds; whiskers: lowest and highest; marks: single seeds")
    return drawing
