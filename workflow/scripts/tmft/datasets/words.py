"""Word pairs: several lists of similarity judgements, merged and split at random."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tmft.datasets.delimited import read_pairs_of
from tmft.datasets.pairs import DTYPES


def read_lists(files: dict[str, Path], lists: dict[str, Any]) -> pd.DataFrame:
    """All rows of all lists, in order: columns pair_id (list and line, as in ``rg65-2``), list, sentence1, sentence2
    and label, which is the judgement divided by the list's maximum.

    ``lists`` declares for each its maximum and its reading (as in ``read_delimited``, which names the InputErrors).
    Labels and words are not checked.
    """
    tables = []
    for name, path in files.items():
        table = read_pairs_of(path, lists[name]["reading"], name)
        tables.append(table.assign(label=table["label"] / lists[name]["maximum"]))
    return pd.concat(tables, ignore_index=True).rename(columns={"split": "list"})


def merge(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The table of pairs: each unordered pair once, as it came first, in splits drawn 70:15:15.

    A row without any content goes into the draw and is dropped after it: the authors' code keeps the one that a list
    has, so every other pair falls into the split it has there.
    """
    distinct = rows[~_unordered(rows).duplicated()]
    splits = draw_splits(len(distinct), seed)
    pairs = pd.concat([distinct.iloc[places].assign(split=split) for split, places in splits.items()])
    return pairs.loc[~_empty(pairs), list(DTYPES)].reset_index(drop=True)


def draw_splits(rows: int, seed: int) -> dict[str, np.ndarray]:
    """The places of each split's rows, in the order drawn: 70 % for training, and half of the others each.

    The same draw as two calls of scikit-learn's ``train_test_split`` after ``numpy.random.seed``, as the authors' code
    has them: first 0.7 and 0.3, then halves.
    """
    random = np.random.RandomState(seed)
    train = 7 * rows // 10
    validation = (rows - train) // 2
    test = rows - train - validation
    order = random.permutation(rows)
    held_out = order[: validation + test][random.permutation(validation + test)]
    return {"train": order[validation + test :], "validation": held_out[test:], "test": held_out[:test]}


def report(rows: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, Any]:
    """For each list its rows, those of them without content and the pairs kept of it; for each two lists the distinct
    pairs, without order, that both have. ``rows`` is what was merged, ``pairs`` what came of it."""
    kept = rows["pair_id"].isin(pairs["pair_id"])
    contents = {name: set(_unordered(own[~_empty(own)])) for name, own in rows.groupby("list", sort=False)}
    return {
        "lists": {
            name: {"rows": len(own), "empty": int(_empty(own).sum()), "kept": int(kept[own.index].sum())}
            for name, own in rows.groupby("list", sort=False)
        },
        "shared": {
            f"{one} and {other}": len(contents[one] & contents[other]) for one, other in combinations(contents, 2)
        },
    }


def _unordered(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(map(tuple, map(sorted, zip(rows["sentence1"], rows["sentence2"], strict=True))), index=rows.index)


def _empty(rows: pd.DataFrame) -> pd.Series:
    return (rows["sentence1"] == "") & (rows["sentence2"] == "") & rows["label"].isna()
