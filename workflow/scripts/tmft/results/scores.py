"""Scores as claims speak of them: by the encoder's role and size, recipe, task, layer and replicate."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from tmft.results.intervals import Estimate
from tmft.results.tables import with_collapsed

CURVE = ["role", "size", "recipe", "task", "split", "metric"]
TIDY = [*CURVE, "layer", "replicate", "score", "collapsed", "depth", "parameters"]
MAIN = ("spearman", "f1", "macro_f1")  # of each objective the metric that claims are about


class Cell(NamedTuple):
    """One layer of an encoder under a recipe on a task; without a metric it is the task's main one."""

    role: str
    size: str
    recipe: str
    task: str
    layer: int
    split: str = "test"
    metric: str | None = None


def tidy(runs: pd.DataFrame, encoders: Mapping[str, Mapping[str, Any]], tasks: Mapping[str, str]) -> pd.DataFrame:
    """TIDY from the table of ``tmft.results.tables.tabulate_runs``, scores times 100, the seed as the replicate.

    ``encoders`` gives role, size and depth by key, and a replicate of its own where there are several of that kind;
    ``tasks`` the names of tasks. Others are left out. A collapsed run has the score of a constant answer.
    """
    known = runs[runs["encoder"].isin(encoders) & runs["task"].isin(tasks) & runs["metric"].notna()]
    columns = {
        column: known["encoder"].map({key: one[column] for key, one in encoders.items()})
        for column in ("role", "size", "depth")
    }
    own = known["encoder"].map({key: one["replicate"] for key, one in encoders.items() if "replicate" in one})
    replicate = own.fillna(known["seed"]).fillna(0)
    score = 100 * with_collapsed(known)
    collapsed = known["value"].isna()
    return known.assign(
        **columns, task=known["task"].map(tasks), replicate=replicate, score=score, collapsed=collapsed
    )[TIDY]


def tidy_similarities(comparisons: Iterable[tuple[Mapping[str, Any], str, str, list[dict]]]) -> pd.DataFrame:
    """TIDY of comparisons by CKA, times 100: encoder (as in ``tidy``), task, recipe, layers of ``tmft.results.cka``.

    Layers without a value are left out.
    """
    rows = []
    for encoder, task, recipe, layers in comparisons:
        common = {"role": encoder["role"], "size": encoder["size"], "recipe": recipe, "task": task, "split": "test"}
        common |= {"metric": "cka", "collapsed": False, "depth": encoder["depth"], "parameters": None}
        common |= {"replicate": encoder.get("replicate", 0)}
        known = (one for one in layers if one["biased"] is not None)
        rows += [common | {"layer": one["layer"], "score": 100 * one["biased"]} for one in known]
    return pd.DataFrame(rows, columns=TIDY)


class Scores:
    """A TIDY table, to ask for curves, cells and contrasts of cells.

    ``parameters`` are those that the table does not give, by role, size, task and layer.
    """

    def __init__(self, table: pd.DataFrame, parameters: Mapping[tuple, int] | None = None) -> None:
        self._curves: dict[tuple, pd.DataFrame] = {}
        self._depths: dict[tuple, int] = {}
        for key, own in table.groupby(CURVE):
            curve = own.pivot(index="layer", columns="replicate", values="score")
            for metric in {key[-1], None} if key[-1] in MAIN else key[-1:]:
                self._curves[*key[:-1], metric] = curve
                self._depths[*key[:-1], metric] = own["depth"].iloc[0]
        self._sound = table[~table["collapsed"].astype(bool)].groupby([*CURVE, "layer"])["score"]
        sizes = table.dropna(subset="parameters").drop_duplicates(["role", "size", "task", "layer"])
        self._parameters = dict(parameters or {})
        self._parameters |= sizes.set_index(["role", "size", "task", "layer"])["parameters"].to_dict()

    def curves(self, split: str, metric: str) -> list[tuple]:
        """The role, size, recipe and task of each curve."""
        return [key[:4] for key in self._curves if key[4:] == (split, metric)]

    def curve(self, *key: Any, split: str = "test", metric: str | None = None) -> pd.DataFrame | None:
        """Scores (layers, replicates) of role, size, recipe and task; None where there are none."""
        return self._curves.get((*key, split, metric))

    def layers(self, *key: Any, split: str = "test", metric: str | None = None) -> list[int]:
        """All layers of role, size, recipe and task; none unless every one of them has a score."""
        curve = self.curve(*key, split=split, metric=metric)
        whole = curve is not None and len(curve) == self._depths[*key, split, metric] + 1
        return list(curve.index) if whole else []

    def values(self, cell: Cell) -> pd.Series | None:
        """The scores of a cell by replicate; None where there are none."""
        curve = self.curve(*cell[:4], split=cell.split, metric=cell.metric)
        return None if curve is None or cell.layer not in curve.index else curve.loc[cell.layer].dropna()

    def contrast(self, *terms: tuple[float, Cell], other_n: int | None = None) -> Estimate | None:
        """The weighted sum of cells over the replicates that all of them have; None where there is none.

        ``other_n`` is of ``Estimate.of``.
        """
        found = [self.values(cell) for _, cell in terms]
        if any(values is None for values in found):
            return None
        total = sum(weight * values for (weight, _), values in zip(terms, found, strict=True)).dropna()
        return Estimate.of(total.to_numpy(), other_n) if len(total) else None

    def collapsed_note(self, cell: Cell) -> str:
        """How many runs of a cell collapsed and what the mean without them is; empty where none did."""
        values = self.values(cell)
        key = (cell.role, cell.size, cell.recipe, cell.task, cell.split, cell.metric, cell.layer)
        sound = self._sound.get_group(key) if key in self._sound.groups else []
        if values is None or len(sound) == len(values):
            return ""
        without = f"; without them {sound.mean():.2f}" if len(sound) else ""
        return f"{len(values) - len(sound)} of {len(values)} collapsed{without}"

    def parameters(self, cell: Cell | None) -> float | None:
        """The parameters that the paper counts; None where they are not known, or of no cell."""
        return None if cell is None else self._parameters.get((cell.role, cell.size, cell.task, cell.layer))

    def best_layer(self, *key: Any, split: str = "validation") -> int | None:
        """The layer with the best mean of role, size, recipe and task; None unless every layer has a score."""
        whole = self.layers(*key, split=split)
        return int(self.curve(*key, split=split).mean(axis=1).idxmax()) if whole else None
