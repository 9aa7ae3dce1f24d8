"""Score against size: which encoder is the best of its size, by family (paper, Figure 3)."""

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
    draw_baseline,
    line_styles,
    log_axis,
    metric_label,
    new_figure,
    score_limits,
    seeds_note,
)
from tmft.results.intervals import t_half_width
from tmft.results.layer_tables import layer_rows
from tmft.results.tables import read_table

BELOW = 5.0  # points below all best layers, from which on a last layer stands at the lower edge


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The points (``pareto_points``) from the table ``summary`` among ``files``."""
    return (pareto_points(read_table(files.summary), figure["families"], figure["metrics"][0]),)


def pareto_points(summary: pd.DataFrame, families: dict[str, dict[str, str]], metric: str) -> pd.DataFrame:
    """The best layer on validation of each encoder, and its last layer where that is another.

    ``families`` holds the labels of encoders by key, by the name of their family. Columns: family, encoder, label, row
    (best or last), layer, parameters, baseline, mean, sd and half_width of the 95 % t interval (test, times 100, over
    all seeds), n, collapsed, front (``on_front``).
    """
    parts = []
    for family, encoders in families.items():
        recipes = dict.fromkeys(summary["recipe"])
        table = {"recipes": recipes, "encoders": encoders, "rows": ["best", "last"], "metrics": [metric]}
        rows = layer_rows(summary, table).assign(family=family)
        parts.append(rows.assign(label=[encoders[key] for key in rows["encoder"]]))
    points = pd.concat(parts, ignore_index=True).rename(columns={f"test_{metric}": "mean", f"test_{metric}_sd": "sd"})
    points["half_width"] = t_half_width(points["sd"], points["n"] + points["collapsed"])
    points["baseline"] = 100 * summary.loc[summary["metric"] == metric, "baseline"].max()
    points["front"] = on_front(points, "parameters", "mean")
    names = ["family", "encoder", "label", "row", "layer", "parameters", "baseline"]
    return points[[*names, "mean", "sd", "half_width", "n", "collapsed", "front"]]


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """Test score against millions of parameters, on a log scale: a line per family, last layers hollow, the front grey.

    A last layer far BELOW all best layers stands at the lower edge, its score in its label.
    """
    metric, styles = figure["metrics"][0], line_styles(figure["looks"])
    drawing, axes = new_figure()
    floor = points.loc[points["row"] == "best", "mean"].min() - BELOW
    points = points.assign(millions=points["parameters"] / 1e6, height=points["mean"].clip(lower=floor))
    draw_front(axes, points, "millions", "mean")
    for family, own in points.groupby("family", sort=False):
        style = styles[family] | {"markerfacecolor": styles[family]["color"]}
        best, last = (own[own["row"] == row].sort_values("millions") for row in ("best", "last"))
        axes.plot(best["millions"], best["mean"], label=family, **style)
        axes.plot(last["millions"], last["height"], **style | {"linestyle": "none", "markerfacecolor": "white"})
        draw_bars(axes, best["millions"], best["mean"], best["half_width"], style["color"])
    draw_baseline(axes, points["baseline"], metric)
    score_limits(axes, points["height"], points["baseline"])
    log_axis(axes, margin=0.12)
    axes.set(xlabel="Parameters (millions)", ylabel=metric_label(figure["task"], metric))
    seeds = points["n"] + points["collapsed"] if figure["seeded"] else pd.Series()
    add_titles(drawing, figure["title"], seeds.max() == 1)
    note = f"filled: layer best on validation; hollow: last layer; {seeds_note(seeds, BARS)}"
    add_legend(drawing, f"{note}\n{FRONT}")
    labels = [
        f"{point.label}, {'last' if point.row == 'last' else point.layer}"
        + (f": {point.mean:.1f}" if point.mean < floor else "")
        for point in points.itertuples()
    ]
    colours = [styles[family]["color"] for family in points["family"]]
    place_labels(axes, list(zip(points["millions"], points["height"], strict=True)), labels, colours)
    return drawing
