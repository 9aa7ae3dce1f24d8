"""Two results held against each other on the same test pairs, by a bootstrap over pairs and seeds."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES
from tmft.experiment.sides import Side
from tmft.results import layer_tables
from tmft.results.intervals import SCORES, bootstrap_scores, paired_difference, percentile_interval
from tmft.results.layer_tables import layer_rows
from tmft.results.tables import version_note
from tmft.runtime.files import write_csv, write_text
from tmft.training.records import predictions_file, read_records

RESAMPLES, SEED = 2000, 0
WORDS = {"first": "above", "second": "below", "neither": "neither shown"}
COLUMNS = ["first_layer", "second_layer", "first", "second", "difference", "low", "high", "first_n", "second_n"]


class Predictions:
    """The test predictions of runs, and their scores in resamples of the pairs, each computed once.

    ``files`` are results; ``labels`` those of the test pairs by pair_id; ``metric`` is of ``intervals.SCORES``.
    """

    def __init__(self, files: Iterable[Path], labels: pd.Series, metric: str) -> None:
        self.labels, self.metric = labels, metric
        self._runs: dict[Side, tuple[dict[str, Any], Path]] = {}
        self._scores: dict[Side, tuple[np.ndarray, np.ndarray]] = {}
        for file in files:
            for record in read_records(file):
                run = Side(*(record["run"][key] for key in Side._fields))
                self._runs[run] = record, predictions_file(file)

    def compare(self, first: Side, second: Side) -> dict[str, Any]:
        """COLUMNS of the results at one layer of each side, scores times 100, ``difference`` first less second.

        Seeds that both have are matched. A collapsed run scores as a constant answer.
        """
        sides = [self._runs_of(side) for side in (first, second)]
        scores = [[self._scored(run) for run in runs] for runs in sides]
        resampled = [np.concatenate([own for _, own in runs]) for runs in scores]
        means = [100 * float(np.mean([score for score, _ in runs])) for runs in scores]
        paired = [run.seed for run in sides[0]] == [run.seed for run in sides[1]]
        low, high = percentile_interval(100 * paired_difference(*resampled, paired, SEED))
        counts = map(len, sides)
        return dict(
            zip(COLUMNS, [first.layer, second.layer, *means, means[0] - means[1], low, high, *counts], strict=True)
        )

    def _runs_of(self, side: Side) -> list[Side]:
        return [run for run in self._runs if run[:3] == side[:3] and side.seed in (None, run.seed)]

    def _scored(self, run: Side) -> tuple[float, np.ndarray]:
        """The score of a run, and its scores (1, resamples)."""
        if run not in self._scores:
            predictions, labels = self._decided(run)[None], self.labels.to_numpy()
            score = SCORES[self.metric](predictions, labels, np.ones((1, len(labels))))[0, 0]
            self._scores[run] = score, bootstrap_scores(self.metric, predictions, labels, RESAMPLES, SEED)
        return self._scores[run]

    def _decided(self, run: Side) -> np.ndarray:
        """What is scored: cosines, or classes where the metric wants them."""
        record, file = self._runs[run]
        if record["metrics"] is None:
            constant = {"f1": 1.0, "macro_f1": self.labels.mode()[0]}.get(self.metric, 0.0)
            return np.full(len(self.labels), constant)
        table = pd.read_parquet(file)
        values = table[table["layer"] == run.layer].set_index("pair_id")["prediction"].reindex(self.labels.index)
        if self.metric == "f1":
            return (values >= record["metrics"]["test"]["threshold"]).to_numpy(dtype=float)
        return values.to_numpy()


def compare_sides(results: Iterable[Path], labels: pd.Series, comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row of COLUMNS per pair of layers of a comparison (``tmft.experiment.descriptions.comparison``)."""
    predictions = Predictions(results, labels, comparison["metric"])
    first, second = (Side(*side) for side in comparison["sides"])
    pairs = ((first._replace(layer=one), second._replace(layer=other)) for one, other in comparison["layers"])
    return [predictions.compare(*sides) for sides in pairs]


def write_layer_table(
    runs: pd.DataFrame, summary: pd.DataFrame, table: Mapping[str, Any], predictions: Predictions, output: Any
) -> None:
    """Write a table of chosen layers (``layer_rows``) and its comparisons to the files of a rule's ``output``."""
    rows, note = layer_rows(summary, table), version_note(runs)
    comparisons = table_comparisons(rows, table, predictions)
    text = "\n".join([layer_tables.to_markdown(rows, table, note), *comparison_lines(comparisons, table)])
    write_csv(output.csv, rows)
    write_csv(output.comparisons, comparisons)
    write_text(output.markdown, f"{text.rstrip()}\n")
    write_text(output.latex, layer_tables.to_latex(rows, table, note))


def ahead(difference: Mapping[str, Any]) -> str:
    """Which side is shown to be ahead: first, second or neither."""
    return "first" if difference["low"] > 0 else "second" if difference["high"] < 0 else "neither"


def to_markdown(rows: Sequence[dict[str, Any]], labels: Mapping[str, str], metric: str, pairs: int) -> str:
    """The rows of a comparison as text; ``labels`` are those of task, first and second."""
    single = rows[0]["first_n"] == rows[0]["second_n"] == 1
    lines = [
        f"# {labels['first']} against {labels['second']} on {labels['task']}",
        "",
        f"Test {METRIC_NAMES[metric]} x 100, mean over seeds, and the difference with its 95 % interval: {RESAMPLES:,} "
        f"resamples of the {pairs:,} test pairs, the same for both"
        + (". With one run a side, the interval does not know of other seeds." if single else ", and of the seeds."),
        "",
        "| Layers | First | Second | Difference | 95 % interval | Seeds | Ahead |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        layers = {row["first_layer"]: None, row["second_layer"]: None}
        cells = ["/".join(map(str, layers)), f"{row['first']:.2f}", f"{row['second']:.2f}", f"{row['difference']:+.2f}"]
        cells += [f"{row['low']:+.2f} to {row['high']:+.2f}", f"{row['first_n']}/{row['second_n']}", ahead(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table_comparisons(rows: pd.DataFrame, table: Mapping[str, Any], predictions: Predictions) -> pd.DataFrame:
    """Each encoder's best layer against its last, and each against the ``reference`` of a table, layer by layer.

    ``rows`` are those of ``layer_rows``. Columns: recipe, encoder, against (an encoder), COLUMNS.
    """
    found = []
    for (recipe, encoder), own in rows.groupby(["recipe", "encoder"], sort=False):
        sides = [Side(recipe, encoder, int(layer)) for layer in own["layer"]]
        pairs = [(encoder, *sides)] if len(sides) == 2 else []
        if table["reference"] not in (None, encoder):
            layers = range(min(table["depths"][key] for key in (encoder, table["reference"])) + 1)
            against = ((Side(recipe, key, layer) for key in (encoder, table["reference"])) for layer in layers)
            pairs += [(table["reference"], *sides) for sides in against]
        common = {"recipe": recipe, "encoder": encoder}
        found += [common | {"against": key} | predictions.compare(*sides) for key, *sides in pairs]
    return pd.DataFrame(found, columns=["recipe", "encoder", "against", *COLUMNS])


def comparison_lines(comparisons: pd.DataFrame, table: Mapping[str, Any]) -> list[str]:
    """The comparisons of a table as lines of text, in its order; none where it has none."""
    metric = METRIC_NAMES[table["metrics"][0]]
    lines = [
        f"Differences of test {metric} x 100, 95 % intervals over test pairs and seeds ({RESAMPLES:,} resamples):",
        "",
    ]
    for (recipe, encoder, against), own in comparisons.groupby(["recipe", "encoder", "against"], sort=False):
        names = table["encoders"]
        what = f"{table['recipes'][recipe]}: {names[encoder]}"
        if against == encoder:
            (row,) = own.itertuples()
            interval = f"{row.difference:+.2f} ({row.low:+.2f} to {row.high:+.2f})"
            lines.append(f"- {what}, layer {row.first_layer} over its last, {row.second_layer}: {interval}")
            continue
        sides = own.apply(ahead, axis=1)
        words = {"first": "above", "second": "below", "neither": "neither shown"}
        shown = (
            f"{words[side]} at {_spans(list(own['first_layer'][sides == side]))}"
            for side in words
            if side in set(sides)
        )
        lines.append(f"- {what} against {names[against]}, by layer: {', '.join(shown)}")
    return lines if len(comparisons) else []


def _spans(layers: list[int]) -> str:
    """0 to 3, 5, 8 to 9."""
    starts = [layer for layer in layers if layer - 1 not in layers]
    ends = [layer for layer in layers if layer + 1 not in layers]
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in zip(starts, ends, strict=True))
