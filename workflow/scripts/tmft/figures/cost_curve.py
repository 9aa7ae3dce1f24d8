"""Score against measured time, layer by layer: the Pareto plot of the paper's Figure 3 with what a sentence costs."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from tmft.figures.pareto import on_front, place_labels
from tmft.figures.style import add_legend, line_style, metric_label, new_figure
from tmft.runtime.errors import InputError


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The points (``cost_points``) from the ``tables`` of layers among ``files``, one per encoder."""
    return (cost_points(dict(zip(figure["encoders"].values(), map(pd.read_csv, files.tables), strict=True))),)


def cost_points(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of several tables of `tmft.export.speed_tables`, by the label of their line, that have a test score.

    ``line`` is put in front; ``front`` says whether no other point is as fast and scores as high.
    Raises InputError where the costs were not measured on one and the same processor.
    """
    points = pd.concat([table.assign(line=line) for line, table in tables.items()], ignore_index=True)
    points = points[points["test"].notna()].reset_index(drop=True)
    processors = sorted(set(points["processor"]))
    if len(processors) > 1:
        raise InputError(
            f"costs were measured on {' and on '.join(processors)}; measure all on one: add --forcerun measure_cost"
        )
    points["front"] = on_front(points, "milliseconds", "test")
    return points[["line", *points.columns.drop(["line"])]]


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """Test score against milliseconds per sentence (log scale): a line per encoder, layers as numbers, the front."""
    drawing, axes = new_figure()
    front = points[points["front"]].sort_values("milliseconds")
    axes.plot(front["milliseconds"], front["test"], color="0.85", linewidth=12, solid_capstyle="round", zorder=0)
    colours = []
    for place, (line, own) in enumerate(points.groupby("line", sort=False)):
        style = line_style(place)
        axes.plot(own["milliseconds"], own["test"], label=line, **style)
        colours += [style["color"]] * len(own)
    axes.set(title=figure["title"], xscale="log", xlabel="Milliseconds per sentence, one CPU thread")
    axes.set_ylabel(metric_label(figure["task"], figure["metrics"][0]))
    axes.margins(x=0.08, y=0.08)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    add_legend(drawing, f"{points['processor'].iloc[0]}; numbers: layers; shaded: the Pareto front")
    places = list(zip(points["milliseconds"], points["test"], strict=True))
    place_labels(axes, places, points["layer"].astype(str).tolist(), colours)
    return drawing
