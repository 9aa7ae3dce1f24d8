"""Score, size and speed by layer: what shipping an earlier layer gains and loses."""

from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES

SCORES = ["validation", "validation_sd", "test", "test_sd", "n", "collapsed"]


def cost_rows(summary: pd.DataFrame, cost: dict[str, Any], metric: str) -> pd.DataFrame:
    """One row per layer of an encoder, from the summary of one curve (``tmft.results.tables``) and measured costs.

    Columns: layer, parameters, megabytes (10^6 bytes), sentences_per_second, milliseconds (of a sentence), mean and sd
    over seeds of validation and test (times 100), n, collapsed, and the processor that was measured on.
    """
    measured = pd.DataFrame(cost["layers"])
    seconds = measured["seconds"] / cost["batch_size"]
    rows = pd.DataFrame(
        {
            "layer": measured["layer"],
            "megabytes": measured["bytes"] / 1e6,
            "sentences_per_second": 1 / seconds,
            "milliseconds": 1000 * seconds,
            "processor": cost["processor"],
        }
    )
    for split in ("validation", "test"):
        own = summary[(summary["split"] == split) & (summary["metric"] == metric)]
        scores = {split: 100 * own["mean"], f"{split}_sd": 100 * own["sd"]}
        kept = ["layer", "parameters", "n", "collapsed"] if split == "test" else ["layer"]
        rows = rows.merge(own[kept].assign(**scores), on="layer")
    first = ["layer", "parameters", "megabytes", "sentences_per_second", "milliseconds"]
    return rows[[*first, *SCORES, "processor"]]


def to_markdown(rows: pd.DataFrame, cost: dict[str, Any], labels: dict[str, str]) -> str:
    """The table in Markdown; ``labels`` names encoder, recipe, task and metric."""
    on = f"one thread of {cost['processor']}, PyTorch {cost['environment']['torch']}"
    batch = f"batches of {cost['batch_size']} sentences of {cost['tokens']} tokens, median of {cost['repeats']}"
    lines = [
        f"**{labels['encoder']}, {labels['recipe']} on {labels['task']}.** {METRIC_NAMES[labels['metric']]} x 100, "
        f"mean ± standard deviation over seeds; MB of the weights; sentences a second on {on}, {batch}.",
        "",
        "| Layer | Parameters (M) | MB | Sentences/s | Validation | Test | Seeds |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows.itertuples():
        scores = [_score(row.validation, row.validation_sd), _score(row.test, row.test_sd)]
        seeds = f"{row.n}" + (f" ({row.collapsed} collapsed)" if row.collapsed else "")
        sizes = [f"{row.parameters / 1e6:.2f}", f"{row.megabytes:.1f}", f"{row.sentences_per_second:,.0f}"]
        lines.append(f"| {' | '.join([str(row.layer), *sizes, *scores, seeds])} |")
    return "\n".join(lines) + "\n"


def _score(mean: float, sd: float) -> str:
    if pd.isna(mean):
        return "-"
    return f"{mean:.2f}" + ("" if pd.isna(sd) else f" ± {sd:.2f}")
