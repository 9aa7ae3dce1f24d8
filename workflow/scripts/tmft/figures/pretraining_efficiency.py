"""Score against the compute of pre-training: which objective learns more from as many FLOPs (Clark et al. 2020)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tmft.figures.curves import SPREAD, draw_line, trained_n
from tmft.figures.style import (
    add_legend,
    add_titles,
    draw_baseline,
    line_styles,
    log_axis,
    mark_collapsed,
    metric_label,
    new_panels,
    score_limits,
    seeds_note,
)
from tmft.results.intervals import t_half_width
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
    points (task, line, encoder, steps, flops, baseline, mean, sd, half_width, n, collapsed) and the single runs (task,
    line, flops, seed, value), both by task in the order of ``encoders``; ``half_width`` is of the mean's 95 % interval.
    """
    places = pd.DataFrame([{"task": task} | encoder for task in metrics for encoder in encoders])

    def select(table: pd.DataFrame) -> pd.DataFrame:
        chosen = table[(table["split"] == "test") & (table["metric"] == table["task"].map(metrics))]
        return places.merge(chosen, on=["task", "encoder"], how="left")

    points, single = select(summary), select(runs)
    points[["baseline", "mean", "sd"]] *= 100
    single["value"] *= 100
    points["half_width"] = t_half_width(points["sd"], points["n"])
    measured = ["baseline", "mean", "sd", "half_width", "n", "collapsed"]
    return points[["task", "line", "encoder", "steps", "flops", *measured]], single[
        ["task", "line", "flops", "seed", "value"]
    ]


def draw(figure: dict[str, Any], points: pd.DataFrame, single: pd.DataFrame) -> Figure:
    """Mean test score against the FLOPs of pre-training, on a log scale: a panel per task, a line per pre-training.

    Bands and dots are as in a layer curve.
    """
    drawing, panels = new_panels(len(figure["tasks"]))
    styles = line_styles(figure["looks"])
    for axes, (task, shown) in zip(panels, figure["tasks"].items(), strict=True):
        metric = shown["metrics"][0]
        own, runs = (table[table["task"] == task] for table in (points, single))
        for line, style in styles.items():
            of_line = own[own["line"] == line].sort_values("flops")
            draw_line(axes, of_line, runs[runs["line"] == line], "flops", line, style)
        draw_baseline(axes, own["baseline"], metric)
        score_limits(axes, own["mean"], runs["value"], own["baseline"])
        log_axis(axes)
        axes.set(xlabel="FLOPs of pre-training", ylabel=metric_label(shown["task"], metric))
    seeds = trained_n(points, single, ["task", "line"])
    add_titles(drawing, figure["title"], seeds.max() == 1)
    add_legend(drawing, seeds_note(seeds, SPREAD))
    for axes, task in zip(panels, figure["tasks"], strict=True):
        mark_collapsed(axes, points[points["task"] == task], "flops", styles)
    return drawing
