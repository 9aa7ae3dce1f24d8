"""What figures with a line per encoder and recipe share: means over seeds, their intervals, the single seeds."""

import pandas as pd
from matplotlib.axes import Axes

from tmft.results.intervals import t_half_width

SPREAD = "band: 95 % t interval of the mean; dots: single seeds"


def curve_points(
    runs: pd.DataFrame, summary: pd.DataFrame, lines: list[dict[str, str]], metric: str = "spearman"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The numbers a layer curve draws, times 100, from the tables of ``tmft.results.tables``.

    ``lines`` names encoder, recipe and label of each line. Returns the points (line, encoder, recipe, layer,
    parameters, baseline, mean, sd, half_width, n, collapsed), ``half_width`` of the mean's 95 % t interval, and the
    single runs (line, layer, seed, value).
    """
    labels = pd.DataFrame(lines).rename(columns={"label": "line"})

    def select(table: pd.DataFrame) -> pd.DataFrame:
        chosen = table[(table["split"] == "test") & (table["metric"] == metric)]
        return labels.merge(chosen, on=["encoder", "recipe"], how="left")

    points, single = select(summary), select(runs)
    points[["baseline", "mean", "sd"]] *= 100
    single["value"] *= 100
    points["half_width"] = t_half_width(points["sd"], points["n"])
    measured = ["parameters", "baseline", "mean", "sd", "half_width", "n", "collapsed"]
    return points[["line", "encoder", "recipe", "layer", *measured]], single[["line", "layer", "seed", "value"]]


def draw_line(axes: Axes, points: pd.DataFrame, single: pd.DataFrame, x: str, label: str, style: dict) -> None:
    """Means of ``points`` against the column ``x``, a band of ``half_width`` around them, and single runs as dots."""
    mean, half_width = points["mean"], points["half_width"]
    axes.plot(points[x], mean, label=label, **style)
    axes.fill_between(points[x], mean - half_width, mean + half_width, color=style["color"], alpha=0.15, lw=0)
    if points["n"].max() > 1:
        axes.scatter(single[x], single["value"], color=style["color"], s=9, alpha=0.5, linewidths=0, zorder=1.5)


def trained_n(points: pd.DataFrame, single: pd.DataFrame, by: list[str]) -> pd.Series:
    """How many seeds each mean is of, of the lines (columns ``by``) whose single runs have seeds."""
    seeded = single.loc[single["seed"].notna(), by].drop_duplicates()
    own = points.merge(seeded, on=by)
    return own.loc[own["n"] > 0, "n"]
