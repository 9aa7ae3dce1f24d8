"""What a search for the best layer found, at what cost, and how far that is from what the whole sweep chooses."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.best_layer import ROUNDS, Plan, competitors, next_layers, plan
from tmft.results.layer_tables import best_layers, rank_layers
from tmft.results.tables import RUN, summarise, tabulate_runs

TITLES = {"grid": "a grid of layers", "between": "the grid and layers between", "final": "the finalists"}
OUTCOMES = {"grid": "Layers between to run next", "between": "Finalists", "final": "Best"}


def summary_of(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The summary of ``tmft.results.tables`` over all of these results."""
    return summarise(_runs(records))


def _runs(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    return tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])


def round_record(name: str, search: Plan, records: Sequence[dict[str, Any]], metric: str) -> dict[str, Any]:
    """What a round found: its seeds, validation scores by layer, best layer first, and the layers that it names.

    Layers without a score are not listed.
    """
    summary = summary_of(records)
    columns = ["layer", "mean", "sd", "n", "collapsed"]
    scores = rank_layers(summary, metric)[columns].astype(object)
    return {
        "round": name,
        "seeds": list(dict.fromkeys(record["run"]["seed"] for record in records)),
        "scores": scores.where(scores.notna(), None).to_dict("records"),
        "named": next_layers(name, search, summary, metric),
    }


def search_record(
    rounds: Sequence[dict[str, Any]],
    results: Sequence[dict[str, Any]],
    metric: str,
    sweep_runs: int,
    proposals: dict[str, int],
) -> dict[str, Any]:
    """The layer that the last round named, its scores, the evidence and the cost.

    ``results`` are the runs of the search; the sweep has ``sweep_runs``. ``proposals`` are the layers that other
    methods name; they do not enter the search.
    """
    (layer,) = rounds[-1]["named"]
    own = _layer_scores(summary_of(results), layer, metric)
    sweep = sweep_runs * results[0]["cost"]["training_tokens"]
    tokens = _total(results, "training_tokens")
    return {
        "layer": layer,
        "parameters": next(one["parameters"]["published"] for one in results if one["run"]["layer"] == layer),
        "metric": metric,
        **own,
        "rounds": list(rounds),
        "proposals": proposals,
        "cost": {
            "runs": len(results),
            "sweep_runs": sweep_runs,
            "training_tokens": tokens,
            "sweep_training_tokens": sweep,
            "share": tokens / sweep,
            "seconds": _total(results, "seconds"),
        },
    }


def search_markdown(record: dict[str, Any], labels: dict[str, str]) -> str:
    """The record of a search as text; ``labels`` are those of task, recipe and encoder."""
    cost, metric = record["cost"], METRIC_NAMES[record["metric"]]
    lines = [
        f"# The best layer of {labels['encoder']} on {labels['task']}",
        "",
        f"**Layer {record['layer']}** by {labels['recipe']}, {record['parameters'] / 1e6:.2f} million parameters. "
        f"{metric} x 100: validation {_spread(record['validation'])}, test {_spread(record['test'])}. It was chosen by "
        "validation; no other layer's test score was looked at.",
        "",
        f"Cost: {cost['training_tokens']:,} training tokens, {cost['share']:.1%} of the whole sweep's "
        f"{cost['sweep_training_tokens']:,} ({cost['runs']} runs, not {cost['sweep_runs']}); "
        f"{cost['seconds']:.0f} seconds.",
    ]
    for number, one in enumerate(record["rounds"], 1):
        seeds = ", ".join(map(str, one["seeds"]))
        named = ", ".join(map(str, one["named"])) or "none"
        lines += ["", f"## Round {number}: {TITLES[one['round']]}, seed{'s' * (len(one['seeds']) > 1)} {seeds}", ""]
        lines += _table(
            ["Layer", f"Validation {metric} x 100", "Collapsed"],
            ([scores["layer"], _spread(scores), scores["collapsed"]] for scores in one["scores"]),
        )
        lines += ["", f"{OUTCOMES[one['round']]}: {named}."]
    if record["proposals"]:
        lines += ["", "## Proposals without training", ""]
        lines += _table(["Method", "Layer"], record["proposals"].items())
        lines += ["", "They did not enter the search."]
    return "\n".join(lines) + "\n"


def replay(runs: pd.DataFrame, seeds: Sequence[int], metric: str) -> int | None:
    """The layer that a search chooses whose runs are these, the whole sweep's, with the seeds in this order.

    ``runs`` are those of one encoder, by ``tmft.results.tables.tabulate_runs``. None if all runs of a round collapsed.
    """
    search = plan(runs["layer"].nunique(), len(seeds))
    named: list[int] = []
    for name in ROUNDS:
        layers, drawn = competitors(name, search, named, seeds)
        if not layers:
            return None
        own = runs[runs["layer"].isin(layers) & runs["seed"].isin(drawn)]
        named = next_layers(name, search, summarise(own), metric)
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
    runs = _runs(sweep)
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
    best = _layer_scores(summary, chosen, metric)["test"]
    rows = []
    for method, (layer, share) in methods.items():
        test = _layer_scores(summary, layer, metric)["test"]
        regret = None if test["mean"] is None else 100 * (best["mean"] - test["mean"])
        within = None if regret is None or best["sd"] is None else bool(regret <= 100 * best["sd"])
        rows.append({"method": method, "layer": layer, **test, "regret": regret, "within": within, "share": share})
    return rows


def regret_markdown(rows: Sequence[dict[str, Any]], metric: str, labels: dict[str, str]) -> str:
    """The rows of ``regret_rows`` as text; ``labels`` are those of task, recipe and encoder."""
    lines = [
        f"# Ways to the best layer of {labels['encoder']} on {labels['task']}, by {labels['recipe']}",
        "",
        f"Test {METRIC_NAMES[metric]} x 100; regret is what is lost against the whole sweep's choice, in points, and "
        "within one standard deviation of that choice's seeds or not; training tokens include the full protocol at the "
        "layer.",
        "",
    ]
    verdicts = {None: "-", True: "yes", False: "no"}
    lines += _table(
        ["Method", "Layer", "Test", "Regret", "Within one sd", "Training tokens"],
        (
            [
                one["method"],
                one["layer"],
                _spread(one),
                "-" if one["regret"] is None else f"{one['regret']:.2f}",
                verdicts[one["within"]],
                f"{one['share']:.1%}",
            ]
            for one in rows
        ),
    )
    return "\n".join(lines) + "\n"


def _layer_scores(summary: pd.DataFrame, layer: int, metric: str) -> dict[str, dict[str, Any]]:
    """Mean, sd, n and collapsed of a metric at a layer, by split."""
    own = summary[(summary["layer"] == layer) & (summary["metric"] == metric)].set_index("split")
    scores = own[["mean", "sd", "n", "collapsed"]].astype(object)
    return scores.where(scores.notna(), None).to_dict("index")


def _total(records: Iterable[dict[str, Any]], cost: str) -> Any:
    return sum(record["cost"][cost] for record in records)


def _spread(scores: dict[str, Any]) -> str:
    if scores["mean"] is None:
        return "collapsed"
    spread = "" if scores["sd"] is None else f" ± {100 * scores['sd']:.2f}"
    return f"{100 * scores['mean']:.2f}{spread} ({scores['n']} seed{'s' * (scores['n'] > 1)})"


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in [header, ["---"] * len(header), *rows]]
