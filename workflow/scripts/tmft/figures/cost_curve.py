"""Score against measured time, layer by layer: the Pareto plot of the paper's Figure 3 with what a sentence costs."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.front import FRONT, draw_front, on_front
from tmft.figures.labels import place_labels
from tmft.figures.style import (
    BARS,
    add_legend,
    add_titles,
    draw_bars,
    line_styles,
    log_axis,
    metric_label,
    new_figure,
    score_limits,
    seeds_note,
)
from tmft.results.intervals import t_half_width
from tmft.runtime.errors import InputError


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The points (``cost_points``) from the ``tables`` of layers among ``files``, one per encoder."""
    return (cost_points(dict(zip(figure["encoders"].values(), map(pd.read_csv, files.tables), strict=True))),)


def cost_points(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of several tables of `tmft.export.speed_tables`, by the label of their line, that have a test score.

    ``line`` is put in front; ``half_width`` is that of the 95 % t interval of ``test``; ``front`` says whether a point
    is on the Pareto front (``on_front``).
    Raises InputError where the costs were not measured on one and the same processor.
    """
    points = pd.concat([table.assign(line=line) for line, table in tables.items()], ignore_index=True)
    points = points[points["test"].notna()].reset_index(drop=True)
    processors = sorted(set(points["processor"]))
    if len(processors) > 1:
        raise InputError(
            f"costs were measured on {' and on '.join(processors)}; measure all on one: add --forcerun measure_cost"
        )
    points["half_width"] = t_half_width(points["test_sd"], points["n"])
    points["front"] = on_front(points, "milliseconds", "test")
    return points[["line", *points.columns.drop(["line"])]]


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """Test score against milliseconds per sentence (log scale): a line per encoder, layers as numbers, the front."""
    drawing, axes = new_figure()
    styles = line_styles(figure["looks"])
    draw_front(axes, points, "milliseconds", "test")
    for line, own in points.groupby("line", sort=False):
        axes.plot(own["milliseconds"], own["test"], label=line, **styles[line])
        draw_bars(axes, own["milliseconds"], own["test"], own["half_width"], styles[line]["color"])
    score_limits(axes, points["test"])
    log_axis(axes)
    axes.set_xlabel(f"Milliseconds per sentence, one thread of {points['processor'].iloc[0]}")
    axes.set_ylabel(metric_label(figure["task"], figure["metrics"][0]))
    seeds = points["n"] if figure["seeded"] else pd.Series()
    add_titles(drawing, figure["title"], seeds.max() == 1)
    add_legend(drawing, f"numbers: layers; {seeds_note(seeds, BARS)}\n{FRONT}")
    places = list(zip(points["milliseconds"], points["test"], strict=True))
    colours = [styles[line]["color"] for line in points["line"]]
    place_labels(axes, places, points["layer"].astype(str).tolist(), colours)
    return drawing
