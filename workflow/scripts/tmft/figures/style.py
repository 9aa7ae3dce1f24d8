"""The drawings. Same numbers, same bytes."""

from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tmft.experiment.metrics import METRIC_NAMES
from tmft.runtime.files import atomic_file

# Okabe and Ito's colours without yellow; markers and dashes tell the lines apart without colour.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
BASELINES = {"f1": "all positive", "macro_f1": "always the most frequent class"}
METADATA = {".pdf": {"CreationDate": None, "Producer": None, "Creator": None}, ".png": {"Software": None}}


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
