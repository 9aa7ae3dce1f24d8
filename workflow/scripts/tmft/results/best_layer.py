"""The best layer of an encoder without the whole sweep: one seed on a grid of layers, then between, then all seeds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from tmft.results.layer_tables import best_layers, rank_layers
from tmft.results.tables import summarise, tabulate_records
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json
from tmft.training.records import read_all

if TYPE_CHECKING:
    from tmft.training.run import Runs

Record = dict[str, Any]
Unit = tuple[int, int]  # a layer and a seed

ROUNDS = ("grid", "between", "final")
BUDGET = 0.34  # the largest share of the sweep's training tokens that a search may take


class Plan(NamedTuple):
    """What a search runs: a grid of layers, so many layers between, and so many of all these with all seeds."""

    grid: tuple[int, ...]
    between: int
    finalists: int


def plan(layers: int, seeds: int) -> Plan:
    """The search among so many layers where the sweep would run so many seeds at each.

    The grid and the layers between run with one seed, the finalists with all. The grid is the densest, every second
    layer at most, with which a layer between and a finalist still fit into ``BUDGET`` of the sweep; then there are as
    many finalists as can have a layer between for each, and what is left goes to more layers between. Where no grid
    fits, as in an encoder of one or two layers, the search has both ends, a layer between and a finalist.
    """
    for intervals in range((layers - 1) // 2, 0, -1):
        grid = tuple(round(place * (layers - 1) / intervals) for place in range(intervals + 1))
        left = int(BUDGET * layers * seeds) - len(grid)
        finalists = left // seeds
        if finalists >= 1:
            return Plan(grid, min(left - finalists * (seeds - 1), layers - len(grid)), finalists)
    ends = tuple(sorted({0, layers - 1}))
    return Plan(ends, min(1, layers - len(ends)), 1)


class Search(NamedTuple):
    """What a search found: a record per round, the results of all its runs, and how many runs the sweep has."""

    rounds: list[Record]
    results: list[Record]
    sweep_runs: int


def search(seeds: Sequence[int], metric: str, sweep: Collection[Unit], find: Callable[[int, int], Record]) -> Search:
    """Search among the sweep's (layer, seed) units; ``find(layer, seed)`` gives the result of a run.

    Each is asked for once. Raises InputError where all runs of a round collapsed.
    """
    own, rounds, named = plan(len({layer for layer, _ in sweep}), len(seeds)), [], []
    results: dict[Unit, Record] = {}
    for name in ROUNDS:
        competing, drawn = competitors(name, own, named, seeds)
        units = [(layer, seed) for layer in competing for seed in drawn]
        results |= {unit: find(*unit) for unit in units if unit not in results}
        rounds.append(round_record(name, own, [results[unit] for unit in units], metric))
        named = rounds[-1]["named"]
        if not named:
            reasons = sorted({results[unit]["reason"] for unit in units})
            raise InputError(f"every run of the search collapsed ({'; '.join(reasons)}); no layer is best")
    return Search(rounds, list(results.values()), len(sweep))


def search_by(
    runs: Runs, folders: Sequence[Path], seeds: Sequence[int], metric: str, sweep: Sequence[tuple[int, int, str]]
) -> Search:
    """Search by runs that are found or made: from the folder of each layer, to the results of the ``sweep``.

    ``sweep`` has layer, seed and result file of its runs.
    """
    files = {(layer, seed): Path(file) for layer, seed, file in sweep}

    def find(layer: int, seed: int) -> Record:
        return runs.find(folders[layer], layer, seed, files[layer, seed])

    return search(seeds, metric, files, find)


def round_record(name: str, own: Plan, records: Sequence[Record], metric: str) -> Record:
    """What a round found: its seeds, validation scores by layer, best layer first, and the layers that it names.

    Layers without a score are not listed.
    """
    summary = summarise(tabulate_records(records))
    columns = ["layer", "mean", "sd", "n", "collapsed"]
    scores = rank_layers(summary, metric)[columns].astype(object)
    return {
        "round": name,
        "seeds": list(dict.fromkeys(record["run"]["seed"] for record in records)),
        "scores": scores.where(scores.notna(), None).to_dict("records"),
        "named": next_layers(name, own, summary, metric),
    }


def competitors(name: str, own: Plan, named: Sequence[int], seeds: Sequence[int]) -> tuple[list[int], list[int]]:
    """The layers and seeds whose runs a round compares; ``named`` are the layers that the round before named."""
    if name == "final":
        return list(named), list(seeds)
    return [*own.grid, *named], list(seeds[:1])


def next_layers(name: str, own: Plan, summary: pd.DataFrame, metric: str) -> list[int]:
    """The layers that a round names, by validation: those to run between the grid's, the finalists, or the best.

    ``summary`` is that of ``tmft.results.tables`` of its runs. Test scores play no part. A layer without score, as
    all its runs collapsed, is not named; in the grid it counts as the worst.
    """
    ranked = rank_layers(summary, metric).set_index("layer")["mean_all"]
    if name == "grid" and len(ranked):
        return layers_between(dict.fromkeys(own.grid, ranked.min()) | ranked.to_dict(), own.between)
    return ranked.index.tolist()[: own.finalists if name == "between" else 1]


def layers_between(scores: Mapping[int, float], count: int) -> list[int]:
    """The ``count`` layers without a score that are next to the best with one, most promising first.

    ``scores`` are those of a grid's layers. A layer is as promising as the better of the two that enclose it; of
    equally promising layers that with the higher score on the line between these two comes first, then the lower one.
    """
    promises = {}
    for below, above in pairwise(sorted(scores)):
        for layer in range(below + 1, above):
            line = scores[below] + (scores[above] - scores[below]) * (layer - below) / (above - below)
            promises[layer] = max(scores[below], scores[above]), line
    return sorted(promises, key=promises.__getitem__, reverse=True)[:count]


def proposals(frozen: Sequence[Path], similarities: Sequence[Path], metric: str) -> dict[str, int]:
    """The layers that methods without training propose: the zero-shot curve, and CKA with another encoder."""
    named = {}
    if frozen:
        summary = summarise(tabulate_records(read_all(frozen)))
        named["zero-shot curve"] = int(best_layers(summary, metric)["layer"].iloc[0])
    for path in similarities:
        layers = read_json(path)["layers"]
        named |= {"CKA, highest": closest_layer(layers), "CKA, before its largest fall": layer_before_fall(layers)}
    return named


def closest_layer(similarities: Sequence[dict[str, Any]]) -> int:
    """The layer most like the same layer of another encoder, from the CKA of each (``tmft.results.cka``)."""
    return max(_defined(similarities), key=lambda one: one["biased"])["layer"]


def layer_before_fall(similarities: Sequence[dict[str, Any]]) -> int:
    """The layer after which the CKA with the same layer of another encoder falls most."""
    return max(pairwise(_defined(similarities)), key=lambda pair: pair[0]["biased"] - pair[1]["biased"])[0]["layer"]


def _defined(similarities: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in similarities if one["biased"] is not None]
