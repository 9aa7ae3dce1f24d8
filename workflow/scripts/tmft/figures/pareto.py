"""Score against size: which encoder is the best of its size, by family (paper, Figure 3)."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import NullFormatter, ScalarFormatter
from matplotlib.transforms import Bbox

from tmft.figures.style import add_legend, line_style, metric_label, new_figure
from tmft.results.layer_tables import layer_rows
from tmft.results.tables import read_table

# Where a label may stand, in points from its mark, the first that is free: beside it, above and below it, further away.
OFFSETS = [
    (x * distance, y * distance)
    for distance in (6, 12, 20, 30, 45)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
]
ALIGNMENT = {-1: "right", 0: "center", 1: "left"}


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The points (``pareto_points``) from the table ``summary`` among ``files``."""
    return (pareto_points(read_table(files.summary), figure["families"], figure["metrics"][0]),)


def pareto_points(summary: pd.DataFrame, families: dict[str, dict[str, str]], metric: str) -> pd.DataFrame:
    """The best layer on validation of each encoder, and its last layer where that is another.

    ``families`` holds the labels of encoders by key, by the name of their family. Columns: family, encoder, label, row
    (best or last), layer, parameters, mean and sd (test, times 100), n, collapsed, front (whether no other best layer
    has as few parameters and as high a score).
    """
    parts = []
    for family, encoders in families.items():
        recipes = dict.fromkeys(summary["recipe"])
        table = {"recipes": recipes, "encoders": encoders, "rows": ["best", "last"], "metrics": [metric]}
        rows = layer_rows(summary, table).assign(family=family)
        parts.append(rows.assign(label=[encoders[key] for key in rows["encoder"]]))
    points = pd.concat(parts, ignore_index=True).rename(columns={f"test_{metric}": "mean", f"test_{metric}_sd": "sd"})
    best = points[(points["row"] == "best") & points["mean"].notna()]
    points["front"] = points.index.isin(best.index[on_front(best, "parameters", "mean")])
    columns = ["family", "encoder", "label", "row", "layer", "parameters", "mean", "sd", "n", "collapsed", "front"]
    return points[columns]


def on_front(points: pd.DataFrame, cost: str, score: str) -> list[bool]:
    """Whether no other point is at least as good in both columns, ``cost`` and ``score``, and better in one."""
    values = list(zip(points[cost], points[score], strict=True))
    return [
        not any(less <= own_cost and more >= own and (less, more) != (own_cost, own) for less, more in values)
        for own_cost, own in values
    ]


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """Test score against millions of parameters, on a log scale: a line a family, last layers hollow, the front shaded.

    A last layer more than 5 points below all best layers stands at the lower edge, its score in its label.
    """
    drawing, axes = new_figure()
    floor = points.loc[points["row"] == "best", "mean"].min() - 5
    points = points.assign(millions=points["parameters"] / 1e6, height=points["mean"].clip(lower=floor))
    front = points[points["front"]].sort_values("millions")
    axes.plot(front["millions"], front["mean"], color="0.85", linewidth=12, solid_capstyle="round", zorder=0)
    families = list(dict.fromkeys(points["family"]))
    for place, family in enumerate(families):
        own, style = points[points["family"] == family], line_style(place)
        best, last = (own[own["row"] == row].sort_values("millions") for row in ("best", "last"))
        axes.plot(best["millions"], best["mean"], label=family, **style)
        axes.plot(last["millions"], last["height"], **style | {"linestyle": "none", "markerfacecolor": "white"})
    axes.set(title=figure["title"], xscale="log", xlabel="Parameters (millions)")
    axes.set_ylabel(metric_label(figure["task"], figure["metrics"][0]))
    axes.margins(x=0.12)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    add_legend(drawing, "layer best on validation; hollow: last layer; shaded: the Pareto front")
    labels = [
        f"{point.label}, {'last' if point.row == 'last' else point.layer}"
        + (f": {point.mean:.1f}" if point.mean < floor else "")
        for point in points.itertuples()
    ]
    colours = points["family"].map({family: line_style(place)["color"] for place, family in enumerate(families)})
    place_labels(axes, list(zip(points["millions"], points["height"], strict=True)), labels, list(colours))
    return drawing


def place_labels(
    axes: Axes, points: list[tuple[float, float]], labels: list[str], colours: list[str]
) -> list[Annotation]:
    """Label each point where the label covers neither a line, a point nor another label, nor leaves the axes.

    The nearest free place wins, in a fixed order; a label without any free place gets the first.
    """
    axes.figure.draw_without_rendering()
    axes.figure.set_layout_engine("none")
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(points)] + _line_boxes(axes)
    placed = []
    for point, label, colour in zip(points, labels, colours, strict=True):
        candidates = [_label(axes, point, label, colour, offset) for offset in OFFSETS]
        boxes = [candidate.get_window_extent() for candidate in candidates]
        chosen = next((place for place, box in enumerate(boxes) if _is_free(box, taken, axes.bbox)), 0)
        taken.append(boxes[chosen])
        placed.append(candidates[chosen])
        for candidate in [*candidates[:chosen], *candidates[chosen + 1 :]]:
            candidate.remove()
    return placed


def _line_boxes(axes: Axes) -> list[Bbox]:
    """Small boxes along each thin line of the axes."""
    boxes = []
    for line in axes.lines:
        if line.get_linestyle() == "None" or line.get_linewidth() > 5:
            continue
        corners = axes.transData.transform(line.get_xydata())
        for start, end in pairwise(corners):
            steps = np.linspace(0, 1, 1 + int(np.hypot(*(end - start)) / 3))[:, None]
            boxes += [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in start + steps * (end - start)]
    return boxes


def _label(axes: Axes, point: tuple[float, float], label: str, colour: str, offset: tuple[int, int]) -> Annotation:
    x, y = ((value > 0) - (value < 0) for value in offset)
    vertical = {-1: "top", 0: "center", 1: "bottom"}[y]
    text = {"textcoords": "offset points", "ha": ALIGNMENT[x], "va": vertical, "fontsize": "xx-small", "color": colour}
    return axes.annotate(label, point, xytext=offset, **text)


def _is_free(box: Bbox, taken: list[Bbox], area: Bbox) -> bool:
    inside = all(area.contains(x, y) for x, y in product(box.intervalx, box.intervaly))
    return inside and not any(box.overlaps(other) for other in taken)
