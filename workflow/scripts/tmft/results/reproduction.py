"""Each number and each claim that the paper reports (workflow/paper.yaml) beside ours, with a verdict."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.claims import Statement, details, judge
from tmft.results.intervals import LEVEL, Estimate
from tmft.results.scores import CURVE, Cell, Scores

MARGIN = 1.0  # points of correlation x 100
PRINTED_TOLERANCE = 0.0051  # what rounding to two decimals may change
ABOUT = 0.1  # hours are given roughly
ALPHA = 0.05
VERDICTS = {
    "reproduced": f"the whole interval is within {MARGIN:g} point of the paper's number (parameters, layers and "
    f"ratios: equal but for rounding; hours: within {ABOUT:.0%})",
    "within noise": f"no difference is shown, and one of {MARGIN:g} point would have been",
    "differs": f"a difference is shown, and it may be more than {MARGIN:g} point",
    "holds": "all that a claim says is shown",
    "holds in part": "all of it that there are results for is shown",
    "fails": "a part of what a claim says is refuted",
    "cannot tell": "the spread over seeds is too large, or the difference too small, for either",
    "not run": "no results",
    "not comparable": "another task, other encoders, other settings or another device than the paper's",
}
COLUMNS = ["place", "claim", "what", "paper", "ours", "difference", "half_width", "n", "note", "verdict"]


@dataclass(frozen=True)
class Ours:
    """What the paper's numbers are held against.

    ``foreign`` names the recipes whose settings are not the paper's; ``comparable`` is False for an experiment without
    the paper's task or encoders. ``costs`` is the table of ``tmft.results.costs``. ``notebook`` are means that stand in
    where there are no single runs, rows like those of the paper.
    """

    scores: Scores
    foreign: Sequence[str] = ()
    comparable: bool = True
    costs: pd.DataFrame | None = None
    notebook: Sequence[dict[str, Any]] = ()


@dataclass
class Entry:
    """A number or a claim: what is compared, and how sure that is.

    ``deviation`` is ours less the paper's; an exact number has a ``tolerance`` instead. ``p_values`` are those of the
    hypotheses that a verdict refuses: that ours is the paper's; of a claim that it does not hold, and that it does.
    """

    place: str
    what: str
    paper: float | None = None
    ours: float | None = None
    claim: int | None = None
    deviation: Estimate | None = None
    tolerance: float | None = None
    statement: Statement | None = None
    p_values: Sequence[float] = ()
    note: str = ""
    comparable: bool = True

    @property
    def row(self) -> dict[str, Any]:
        """COLUMNS, of which those that are not known are left out."""
        row = {"place": self.place, "claim": self.claim, "what": self.what, "paper": self.paper, "note": self.note}
        if not self.comparable:
            return row | {"verdict": "not comparable"}
        row |= {"ours": self.ours, "verdict": self.verdict}
        if self.deviation is not None:
            row |= {"difference": self.deviation.mean, "half_width": self.deviation.half_width, "n": self.deviation.n}
        elif None not in (self.ours, self.paper):
            row["difference"] = self.ours - self.paper
        return row

    @property
    def verdict(self) -> str:
        """A key of VERDICTS, from p-values that are corrected."""
        if self.statement is not None:
            if not self.statement.known:
                return "not run"
            p_not, p_holds = self.p_values
            held = "holds in part" if self.statement.missing else "holds"
            return held if p_not < ALPHA else "fails" if p_holds < ALPHA else "cannot tell"
        if self.ours is None:
            return "not run"
        if self.tolerance is not None and (abs(self.ours - self.paper) <= self.tolerance or self.deviation is None):
            return "reproduced" if abs(self.ours - self.paper) <= self.tolerance else "differs"
        half_width = self.deviation.half_width
        if self.tolerance is None and abs(self.deviation.mean) + half_width <= MARGIN:
            return "reproduced"
        if self.p_values[0] < ALPHA:
            return "differs"
        return "within noise" if half_width <= MARGIN else "cannot tell"


def compare(paper: dict[str, Any], ours: Ours) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row a number and a claim (COLUMNS), and the contrasts behind the claims (``tmft.results.claims.details``).

    ``paper`` is the content of workflow/paper.yaml. Scores are compared at the layer that the paper chose, whatever
    layer is best here; the chosen layer is a number of its own. Means are over all seeds, as the paper's. The p-values
    of all numbers are corrected together, and those of all claims (Benjamini and Hochberg 1995).
    """
    entries = [entry for row in paper["rows"] for entry in _table_row(row, paper, ours)]
    entries += [_text_number(number, paper, ours) for number in paper["numbers"]]
    entries += [_claim(claim, ours) for claim in paper["claims"]]
    for family in ([one for one in entries if (one.statement is None) is number] for number in (True, False)):
        p_values = iter(adjusted([p for entry in family for p in entry.p_values]))
        for entry in family:
            entry.p_values = [next(p_values) for _ in entry.p_values]
    behind = details((entry.claim, entry.statement) for entry in entries if entry.statement is not None)
    return pd.DataFrame([entry.row for entry in entries], columns=COLUMNS), behind


def adjusted(p_values: Sequence[float]) -> np.ndarray:
    """The p-values after Benjamini and Hochberg's correction: of those below 0.05, 5 % may be expected to be wrong."""
    return stats.false_discovery_control(p_values) if len(p_values) else np.array([])


def compare_curves(ours: Scores, theirs: Scores) -> pd.DataFrame:
    """Our test scores beside the published ones by curve and layer, with Welch's interval of each difference.

    Columns: role, size, recipe, task, layer; of both (``theirs``, ``ours``) the mean, ``_half_width`` of its t interval
    and ``_n``; difference, low, high, and ``shown``, whether there is a difference at 5 % after the correction over all
    layers of all curves.
    """
    rows = []
    for key in sorted(theirs.curves(split="test", metric="spearman"), key=lambda key: (*key[:1:-1], *key[:2])):
        for layer in theirs.curve(*key).index:
            row = dict(zip(CURVE, key, strict=False)) | {"layer": layer}
            sides = {"theirs": theirs.values(Cell(*key, layer)), "ours": ours.values(Cell(*key, layer))}
            for side, values in sides.items():
                if values is not None:
                    mean = Estimate.of(values.to_numpy())
                    row |= {side: mean.mean, f"{side}_half_width": mean.half_width, f"{side}_n": mean.n}
            if sides["ours"] is not None:
                row["difference"] = row["ours"] - row["theirs"]
                if row["ours_n"] > 1:
                    test = stats.ttest_ind(sides["ours"], sides["theirs"], equal_var=False)
                    row |= dict(zip(("low", "high"), test.confidence_interval(LEVEL), strict=True)) | {"p": test.pvalue}
            rows.append(row)
    moments = [f"{side}{moment}" for side in ("theirs", "ours") for moment in ("", "_half_width", "_n")]
    table = pd.DataFrame(rows, columns=[*CURVE[:4], "layer", *moments, "difference", "low", "high", "p"])
    tested = table["p"].notna()
    table["shown"] = False
    table.loc[tested, "shown"] = adjusted(table.loc[tested, "p"].to_list()) < ALPHA
    return table.drop(columns="p")


def _table_row(row: dict[str, Any], paper: dict[str, Any], ours: Ours) -> Iterator[Entry]:
    """The entries of one printed row: layer, parameters, scores of both splits."""
    place, name = row["place"], f"{row['recipe']}, {row['encoder']}, layer {row['layer']}"
    cell = _cell(paper, [row["recipe"], row["encoder"], row["layer"]])
    comparable = _comparable(ours, cell)
    keys = ("place", "recipe", "encoder", "layer")
    means = next((other for other in ours.notebook if all(other[key] == row[key] for key in keys)), None)
    if row["row"] == "best":
        entry = _best_layer(Entry(place, f"{row['recipe']}, {row['encoder']}: best layer"), cell, "validation", ours)
        if entry.ours is None and means is not None:
            entry.ours, entry.note = means["layer"], "means only"
        yield entry
    if "parameters" in row:
        yield _exact(Entry(place, f"{name}: parameters (M)"), row["parameters"], _millions(cell, ours), comparable)
    for split in ("validation", "test"):
        stand_ins = means[split] if means else [None] * len(row[split])
        for metric, printed, mean in zip(paper["metrics"], row[split], stand_ins, strict=True):
            entry = Entry(place, f"{name}: {split} {METRIC_NAMES[metric]}", comparable=comparable)
            at = cell._replace(split=split, metric=metric)
            found = ours.scores.contrast((1, at), other_n=paper["seeds"])
            entry.note = ours.scores.collapsed_note(at)
            if found is None and mean is not None:
                found, entry.note = _of_mean(mean, at, paper["seeds"], ours), "means only"
            yield _deviating(entry, printed, found)


def _text_number(number: dict[str, Any], paper: dict[str, Any], ours: Ours) -> Entry:
    """A number of the text: a difference or a ratio of two cells, one cell's, or that of costs."""
    entry = Entry(number["place"], number["text"], claim=number.get("claim"))
    if "hours" in number:
        return _hours(entry, number, ours)
    cells = [_cell(paper, cell) for cell in number["of"]]
    entry.comparable = all(_comparable(ours, cell) for cell in cells)
    if "difference" in number:
        found = ours.scores.contrast((1, cells[0]), (-1, cells[1]), other_n=paper["seeds"])
        return _deviating(entry, number["difference"], found)
    sizes = [_millions(cell, ours) for cell in cells]
    if "ratio" in number:
        return _exact(entry, number["ratio"], None if None in sizes else sizes[0] / sizes[1], entry.comparable)
    if "parameters" in number:
        return _exact(entry, number["parameters"], sizes[0], entry.comparable)
    return _best_layer(entry, cells[0], "test", ours)


def _deviating(entry: Entry, printed: float, found: Estimate | None) -> Entry:
    """A score, or a difference of scores, beside the printed one."""
    entry.paper = printed
    if found is not None:
        entry.ours, entry.deviation = found.mean, Estimate(found.mean - printed, found.error, found.n)
        rounding = abs(entry.deviation.mean) <= PRINTED_TOLERANCE
        entry.p_values = [1.0 if rounding else entry.deviation.p_equal()]
    return entry


def _exact(
    entry: Entry, printed: float, found: float | None, comparable: bool, tolerance: float = PRINTED_TOLERANCE
) -> Entry:
    """A number that does not hang on seeds."""
    entry.paper, entry.ours, entry.tolerance, entry.comparable = printed, found, tolerance, comparable
    return entry


def _best_layer(entry: Entry, cell: Cell, split: str, ours: Ours) -> Entry:
    """The best layer on a split; another one than the paper's differs only if its score there does."""
    best = ours.scores.best_layer(*cell[:4], split=split)
    entry = _exact(entry, cell.layer, best, _comparable(ours, cell))
    if best not in (None, cell.layer):
        at = cell._replace(split=split)
        entry.deviation = ours.scores.contrast((1, at._replace(layer=best)), (-1, at))
        others = len(ours.scores.layers(*cell[:4], split=split)) - 1
        entry.p_values = [min(1.0, others * entry.deviation.p_not_above())]
        entry.note = f"difference in {split} score"
    return entry


def _claim(claim: dict[str, Any], ours: Ours) -> Entry:
    """A claim, with the difference on which it depends."""
    statement = judge(claim, ours.scores)
    entry = Entry("text", claim["text"], claim=claim["claim"], statement=statement, comparable=ours.comparable)
    if statement.known:
        entry.p_values = [statement.p_not, statement.p_holds]
        entry.deviation = statement.decisive.estimate
        found = details([(claim["claim"], statement)])["found"].value_counts()
        counts = {kind: found.get(kind, 0) for kind in ("shown", "open", "refuted")} | {
            "without data": statement.missing
        }
        entry.note = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    return entry


def _hours(entry: Entry, number: dict[str, Any], ours: Ours) -> Entry:
    """Hours of training and evaluation, comparable where all of them were on the paper's device."""
    entry = _exact(entry, number["hours"], None, ours.comparable, ABOUT * number["hours"])
    costs = ours.costs
    if costs is not None:
        for column, value in number.get("where", {}).items():
            costs = costs[costs[column] == value]
        if len(costs):
            hours = costs[["training_seconds", "evaluation_seconds"]].sum(axis=1) / 3600
            entry.ours = float((hours / costs["runs"]).max() if number.get("longest") else hours.sum())
            entry.comparable &= bool(costs["device"].dropna().str.contains(number["device"]).all())
    return entry


def _of_mean(mean: float, cell: Cell, n: int, ours: Ours) -> Estimate:
    """A mean without its runs, less another: the spread of the test runs of the same layer stands for that of both."""
    values = ours.scores.values(cell._replace(split="test"))
    return Estimate(mean, math.nan if values is None else float(values.std()) * math.sqrt(2 / n), n)


def _cell(paper: dict[str, Any], at: Sequence[Any]) -> Cell:
    """The cell that [recipe, encoder, layer] of workflow/paper.yaml names."""
    recipe, encoder, layer = at
    return Cell(*(paper["encoders"][encoder][key] for key in ("role", "size")), recipe, paper["task"], layer)


def _comparable(ours: Ours, cell: Cell) -> bool:
    return ours.comparable and cell.recipe not in ours.foreign


def _millions(cell: Cell, ours: Ours) -> float | None:
    found = ours.scores.parameters(cell)
    return None if found is None else found / 1e6
