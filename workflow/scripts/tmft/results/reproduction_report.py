"""The reproduction report as Markdown."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.results.published import read_published
from tmft.results.reproduction import VERDICTS, Ours, compare, compare_curves
from tmft.results.scores import TIDY, Scores, tidy, tidy_similarities
from tmft.results.tables import tabulate_records, version_note
from tmft.runtime.files import read_json, write_csv, write_text
from tmft.training.records import read_all


def read_theirs(published: Sequence[Path], paper: dict[str, Any]) -> Scores:
    """The authors' published runs; none where there are no files of them."""
    return read_published(published, paper) if published else Scores(pd.DataFrame(columns=TIDY))


def read_ours(
    results: Sequence[Path],
    similarities: Sequence[Path],
    costs: Sequence[Path],
    known: dict[str, Any],
    compared: Sequence[tuple[str, str, str]],
) -> tuple[Ours, str]:
    """What was run here, and a note on its versions.

    ``known`` is what of the experiment is comparable (``tmft.experiment.reproduced``); ``compared`` has encoder, task
    and state of each file of ``similarities``.
    """
    runs = tabulate_records(read_all(results))
    layers = [read_json(path)["layers"] for path in similarities]
    cka = [(known["encoders"][key], *rest, own) for (key, *rest), own in zip(compared, layers, strict=True)]
    scores = Scores(pd.concat([tidy(runs, known["encoders"], known["tasks"]), tidy_similarities(cka)]))
    summed = pd.read_csv(costs[0]) if costs else None
    return Ours(scores, known["foreign"], known["comparable"], summed), version_note(runs)


def write_report(paper: dict[str, Any], ours: tuple[Ours, str] | None, theirs: Scores, output: Any) -> None:
    """Write the report and its tables to a rule's ``output``; of the published runs alone where ``ours`` is None."""
    if ours is None:
        note = "*Ours* are the authors' own published runs; *means only* are their notebook's (docs/reproduction.md)."
        found, scores = Ours(theirs, notebook=paper["notebook"]), Scores(pd.DataFrame(columns=TIDY))
    else:
        found, note = ours
        scores = found.scores
    entries, behind = compare(paper, found)
    beside = compare_curves(scores, theirs)
    for name, table in (("entries", entries), ("contrasts", behind), ("curves", beside)):
        write_csv(output[name], table)
    drawing = output.curves.with_suffix(".png").name
    write_text(output.markdown, to_markdown(entries, behind, beside, drawing, note))


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
