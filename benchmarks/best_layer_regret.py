"""Judge a search for the best layer, and cheaper ways to one, against the whole sweep.

`PYTHONPATH=workflow/scripts python benchmarks/best_layer_regret.py SEARCH.json SWEEP.json ...`: the record of a search,
results/best_layer/TASK/ENCODER.json, and the results of all layers and seeds of the same recipe.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.best_layer import ROUNDS, competitors, next_layers, plan
from tmft.results.best_layer_report import layer_scores, spread, table_lines
from tmft.results.layer_tables import best_layers
from tmft.results.tables import summarise, tabulate_records
from tmft.runtime.files import read_json
from tmft.training.records import read_all


def replay(runs: pd.DataFrame, seeds: Sequence[int], metric: str) -> int | None:
    """The layer that a search chooses whose runs are these, the whole sweep's, with the seeds in this order.

    ``runs`` are those of one encoder, by ``tmft.results.tables.tabulate_runs``. None if all runs of a round collapsed.
    """
    own = plan(runs["layer"].nunique(), len(seeds))
    named: list[int] = []
    for name in ROUNDS:
        layers, drawn = competitors(name, own, named, seeds)
        if not layers:
            return None
        drawn_runs = runs[runs["layer"].isin(layers) & runs["seed"].isin(drawn)]
        named = next_layers(name, own, summarise(drawn_runs), metric)
    return named[0]


def regret_rows(search: dict[str, Any], sweep: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What each way to a layer loses on test against the whole sweep: method, layer, test, sd, regret, within, share.

    The search is also replayed with each of the other seeds first. Regret is the test mean at the sweep's choice (by
    validation) less that at the method's layer, times 100; it is negative where the method was lucky, and
    None where all runs at its layer collapsed. ``within`` says whether it is at most the sample standard deviation at
    the sweep's choice, None with one seed. ``share`` is the part of the sweep's training tokens that the method takes
    until its layer has been through the full protocol.
    """
    metric, share, seeds = search["metric"], search["cost"]["share"], search["rounds"][-1]["seeds"]
    runs = tabulate_records(sweep)
    summary = summarise(runs)
    chosen = int(best_layers(summary, metric)["layer"].iloc[0])
    last = int(summary["layer"].max())
    alone = 1 / (last + 1)
    methods = {"whole sweep": (chosen, 1.0), "search": (search["layer"], share)}
    for place, seed in enumerate(seeds[1:], 1):
        layer = replay(runs, seeds[place:] + seeds[:place], metric)
        if layer is not None:
            methods[f"search, seed {seed} first"] = (layer, share)
    methods |= {name: (layer, alone) for name, layer in search["proposals"].items()} | {"last layer": (last, alone)}
    best = layer_scores(summary, chosen, metric)["test"]
    rows = []
    for method, (layer, share) in methods.items():
        test = layer_scores(summary, layer, metric)["test"]
        regret = None if test["mean"] is None else 100 * (best["mean"] - test["mean"])
        within = None if regret is None or best["sd"] is None else bool(regret <= 100 * best["sd"])
        rows.append({"method": method, "layer": layer, **test, "regret": regret, "within": within, "share": share})
    return rows


def regret_markdown(rows: Sequence[dict[str, Any]], search: dict[str, Any]) -> str:
    """The rows of ``regret_rows`` as text."""
    lines = [
        f"# Ways to the best layer of {search['encoder']} on {search['task']}, by {search['recipe']}",
        "",
        f"Test {METRIC_NAMES[search['metric']]} x 100; regret is what is lost against the whole sweep's choice, in "
        "points, and within one standard deviation of that choice's seeds or not; training tokens include the full "
        "protocol at the layer.",
        "",
    ]
    verdicts = {None: "-", True: "yes", False: "no"}
    lines += table_lines(
        ["Method", "Layer", "Test", "Regret", "Within one sd", "Training tokens"],
        (
            [
                one["method"],
                one["layer"],
                spread(one),
                "-" if one["regret"] is None else f"{one['regret']:.2f}",
                verdicts[one["within"]],
                f"{one['share']:.1%}",
            ]
            for one in rows
        ),
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    record = read_json(Path(sys.argv[1]))
    print(regret_markdown(regret_rows(record, read_all(map(Path, sys.argv[2:]))), record), end="")
