"""The table of sentence pairs: one row per pair; columns pair_id, split, sentence1, sentence2, label (a number)."""

import csv
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.runtime.errors import InputError
from tmft.runtime.files import write_text

SPLITS = ("train", "validation", "test")
FEW_LABELS = 10
DTYPES = {"pair_id": "str", "split": "str", "sentence1": "str", "sentence2": "str", "label": "float64"}


def check(
    table: pd.DataFrame, label_range: tuple[float, float], name: str, expected_rows: dict[str, int] | None = None
) -> None:
    """Refuse a table that cannot be trained and scored on.

    ``name`` is the file or data set named in messages, ``expected_rows`` the rows the source declares for each split.

    Raises InputError naming the pair: missing score, empty sentence, label outside ``label_range``, repeated pair_id,
    a split whose labels are hidden (all -1), another number of rows than declared.
    """
    for split, rows in table.groupby("split"):
        if (rows["label"] == -1).all() and label_range[0] > -1:
            raise InputError(
                f"{name}: all labels of the {split} split are -1, that is hidden; use a source that has them"
            )
    lowest, highest = label_range
    problems = {
        "the score is missing or not a number": table["label"].isna(),
        "sentence1 is empty": table["sentence1"].str.strip() == "",
        "sentence2 is empty": table["sentence2"].str.strip() == "",
        f"the label is outside {lowest:g} to {highest:g}": ~table["label"].between(lowest, highest),
        "the pair_id is used twice": table["pair_id"].duplicated(),
    }
    for problem, rows in problems.items():
        if rows.any():
            raise InputError(f"{name}: pair {table.loc[rows, 'pair_id'].iloc[0]}: {problem}; correct or remove the row")
    found = table["split"].value_counts()
    for split, expected in (expected_rows or {}).items():
        if found.get(split, 0) != expected:
            raise InputError(
                f"{name}: the {split} split has {found.get(split, 0)} rows, its source declares {expected}; "
                "the file is cut short or read with the wrong settings"
            )


def write_pairs(table: pd.DataFrame, path: Path) -> None:
    """Write the table as CSV, all text quoted, so that read_pairs returns it unchanged.

    ``path`` is named as the task. Raises InputError where a split has one label throughout: nothing can be learnt from
    it or scored on it.
    """
    for split, labels in table.groupby("split", sort=False)["label"]:
        if len(labels) > 1 and labels.nunique() == 1:
            raise InputError(
                f"task '{path.stem}': all {len(labels)} labels of the {split} split are {labels.iloc[0]:g}, so that "
                "nothing can be learnt from it or scored on it; add pairs with other labels, or split the pairs anew"
            )
    write_text(path, table[list(DTYPES)].to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))


def read_pairs(path: Path) -> pd.DataFrame:
    """Read what write_pairs wrote; "None", "NA", "null" and the like are text."""
    return pd.read_csv(
        path,
        dtype=DTYPES,
        encoding="utf-8",
        lineterminator="\n",
        keep_default_na=False,
    )


def test_labels(table: pd.DataFrame) -> pd.Series:
    """The labels of the test pairs by pair_id."""
    return table[table["split"] == "test"].set_index("pair_id")["label"]


def sentences_of(tables: Iterable[pd.DataFrame]) -> set[str]:
    """All sentences of tables of pairs."""
    return {sentence for table in tables for side in ("sentence1", "sentence2") for sentence in table[side]}


def report(table: pd.DataFrame) -> dict[str, Any]:
    """What a reader of results should know of the data, as strict JSON.

    For each split its rows, label range and mean, the share of each label (null where a table has more than 10), and
    its repeated pairs: ``ordered`` compares them as they are, ``unordered`` without order and case. ``pairs`` counts
    the distinct pairs that occur more than once, ``extra_rows`` the rows beyond their first occurrence,
    ``conflicting`` those of the pairs that have several labels.
    For each two splits the distinct pairs (without order and case) and sentences (without case) they share.
    """
    ordered = pd.Series(list(zip(table["sentence1"], table["sentence2"], strict=True)), index=table.index)
    unordered = ordered.map(lambda pair: tuple(sorted(sentence.casefold() for sentence in pair)))
    splits = [split for split in SPLITS if (table["split"] == split).any()]
    rows = {split: table["split"] == split for split in splits}
    pairs = {split: set(unordered[rows[split]]) for split in splits}
    few = table["label"].nunique() <= FEW_LABELS
    sentences = {split: {sentence for pair in pairs[split] for sentence in pair} for split in splits}
    return {
        "splits": {
            split: {
                "rows": int(rows[split].sum()),
                "label": table.loc[rows[split], "label"].agg(["min", "max", "mean"]).to_dict(),
                "shares": _shares(table.loc[rows[split], "label"]) if few else None,
                "repeated": {
                    "ordered": _repeated(ordered[rows[split]], table["label"]),
                    "unordered": _repeated(unordered[rows[split]], table["label"]),
                },
            }
            for split in splits
        },
        "shared": {
            f"{one} and {other}": {
                "pairs": len(pairs[one] & pairs[other]),
                "sentences": len(sentences[one] & sentences[other]),
            }
            for one, other in combinations(splits, 2)
        },
    }


def _shares(labels: pd.Series) -> dict[str, float]:
    shares = labels.value_counts(normalize=True, sort=False).sort_index()
    return {f"{label:g}": float(share) for label, share in shares.items()}


def _repeated(pairs: pd.Series, labels: pd.Series) -> dict[str, int]:
    groups = labels.loc[pairs.index].groupby(pairs)
    repeated = groups.size() > 1
    return {
        "pairs": int(repeated.sum()),
        "extra_rows": int((groups.size() - 1).sum()),
        "conflicting": int((groups.nunique() > 1).sum()),
    }
