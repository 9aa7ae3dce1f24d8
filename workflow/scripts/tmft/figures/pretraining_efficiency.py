"""Score against the compute of pre-training: which objective learns more from as many FLOPs (Clark et al. 2020)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter

from tmft.figures.style import add_legend, band_note, draw_line, metric_label, new_panels
from tmft.results.tables import read_table
from tmft.runtime.files import read_json


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The points and the single runs (``efficiency_points``), from the tables and pre-trainings among ``files``."""
    flops = {path.stem: flops_by_steps(read_json(path)) for path in files.pretraining}
    encoders = [
        {key: point[key] for key in ("line", "encoder", "steps")}
        | {"flops": flops[point["pretraining"]][point["steps"]]}
        for point in figure["points"]
    ]
    metrics = {task: own["metrics"][0] for task, own in figure["tasks"].items()}
    return efficiency_points(read_table(files.runs), read_table(files.summary), encoders, metrics)


def flops_by_steps(metrics: dict[str, Any]) -> dict[int, float]:
    """The FLOPs of a pre-training up to each of its snapshots and up to its end, from its metrics."""
    return {point["steps"]: float(point["flops"]) for point in [*metrics["snapshots"], metrics]}


def efficiency_points(
    runs: pd.DataFrame, summary: pd.DataFrame, encoders: list[dict[str, Any]], metrics: dict[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The numbers an efficiency plot draws, times 100, from the tables of ``tmft.results.tables``.

    ``encoders`` has line, encoder, steps and flops of each point, ``metrics`` the metric of each task. Returns the
    points (task, line, encoder, steps, flops, mean, sd, n, collapsed) and the single runs (task, line, flops, seed,
    value), both by task in the order of ``encoders``.
    """
    places = pd.DataFrame([{"task": task} | encoder for task in metrics for encoder in encoders])

    def select(table: pd.DataFrame) -> pd.DataFrame:
        chosen = table[(table["split"] == "test") & (table["metric"] == table["task"].map(metrics))]
        return places.merge(chosen, on=["task", "encoder"], how="left")

    points, single = select(summary), select(runs)
    points[["mean", "sd"]] *= 100
    single["value"] *= 100
    columns = ["task", "line", "encoder", "steps", "flops", "mean", "sd", "n", "collapsed"]
    return points[columns], single[["task", "line", "flops", "seed", "value"]]


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Mean test score against the FLOPs of pre-training, on a log scale: a panel per task, a line per pre-training.

    Bands and dots are as in a layer curve.
    """
    ylabels = {task: metric_label(own["task"], own["metrics"][0]) for task, own in figure["tasks"].items()}
    drawing, panels = new_panels(len(ylabels))
    lines = list(dict.fromkeys(points["line"]))
    for axes, (task, ylabel) in zip(panels, ylabels.items(), strict=True):
        for place, line in enumerate(lines):
            own, dots = (table[(table["task"] == task) & (table["line"] == line)] for table in (points, single))
            draw_line(axes, own.sort_values("flops"), dots, "flops", line, place)
        axes.set(xscale="log", xlabel="FLOPs of pre-training", ylabel=ylabel)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(99, 99)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    drawing.suptitle(figure["title"])
    add_legend(drawing, band_note(points))
    return drawing
