"""Layer curves to look into with the mouse: one HTML page each, which needs no other file and no network."""

from typing import Any

import pandas as pd
from bokeh.embed import components
from bokeh.models import BasicTicker, ColumnDataSource, HoverTool, Legend, LegendItem, Span
from bokeh.plotting import figure
from bokeh.resources import Resources

from tmft.figures.curves import curve_points
from tmft.figures.pages import page, sortable_table
from tmft.figures.style import BASELINES, line_styles, metric_label

MARKERS = dict(
    zip("os^DvPX", ["circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x"], strict=True)
)
DASHES = {"-": "solid", "--": "dashed", "-.": "dashdot", ":": "dotted"}
TOOLTIPS = [
    ("line", "@line"),
    ("layer", "@layer"),
    ("score", "@score"),
    ("by seed", "@values"),
    ("best epoch by seed", "@epochs"),
    ("seconds, all seeds", "@seconds{0,0.0}"),
    ("parameters", "@millions{0.00} million"),
]
COLUMNS = {
    "line": "line",
    "layer": "layer",
    "millions": "parameters (millions)",
    "mean": "mean",
    "sd": "sd",
    "values": "by seed",
    "epochs": "best epoch by seed",
    "seconds": "seconds",
}


def point_details(points: pd.DataFrame, runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """``points`` of ``tmft.figures.layer_curve`` with the single runs behind each.

    ``runs`` is a table of ``tmft.results.tables``. Adds as text the score with its spread ("42.13 ± 0.20"), by seed the
    values and best epochs ("0: 42.13, 1: collapsed"); the seconds of all seeds together; parameters in millions.
    """
    behind = runs[(runs["split"] == "test") & (runs["metric"] == metric)].groupby(["encoder", "recipe", "layer"])
    details = []
    for point in points.itertuples():
        own = behind.get_group((point.encoder, point.recipe, point.layer))
        details.append(
            {
                "score": _score(point.mean) + ("" if pd.isna(point.sd) else f" ± {point.sd:.2f}"),
                "values": _by_seed(own["seed"], [_score(100 * value) for value in own["value"]]),
                "epochs": _by_seed(own["seed"], [str(epoch) or "-" for epoch in own["best_epoch"]]),
                "seconds": own["seconds"].sum(),
                "millions": point.parameters / 1e6,
            }
        )
    return points.join(pd.DataFrame(details, index=points.index))


def layer_curve_page(runs: pd.DataFrame, summary: pd.DataFrame, shown: dict[str, Any]) -> str:
    """A page of the drawing of ``tmft.figures.layer_curve``, from its tables and parameters.

    Pointing at a mean shows what is behind it; a click on a column's head sorts the table of details; one on the legend
    hides a line.
    """
    metric = shown["metrics"][0]
    points, single = curve_points(runs, summary, shown["lines"], metric)
    details = point_details(points, runs, metric)
    script, drawing = components(_drawing(details, single, shown))
    table = sortable_table(details[list(COLUMNS)].rename(columns=COLUMNS))
    library = Resources(mode="inline", components=["bokeh"]).render()
    return page(shown["title"], f"{drawing}\n<p>{_note(BASELINES.get(metric, ''))}</p>\n{table}\n{script}", library)


def _drawing(details: pd.DataFrame, single: pd.DataFrame, shown: dict[str, Any]) -> figure:
    plot = figure(height=460, sizing_mode="stretch_width", tools="pan,box_zoom,reset,save")
    items, hovered = [], []
    styles = line_styles(shown["looks"])
    for line, own in details.groupby("line", sort=False):
        style, low, high = styles[line], own["mean"] - own["half_width"], own["mean"] + own["half_width"]
        colour, marker, dashes = style["color"], MARKERS[style["marker"]], DASHES[style["linestyle"]]
        source, seeds = ColumnDataSource(own.to_dict("list")), single[single["line"] == line]
        means = plot.scatter(
            "layer", "mean", source=source, marker=marker, size=9, color=colour, fill_color=style["markerfacecolor"]
        )
        drawn = [
            plot.varea(own["layer"], low, high, alpha=0.15, color=colour),
            plot.line("layer", "mean", source=source, line_width=2, color=colour, line_dash=dashes),
            plot.scatter(seeds["layer"], seeds["value"], size=4, alpha=0.6, color=colour),
            means,
        ]
        items.append(LegendItem(label=line, renderers=drawn))
        hovered.append(means)
    for score in details["baseline"].dropna().unique():
        plot.add_layout(Span(location=score, dimension="width", line_color="grey", line_dash="dashed"))
    plot.add_tools(HoverTool(renderers=hovered, tooltips=TOOLTIPS))
    legend = Legend(items=items, click_policy="hide", ncols=4, location="center", border_line_color=None, spacing=24)
    plot.add_layout(legend, "below")
    plot.xaxis.ticker = BasicTicker(min_interval=1, num_minor_ticks=0)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "Layer", metric_label(shown["task"], shown["metrics"][0])
    plot.yaxis.minor_tick_line_color = None
    plot.axis.axis_label_text_font_style = "normal"
    plot.toolbar.logo = None
    return plot


def _note(baseline: str) -> str:
    grey = f" Dashed: {baseline}." if baseline else ""
    return (
        "Band: 95 % t interval of the mean over seeds; small dots: single seeds."
        f"{grey} Point at a mean to see its runs, click a line in the legend to hide it, click a column to sort by it."
    )


def _by_seed(seeds: pd.Series, values: list[str]) -> str:
    """Values with their seeds, or the only value as it is where there is no seed."""
    pairs = zip(seeds, values, strict=True)
    return ", ".join(value if pd.isna(seed) else f"{seed:.0f}: {value}" for seed, value in pairs)


def _score(value: float) -> str:
    return "collapsed" if pd.isna(value) else f"{value:.2f}"
