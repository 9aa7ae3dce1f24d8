"""What all drawings share: size, looks of lines, axes, notes, files. Same numbers, same bytes."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from tmft.experiment.metrics import METRIC_NAMES
from tmft.figures.labels import place_labels
from tmft.runtime.files import atomic_file

BASELINES = {"f1": "all positive", "macro_f1": "always the most frequent class"}
METADATA = {".pdf": {"CreationDate": None, "Producer": None, "Creator": None}, ".png": {"Software": None}}
LEAST_SPAN = 10.0  # points of a score axis, so that differences of a point look small
LEAST_TICKS = 3
LETTERS, HANDLE = 14, 10  # of a legend per inch, and what the handle of an entry takes of them
LIGHTEST, DARKEST = 0.5, -0.45  # the shades of one family: parts of white, and of black
ONE_SEED = "one seed: the spread over seeds is not known"
BARS = "bars: 95 % t interval of the mean"


def line_styles(looks: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """Colour, marker and dashes of each line, by label, from the looks of ``tmft.experiment.looks``.

    Lines of one family are shades of its colour, from light to dark, with full and hollow markers in turn.
    """
    families = [look["family"] for look in looks.values()]
    styles = {}
    for place, (label, look) in enumerate(looks.items()):
        own, before = families.count(look["family"]), families[:place].count(look["family"])
        colour = _shade(look["colour"], np.linspace(LIGHTEST, DARKEST, own)[before] if own > 1 else 0.0)
        styles[label] = {
            "color": colour,
            "marker": look["marker"],
            "linestyle": look["dashes"],
            "markersize": 5,
            "markerfacecolor": "white" if before % 2 else colour,
        }
    return styles


def _shade(colour: str, tint: float) -> str:
    """A colour with this part of white in it, or of black where ``tint`` is negative."""
    target = 1.0 if tint > 0 else 0.0
    return to_hex([(1 - abs(tint)) * part + abs(tint) * target for part in to_rgb(colour)])


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


def draw_bars(axes: Axes, x: pd.Series, mean: pd.Series, half_width: pd.Series, colour: str) -> None:
    """Intervals of single points as thin bars."""
    axes.vlines(x, mean - half_width, mean + half_width, color=colour, linewidth=1, alpha=0.6, zorder=1)


def draw_baseline(axes: Axes, baselines: pd.Series, metric: str) -> None:
    """What a constant answer scores, as a grey line, where that is something."""
    for score in baselines.dropna().unique():
        axes.axhline(score, color="grey", linewidth=1, linestyle=(0, (2, 2)), zorder=0, label=BASELINES.get(metric, ""))


def score_limits(axes: Axes, *scores: Iterable[float]) -> None:
    """Limits of a score axis around these values, at least LEAST_SPAN apart; bands may go beyond them."""
    values = np.concatenate([np.asarray(part, dtype=float) for part in scores])
    values = values[np.isfinite(values)]
    if len(values):
        middle = (values.min() + values.max()) / 2
        half = max(values.max() - values.min(), LEAST_SPAN) * 1.1 / 2
        axes.set_ylim(middle - half, middle + half)


def log_axis(axes: Axes, margin: float = 0.08) -> None:
    """Put the x axis of what is drawn on a log scale that has at least LEAST_TICKS labelled ticks."""
    axes.set_xscale("log")
    axes.margins(x=margin)
    axes.autoscale_view(scaley=False)
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(FixedLocator(log_ticks(low, high)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axes.set_xlim(low, high)


def log_ticks(low: float, high: float) -> list[float]:
    """At least LEAST_TICKS round numbers from ``low`` to ``high``, the fewer the rounder."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= LEAST_TICKS:
            return inside
    ticks = MaxNLocator(5, min_n_ticks=LEAST_TICKS).tick_values(low, high)
    return [tick for tick in ticks if low <= tick <= high]


def _number(value: float) -> str:
    if 1e-3 <= value < 1e5:
        return f"{value:.12g}"
    mantissa, exponent = f"{value:.12e}".split("e")
    factor = "" if float(mantissa) == 1 else rf"{float(mantissa):g} \times "
    return f"${factor}10^{{{int(exponent)}}}$"


def layer_axis(axis: Axis) -> None:
    """Whole numbers only."""
    axis.set_major_locator(MaxNLocator(integer=True))
    axis.set_label_text("Layer")


def mark_collapsed(axes: Axes, points: pd.DataFrame, x: str, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the number of collapsed runs beside each mean, or at the foot of the axes where there is none.

    ``points`` have line, the column ``x``, mean, n and collapsed. Where there is no score at all, say so.
    """
    if not points["n"].any():
        axes.text(0.5, 0.5, "every run collapsed", transform=axes.transAxes, ha="center", va="center")
    collapsed = points[points["collapsed"] > 0]
    if len(collapsed):
        axes.update_datalim([(at, axes.get_ylim()[0]) for at in collapsed[x]], updatey=False)
        axes.autoscale_view(scaley=False)
        places = list(zip(collapsed[x], collapsed["mean"].fillna(axes.get_ylim()[0]), strict=True))
        texts = [f"{number} collapsed" for number in collapsed["collapsed"]]
        place_labels(axes, places, texts, [styles[line]["color"] for line in collapsed["line"]])


def add_titles(figure: Figure, title: str, one_seed: bool) -> None:
    """The title, and below it that all that is drawn is of one seed, where that is so."""
    figure.suptitle(title)
    if one_seed:
        figure.axes[0].set_title(ONE_SEED, fontsize="small", color="0.35", loc="left", style="italic")


def seeds_note(seeds: pd.Series, spread: str) -> str:
    """How many seeds the means are of, and what shows their spread."""
    if seeds.empty:
        return "no training, so no seeds"
    low, high = int(seeds.min()), int(seeds.max())
    counted = f"n = {low}" if low == high else f"n = {low} to {high}"
    return f"{counted} seed{'s' if high > 1 else ''}" + (f"; {spread}" if high > 1 else "")


def add_legend(figure: Figure, note: str) -> None:
    """A legend of all panels' lines below the figure, as wide as it is, under a note on what is drawn."""
    entries = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    fitting = int(LETTERS * figure.get_figwidth() / (max(map(len, entries)) + HANDLE))
    columns = min(max(1, fitting), 2 if len(entries) < 5 else 3)
    options = {"ncols": columns, "frameon": False, "fontsize": "small", "title": note, "title_fontsize": "x-small"}
    figure.legend(entries.values(), entries, loc="outside lower center", handlelength=3, **options)


def save(figure: Figure, *paths: Path) -> None:
    """Write a figure in the format of each path's ending, without dates, so that the same figure has the same bytes."""
    for path in paths:
        with atomic_file(path) as partial:
            figure.savefig(partial, format=path.suffix[1:], dpi=200, metadata=METADATA[path.suffix])
    plt.close(figure)


def metric_label(task: str, metric: str) -> str:
    """The label of a score axis."""
    return f"{task} test {METRIC_NAMES[metric]} × 100"
