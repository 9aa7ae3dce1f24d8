"""Each number that the paper reports (workflow/paper.yaml) beside ours, with a verdict."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.layer_tables import best_layers

SCORE_TOLERANCE = 0.5  # points of correlation x 100
PRINTED_TOLERANCE = 0.0051  # what rounding to two decimals may change
VERDICTS = ("reproduced", "within noise", "differs", "not run", "not comparable")
COLUMNS = ["place", "what", "paper", "ours", "difference", "sd", "n", "collapsed", "verdict"]


@dataclass(frozen=True)
class Cell:
    """A number of ours or of the paper: mean and sd (None if unknown) over n seeds, or an exact one without seeds."""

    mean: float
    sd: float | None = None
    n: int | None = None
    collapsed: int | None = None


@dataclass(frozen=True)
class Ours:
    """The results on disk, by the names that the paper's numbers have.

    ``summary`` is of ``tmft.results.tables``, of the paper's task; ``encoders`` gives each hub id's key, ``depths`` the
    number of layers of each key. ``comparable`` is False for an experiment without the paper's task or encoders, and
    ``foreign`` names the recipes whose settings are not the paper's.
    """

    summary: pd.DataFrame
    encoders: dict[str, str]
    depths: dict[str, int]
    comparable: bool
    foreign: list[str]

    def cell(self, recipe: str, hub: str, layer: int, split: str, metric: str) -> Cell | None:
        """The score of a layer, times 100; None where it has not been run, or where all its seeds collapsed."""
        found = self._curve(recipe, hub, split, metric)
        found = found[(found["layer"] == layer) & (found["n"] > 0)]
        if found.empty:
            return None
        row = found.iloc[0]
        sd = None if pd.isna(row["sd"]) else 100 * row["sd"]
        return Cell(100 * row["mean"], sd, int(row["n"]), int(row["collapsed"]))

    def parameters(self, recipe: str, hub: str, layer: int) -> Cell | None:
        """The parameters of a layer in millions; None where it has not been run."""
        found = self.summary[(self.summary["recipe"] == recipe) & (self.summary["encoder"] == self.encoders.get(hub))]
        found = found[found["layer"] == layer]
        return None if found.empty else Cell(found["parameters"].iloc[0] / 1e6)

    def best_layer(self, recipe: str, hub: str, metric: str) -> int | None:
        """The layer that is best on validation; None unless all layers have been run."""
        curve = self._curve(recipe, hub, "validation", metric)
        if hub not in self.encoders or curve["layer"].nunique() < self.depths[self.encoders[hub]] + 1:
            return None
        return int(best_layers(curve, metric)["layer"].iloc[0])

    def _curve(self, recipe: str, hub: str, split: str, metric: str) -> pd.DataFrame:
        wanted = {"recipe": recipe, "encoder": self.encoders.get(hub), "split": split, "metric": metric}
        found = self.summary
        for column, value in wanted.items():
            found = found[found[column] == value]
        return found


def compare(paper: dict[str, Any], ours: Ours) -> pd.DataFrame:
    """One row a number: COLUMNS; ``paper`` is the content of workflow/paper.yaml.

    Scores are compared at the layer that the paper chose, whatever layer is best here; the chosen layer is a number of
    its own.
    """
    rows = [row for entry in paper["rows"] for row in _table_row(entry, paper, ours)]
    rows += [_claim(claim, paper, ours) for claim in paper["claims"]]
    return pd.DataFrame(rows, columns=COLUMNS)


def verdict(difference: float, error: float, tolerance: float) -> str:
    """``reproduced`` within ``tolerance``, else ``within noise`` up to two standard errors, else ``differs``."""
    if abs(difference) <= tolerance:
        return "reproduced"
    return "within noise" if abs(difference) <= 2 * error else "differs"


def to_markdown(comparison: pd.DataFrame, note: str = "") -> str:
    """The report, with the rule behind its verdicts; ``note`` is on the results behind our numbers."""
    counts = comparison["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    lines = [
        "# Reproduction",
        "",
        f"{len(comparison)} numbers of the paper: {summary}. {note}".rstrip(),
        "",
        "Scores are correlations x 100, means over seeds, at the layer that the paper chose. A number is *reproduced* "
        f"if it differs by at most {SCORE_TOLERANCE} points (parameters, layers and ratios: only by rounding), "
        "*within noise* if it differs by at most two standard errors of the difference, and *differs* otherwise. "
        "A layer is within noise if validation does not tell it from the best layer by the same rule. Where one "
        "side's standard deviation is not known the other's stands for it. *Not run* has no results on disk; "
        "*not comparable* is of another task, other encoders or other training settings than the paper's.",
        "",
        "| Place | Number | Paper | Ours | Difference | SD (seeds) | Verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in comparison.itertuples():
        ours = "" if pd.isna(row.ours) else _number(row.ours)
        difference = "" if pd.isna(row.difference) else f"{row.difference:+.2f}".replace("-0.00", "+0.00")
        spread = "" if pd.isna(row.sd) else f"{row.sd:.2f} "
        seeds = "" if pd.isna(row.n) else f"({row.n:.0f}{f', {row.collapsed:.0f} collapsed' if row.collapsed else ''})"
        cells = [row.place, row.what, _number(row.paper), ours, difference, spread + seeds, row.verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Two decimals, none for a whole number."""
    return f"{value:.2f}".removesuffix(".00")


def _table_row(entry: dict[str, Any], paper: dict[str, Any], ours: Ours) -> Iterator[dict[str, Any]]:
    """The comparisons of one printed row: layer, parameters, scores of both splits."""
    at = (entry["recipe"], entry["encoder"], entry["layer"])
    place, name = entry["place"], f"{entry['recipe']}, {entry['encoder']}, layer {entry['layer']}"
    comparable = ours.comparable and entry["recipe"] not in ours.foreign
    if entry["row"] == "best":
        yield _layer(entry, paper, ours, comparable)
    if "parameters" in entry:
        what, printed = f"{name}: parameters (M)", Cell(entry["parameters"])
        yield _row(place, what, printed, ours.parameters(*at), PRINTED_TOLERANCE, comparable)
    for split in ("validation", "test"):
        sds = entry.get(f"{split}_sd", [None] * len(paper["metrics"]))
        for metric, mean, sd in zip(paper["metrics"], entry[split], sds, strict=True):
            what, printed = f"{name}: {split} {METRIC_NAMES[metric]}", Cell(mean, sd, paper["seeds"])
            yield _row(place, what, printed, ours.cell(*at, split, metric), SCORE_TOLERANCE, comparable)


def _layer(entry: dict[str, Any], paper: dict[str, Any], ours: Ours, comparable: bool) -> dict[str, Any]:
    """The layer chosen by validation; another one is within noise if both score alike on validation."""
    metric = paper["metrics"][0]
    recipe, hub, layer = entry["recipe"], entry["encoder"], entry["layer"]
    best = ours.best_layer(recipe, hub, metric)
    own = None if best is None else Cell(best)
    row = _row(entry["place"], f"{recipe}, {hub}: best layer", Cell(layer), own, 0, comparable)
    if row["verdict"] == "differs":
        first, second = (ours.cell(recipe, hub, place, "validation", metric) for place in (best, layer))
        if second is not None:
            row["verdict"] = verdict(first.mean - second.mean, _joint_error(first, second), -1)
    return row


def _claim(claim: dict[str, Any], paper: dict[str, Any], ours: Ours) -> dict[str, Any]:
    """A difference or ratio of two cells."""
    at = claim["first"], claim["second"]
    exact = claim["measure"] == "parameters"
    cells = [ours.parameters(*cell) if exact else ours.cell(*cell, "test", claim["measure"]) for cell in at]
    kind, tolerance = ("ratio", PRINTED_TOLERANCE) if "ratio" in claim else ("difference", SCORE_TOLERANCE)
    own = None if None in cells else _combine(kind, *cells)
    printed = Cell(claim[kind], n=None if exact else paper["seeds"])
    what = f"{claim['text']} ({kind} of {METRIC_NAMES.get(claim['measure'], claim['measure'])})"
    comparable = ours.comparable and not {recipe for recipe, *_ in at} & set(ours.foreign)
    return _row(claim["place"], what, printed, own, tolerance, comparable)


def _combine(kind: str, first: Cell, second: Cell) -> Cell:
    """The ratio of two exact numbers, or the difference of two means."""
    if kind == "ratio":
        return Cell(first.mean / second.mean)
    sd = None if None in (first.sd, second.sd) else math.hypot(first.sd, second.sd)
    return Cell(first.mean - second.mean, sd, min(first.n, second.n), first.collapsed + second.collapsed)


def _row(place: str, what: str, printed: Cell, own: Cell | None, tolerance: float, comparable: bool) -> dict[str, Any]:
    row = {"place": place, "what": what, "paper": printed.mean}
    if not comparable:
        return row | {"verdict": "not comparable"}
    if own is None:
        return row | {"verdict": "not run"}
    difference = own.mean - printed.mean
    found = verdict(difference, _joint_error(own, printed), tolerance)
    seeds = {"sd": own.sd, "n": own.n, "collapsed": own.collapsed}
    return row | {"ours": own.mean, "difference": difference} | seeds | {"verdict": found}


def _joint_error(first: Cell, second: Cell) -> float:
    """The standard error of the difference of two means; an sd that is not known is taken to be the other's."""
    sds = [first.sd if first.sd is not None else second.sd, second.sd if second.sd is not None else first.sd]
    return math.hypot(*((sd or 0.0) / math.sqrt(cell.n or 1) for sd, cell in zip(sds, (first, second), strict=True)))
