"""The reproduction report as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from tmft.results.reproduction import VERDICTS


def to_markdown(entries: pd.DataFrame, behind: pd.DataFrame, curves: pd.DataFrame, drawing: str, note: str = "") -> str:
    """The report from the tables of ``compare`` and ``compare_curves``.

    ``drawing`` is the file beside it that shows the curves; ``note`` is on the results behind the numbers.
    """
    counts = entries["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    claims = entries["paper"].isna()
    lines = [
        "# Reproduction",
        "",
        f"{len(entries)} numbers and claims of the paper: {summary}. {note}".rstrip(),
        "",
        "Scores are correlations x 100, means over all seeds, collapsed ones too, at the layer that the paper chose. "
        "Intervals are 95 % t intervals over seeds, matched by seed where two results are compared; the paper's mean "
        "of five seeds is taken to have the spread of ours. The p-values of all numbers are corrected together, and "
        "those of all claims (Benjamini-Hochberg, 5 %).",
        "",
        *(f"- *{verdict}*: {meaning};" for verdict, meaning in VERDICTS.items() if verdict in counts),
        "",
        "## Claims",
        "",
        "The difference is the one on which a claim depends.",
        "",
        *_table(
            ["Claim", "Says", "Contrasts", "Difference", "Verdict"],
            (
                [_whole(row.claim), row.what, row.note, _difference(row), row.verdict]
                for row in entries[claims].itertuples()
            ),
        ),
        "",
        "## Numbers",
        "",
        *_table(
            ["Place", "Number", "Paper", "Ours", "Difference", "n", "Note", "Verdict"],
            (
                [
                    row.place,
                    row.what,
                    _number(row.paper),
                    _number(row.ours),
                    _difference(row),
                    _whole(row.n),
                    row.note,
                    row.verdict,
                ]
                for row in entries[~claims].itertuples()
            ),
        ),
        "",
        "## The claims, contrast by contrast",
        "",
        *_table(
            ["Claim", "Contrast", "Difference", "n", "Found"],
            (
                [
                    row.claim,
                    row.what + (f" (more than {row.above:g})" if row.above else ""),
                    _difference(row),
                    row.n,
                    row.found,
                ]
                for row in behind.itertuples()
            ),
        ),
        *_curve_lines(curves, drawing),
    ]
    return "\n".join(lines) + "\n"


def _curve_lines(curves: pd.DataFrame, drawing: str) -> list[str]:
    """Each published curve, ours beside theirs by layer."""
    lines = ["", "## Curves", ""]
    if curves.empty:
        return [*lines, "The authors' published runs are not here; docs/reproduction.md says how to get them."]
    compared, shown = curves["ours"].notna().sum(), int(curves["shown"].sum())
    lines += [
        f"Test Spearman x 100 by layer of the {curves.groupby(KEY).ngroups} published curves, theirs and ours: "
        f"{len(curves)} layers, {compared} of them run here. At {shown} a difference is shown (Welch's t test, "
        f"Benjamini-Hochberg over all layers, 5 %), marked *. [{drawing}]({drawing}) draws them.",
    ]
    for (task, recipe, role, size), own in curves.groupby(KEY, sort=False):
        rows = [["published", *own["theirs"].map(_point)]]
        if own["ours"].notna().any():
            rows += [
                ["ours", *own["ours"].map(_point)],
                ["difference", *(_point(row.difference) + " *" * row.shown for row in own.itertuples())],
                ["95 % interval", *(_interval(row.low, row.high) for row in own.itertuples())],
            ]
        lines += ["", f"### {task}, {recipe}, {role} {size}", "", *_table(["Layer", *map(str, own["layer"])], rows)]
    return lines


KEY = ["task", "recipe", "role", "size"]


def _place(row: Any) -> str:
    return row.place if pd.isna(row.claim) else f"{row.place}, claim {row.claim:.0f}"


def _difference(row: Any) -> str:
    if pd.isna(row.difference):
        return ""
    text = f"{row.difference:+.2f}".replace("-0.00", "+0.00")
    return text if pd.isna(row.half_width) else f"{text} ± {row.half_width:.2f}"


def _interval(low: float, high: float) -> str:
    return "" if pd.isna(low) else f"{low:.1f} to {high:.1f}"


def _point(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f}"


def _whole(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.0f}"


def _number(value: float) -> str:
    """Two decimals, none for a whole number."""
    return "" if pd.isna(value) else f"{value:.2f}".removesuffix(".00")


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in [header, ["---"] * len(header), *rows]]
