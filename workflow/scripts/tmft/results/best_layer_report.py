"""What a search for the best layer found, and at what cost."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES
from tmft.results.best_layer import Search
from tmft.results.tables import summarise, tabulate_records
from tmft.runtime.files import write_json, write_text

TITLES = {"grid": "a grid of layers", "between": "the grid and layers between", "final": "the finalists"}
OUTCOMES = {"grid": "Layers between to run next", "between": "Finalists", "final": "Best"}


def write_search(found: Search, proposed: dict[str, int], names: dict[str, str], params: Any, output: Any) -> None:
    """Write the record of a search and its text to ``output``; ``params`` of the rule have metric and labels."""
    record = names | search_record(found, params.metric, proposed)
    write_json(output.json, record)
    write_text(output.markdown, search_markdown(record, params.labels))


def search_record(found: Search, metric: str, proposed: dict[str, int]) -> dict[str, Any]:
    """The layer that the last round named, its scores, the evidence and the cost.

    ``proposed`` are the layers that other methods name; they do not enter the search.
    """
    (layer,) = found.rounds[-1]["named"]
    results = found.results
    sweep = found.sweep_runs * results[0]["cost"]["training_tokens"]
    tokens = _total(results, "training_tokens")
    return {
        "layer": layer,
        "parameters": next(one["parameters"]["published"] for one in results if one["run"]["layer"] == layer),
        "metric": metric,
        **layer_scores(summarise(tabulate_records(results)), layer, metric),
        "rounds": found.rounds,
        "proposals": proposed,
        "cost": {
            "runs": len(results),
            "sweep_runs": found.sweep_runs,
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
        f"{metric} x 100: validation {spread(record['validation'])}, test {spread(record['test'])}. It was chosen by "
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
        lines += table_lines(
            ["Layer", f"Validation {metric} x 100", "Collapsed"],
            ([scores["layer"], spread(scores), scores["collapsed"]] for scores in one["scores"]),
        )
        lines += ["", f"{OUTCOMES[one['round']]}: {named}."]
    if record["proposals"]:
        lines += ["", "## Proposals without training", ""]
        lines += table_lines(["Method", "Layer"], record["proposals"].items())
        lines += ["", "They did not enter the search."]
    return "\n".join(lines) + "\n"


def layer_scores(summary: pd.DataFrame, layer: int, metric: str) -> dict[str, dict[str, Any]]:
    """Mean, sd, n and collapsed of a metric at a layer, by split."""
    own = summary[(summary["layer"] == layer) & (summary["metric"] == metric)].set_index("split")
    scores = own[["mean", "sd", "n", "collapsed"]].astype(object)
    return scores.where(scores.notna(), None).to_dict("index")


def _total(records: Iterable[dict[str, Any]], cost: str) -> Any:
    return sum(record["cost"][cost] for record in records)


def spread(scores: dict[str, Any]) -> str:
    """Mean, standard deviation and number of seeds of a score, times 100, as text."""
    if scores["mean"] is None:
        return "collapsed"
    deviation = "" if scores["sd"] is None else f" ± {100 * scores['sd']:.2f}"
    return f"{100 * scores['mean']:.2f}{deviation} ({scores['n']} seed{'s' * (scores['n'] > 1)})"


def table_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """The lines of a Markdown table."""
    return [f"| {' | '.join(map(str, row))} |" for row in [header, ["---"] * len(header), *rows]]
