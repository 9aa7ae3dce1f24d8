"""The drawings. Same numbers, same bytes."""

from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tmft.experiment.metrics import METRIC_NAMES
from tmft.runtime.files import atomic_file

# Okabe and Ito's colours without yellow; markers and dashes tell the lines apart without colour.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
BASELINES = {"f1": "all positive", "macro_f1": "always the most frequent class"}
METADATA = {".pdf": {"CreationDate": None, "Producer": None, "Creator": None}, ".png": {"Software": None}}


def layer_curve_points(
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


def draw_layer_curve(points: pd.DataFrame, single: pd.DataFrame, title: str, ylabel: str, baseline: str = "") -> Figure:
    """Mean test score by layer, a line each, with a band of one standard deviation and the single runs as dots.

    A layer where runs collapsed carries their number above its mean; a grey line, labelled ``baseline``, is
    what a constant answer scores (paper, Figures 2 and 4 to 11).
    """
    figure, axes = new_figure()
    for place, (line, own) in enumerate(points.groupby("line", sort=False)):
        draw_line(axes, own, single[single["line"] == line], "layer", line, place)
    for score in points["baseline"].dropna().unique():
        axes.axhline(score, color="grey", linewidth=1, linestyle="--", zorder=0, label=baseline)
    axes.set(title=title, xlabel="Layer", ylabel=ylabel)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    say_if_all_collapsed(axes, points)
    add_legend(figure, band_note(points))
    return figure


def say_if_all_collapsed(axes: Axes, points: pd.DataFrame) -> None:
    """Say in the middle of the axes that there is nothing to draw, where that is so."""
    if not points["n"].any():
        axes.text(0.5, 0.5, "every run collapsed", transform=axes.transAxes, ha="center", va="center")


def draw_line(axes: Axes, points: pd.DataFrame, single: pd.DataFrame, x: str, label: str, place: int) -> None:
    """Means of ``points`` against the column ``x``, with the band and the dots of draw_layer_curve."""
    style = line_style(place)
    colour = style["color"]
    axes.plot(points[x], points["mean"], label=label, **style)
    axes.fill_between(
        points[x], points["mean"] - points["sd"], points["mean"] + points["sd"], color=colour, alpha=0.15, lw=0
    )
    if points["n"].max() > 1:
        axes.scatter(single[x], single["value"], color=colour, s=16, alpha=0.6, linewidths=0, zorder=3)
    collapsed = points[points["collapsed"] > 0]
    for at, point in zip(collapsed[x], collapsed.itertuples(), strict=True):
        anchor, offset = ((at, point.mean), 6) if point.n else ((at, 0), 2)
        axes.annotate(
            f"{point.collapsed} collapsed",
            anchor,
            xycoords="data" if point.n else axes.get_xaxis_transform(),  # at the foot where there is no mean
            xytext=(0, offset),
            textcoords="offset points",
            ha="center",
            fontsize="x-small",
            color=colour,
        )
        axes.update_datalim([anchor], updatey=False)
    if not collapsed["n"].all():
        axes.margins(x=0.1)  # for the label at the foot of the first or last layer
    axes.autoscale_view()


def band_note(points: pd.DataFrame) -> str | None:
    """What the band and the dots of draw_line are, where there are any."""
    return "band: ± 1 standard deviation over seeds, dots: single seeds" if points["sd"].notna().any() else None


def new_figure() -> tuple[Figure, Axes]:
    """An empty figure of the common size and look."""
    figure, (axes,) = new_panels(1)
    return figure, axes


def new_panels(number: int) -> tuple[Figure, list[Axes]]:
    """An empty figure of the common look with this many panels side by side."""
    sns.set_theme(style="ticks", rc={"pdf.fonttype": 42, "font.family": "DejaVu Sans"})
    figure, panels = plt.subplots(1, number, figsize=(max(7, 4.5 * number), 4.5), layout="constrained", squeeze=False)
    for axes in panels[0]:
        axes.grid(axis="y", alpha=0.3)
    sns.despine(figure)
    return figure, list(panels[0])


def line_style(place: int) -> dict[str, Any]:
    """Colour, marker and dashes of the line at this place of the legend."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place % len(DASHES)],
        "markersize": 5,
    }


def add_legend(figure: Figure, note: str | None) -> None:
    """A legend of the first panel's lines below the figure, under a note on what is drawn."""
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False, title=note, title_fontsize="x-small")


def save(figure: Figure, *paths: Path) -> None:
    """Write a figure in the format of each path's ending, without dates, so that the same figure has the same bytes."""
    for path in paths:
        with atomic_file(path) as partial:
            figure.savefig(partial, format=path.suffix[1:], dpi=200, metadata=METADATA[path.suffix])
    plt.close(figure)


def metric_label(task: str, metric: str) -> str:
    """The label of a score axis."""
    return f"{task} test {METRIC_NAMES[metric]} × 100"


def cka_points(layers: dict[str, list[dict[str, Any]]]) -> pd.DataFrame:
    """The numbers of a CKA curve from the layers of each comparison: line, layer, n, biased, unbiased, reason."""
    return pd.DataFrame([{"line": line} | layer for line, compared in layers.items() for layer in compared])[
        ["line", "layer", "n", "biased", "unbiased", "reason"]
    ]


def draw_cka_curve(points: pd.DataFrame, title: str) -> Figure:
    """The biased CKA of two encoders by layer, a line each before and after fine-tuning (paper, Figures 12 to 14)."""
    figure, axes = new_figure()
    for place, (line, own) in enumerate(points.groupby("line", sort=False)):
        axes.plot(own["layer"], own["biased"].astype(float), label=line, **line_style(place))
    axes.set(title=title, xlabel="Layer", ylabel="CKA", ylim=(-0.05, 1.05))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    sentences = " and ".join(str(n) for n in points["n"].unique())
    add_legend(figure, f"linear CKA, biased estimator, {sentences} sentences")
    return figure
