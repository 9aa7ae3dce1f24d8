"""Tables of chosen layers: each encoder at its best layer on validation, and at its last (paper, Tables 1 and 2)."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from tmft.experiment.metrics import METRIC_NAMES

SPLITS = ("validation", "test")
CURVE = ["task", "recipe", "encoder"]
HEADER = ["Encoder", "Layer", "Parameters (M)", "Validation", "Test", "Seeds"]


def rank_layers(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The validation rows of a metric that have a mean, best layer first.

    The mean is that of all seeds, as the paper's, so that lucky seeds beside collapsed ones do not win; of equal layers
    the lowest is first. Test scores play no part.
    """
    scores = summary[(summary["split"] == "validation") & (summary["metric"] == metric) & summary["mean"].notna()]
    return scores.sort_values(["mean_all", "layer"], ascending=[False, True], kind="stable")


def best_layers(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The layer of each task, recipe and encoder that ``rank_layers`` puts first: CURVE and ``layer``.

    Curves without a validation score are left out.
    """
    ranked = rank_layers(summary, metric)
    return ranked.groupby(CURVE, sort=False).head(1)[[*CURVE, "layer"]].reset_index(drop=True)


def layer_rows(summary: pd.DataFrame, table: dict[str, Any]) -> pd.DataFrame:
    """The rows of a table, in the order of the configuration, from the summary of ``tmft.results.tables``.

    ``table`` has ``recipes`` and ``encoders`` (labels by key), ``rows`` (``best``, ``last`` or both; last is left out
    where it is the best) and ``metrics``, first the one that chooses the layer. Columns: recipe, encoder, row, layer,
    parameters; for each split and metric, times 100, ``{split}_{metric}`` and ``{split}_{metric}_sd`` over all seeds,
    as the paper's, and ``{split}_{metric}_sound`` over those that did not collapse; n and collapsed, the numbers of
    seeds with and without a score.
    """
    chosen = best_layers(summary, table["metrics"][0]).set_index(["recipe", "encoder"])["layer"]
    rows = []
    for recipe in table["recipes"]:
        for encoder in table["encoders"]:
            own = summary[(summary["recipe"] == recipe) & (summary["encoder"] == encoder)]
            layers = {"best": chosen.get((recipe, encoder)), "last": own["layer"].max()}
            wanted = {row: layers[row] for row in table["rows"] if layers[row] is not None}
            if len(set(wanted.values())) < len(wanted):
                del wanted["last"]
            for row, layer in wanted.items():
                scores = _scores(own[own["layer"] == layer], table["metrics"])
                rows.append({"recipe": recipe, "encoder": encoder, "row": row, "layer": layer} | scores)
    return pd.DataFrame(rows)


def _scores(layer: pd.DataFrame, metrics: list[str]) -> dict[str, Any]:
    """Parameters, scores times 100, n and collapsed seeds from the rows of one layer in a summary."""
    values = layer.set_index(["split", "metric"])[["mean_all", "sd_all", "mean"]] * 100
    scores = {}
    for split in SPLITS:
        for metric in metrics:
            found = values.loc[(split, metric)] if (split, metric) in values.index else {}
            columns = {"": "mean_all", "_sd": "sd_all", "_sound": "mean"}
            scores |= {f"{split}_{metric}{suffix}": found.get(column) for suffix, column in columns.items()}
    first = layer.iloc[0]
    return {"parameters": first["parameters"], **scores, "n": first["n"], "collapsed": first["collapsed"]}


def to_markdown(rows: pd.DataFrame, table: dict[str, Any], note: str = "") -> str:
    """The table in Markdown: 'first metric/second metric' of validation and test, maxima of each recipe in bold.

    ``note`` ends its caption.
    """
    lines = [
        f"**{table['title']}.** {_caption(table, note)}",
        "",
        _markdown_row(HEADER),
        _markdown_row(["---"] * len(HEADER)),
    ]
    for recipe, block in _blocks(rows, table):
        if len(table["recipes"]) > 1:
            lines.append(_markdown_row([f"*{recipe}*", *[""] * (len(HEADER) - 1)]))
        lines += [_markdown_row(cells) for cells in _cells(block, table, "**{}**".format)]
    return "\n".join(lines) + "\n"


def to_latex(rows: pd.DataFrame, table: dict[str, Any], note: str = "") -> str:
    """The same table in LaTeX, with the rules of booktabs."""
    lines = [
        rf"% {table['title']}. {_caption(table, note)}",
        r"\begin{tabular}{lrrrrr}",
        r"\toprule",
        _latex_row(HEADER),
    ]
    for recipe, block in _blocks(rows, table):
        lines.append(r"\midrule")
        if len(table["recipes"]) > 1:
            lines.append(rf"\multicolumn{{{len(HEADER)}}}{{l}}{{\emph{{{_escape(recipe)}}}}} \\")
        lines += [_latex_row(cells) for cells in _cells(block, table, r"\textbf{{{}}}".format)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _caption(table: dict[str, Any], note: str) -> str:
    names = [METRIC_NAMES[metric] for metric in table["metrics"]]
    caption = (
        f"{table['task']}, {'/'.join(names)} x 100, means over all seeds; layers chosen by {names[0]} on validation."
    )
    return f"{caption} {note}".rstrip()


def _blocks(rows: pd.DataFrame, table: dict[str, Any]) -> list[tuple[str, pd.DataFrame]]:
    return [(table["recipes"][recipe], block) for recipe, block in rows.groupby("recipe", sort=False)]


def _cells(block: pd.DataFrame, table: dict[str, Any], bold: Callable[[str], str]) -> list[list[str]]:
    """The cells of one recipe's rows as text."""
    scored = [f"{split}_{metric}" for split in SPLITS for metric in table["metrics"]]
    best = block[scored].max()

    def score(row: pd.Series, column: str) -> str:
        if pd.isna(row[column]):
            return "-"
        text = f"{row[column]:.2f}"
        return bold(text) if row[column] == best[column] else text

    cells = []
    for _, row in block.iterrows():
        splits = ["/".join(score(row, f"{split}_{metric}") for metric in table["metrics"]) for split in SPLITS]
        label = table["encoders"][row["encoder"]] + (", last" if row["row"] == "last" else "")
        seeds = f"{row['n'] + row['collapsed']}"
        if row["collapsed"]:
            sound = "/".join(f"{row[f'test_{metric}_sound']:.2f}" for metric in table["metrics"])
            seeds += f", {row['collapsed']} collapsed" + (f" (test without them {sound})" if row["n"] else "")
        cells.append([label, str(row["layer"]), f"{row['parameters'] / 1e6:.2f}", *splits, seeds])
    return cells


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: list[str]) -> str:
    label, *others = cells
    return rf"{' & '.join([_escape(label), *others])} \\"


LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def _escape(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)
