"""Sentence pairs of the user's own: one delimited file, its splits in a column or drawn here."""

import csv
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pandas as pd

from tmft.datasets.delimited import read_delimited
from tmft.datasets.pairs import SPLITS
from tmft.datasets.text import looks_like
from tmft.runtime.errors import InputError

NEEDED = ("sentence1", "sentence2", "label")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
FEWEST = 2  # pairs of a split: a correlation needs two


def read_own_pairs(path: Path, source: dict[str, Any], label_range: list[float]) -> pd.DataFrame:
    """The table of pairs; the pair_id is split and line, as in ``train-12``, or ``line-12`` where splits are drawn.

    ``source`` is a task's ``csv`` in the configuration: its ``separator`` and ``encoding``; its ``labels``, if they are
    classes; ``shares`` and ``seed`` of the splits, which are drawn where the file has no column split.

    Raises InputError naming file and line: a column that is missing, a split of fewer than two pairs, and what
    ``read_delimited`` refuses.
    """
    encoding = "utf-8-sig" if source["encoding"] == "utf-8" else source["encoding"]  # spreadsheets put a mark first
    columns = _header(path, encoding, source["separator"])
    reading = {"separator": source["separator"], "quoting": "csv", "header": True} | {
        "encoding": encoding,
        "columns": columns,
    }
    reading |= {column: column for column in NEEDED}
    if "labels" in source:
        reading["labels"] = {str(label): number for number, label in enumerate(source["labels"])}
    if "split" in columns:
        reading |= {"split": "split", "splits": {split: split for split in SPLITS}}
    pairs = read_delimited({"line": path}, reading, label_range)
    if "split" not in columns:
        pairs["split"] = draw_splits(pairs, source["shares"], source["seed"])
    sizes = Counter(pairs["split"])
    for split in SPLITS:
        if sizes[split] < FEWEST:
            raise InputError(
                f"{path}: {sizes[split]} of {len(pairs)} pairs are for {split}, which needs {FEWEST}; add pairs, or "
                "give each one its split in a column of this name (drawn splits keep all pairs of a sentence together)"
            )
    return pairs


def _header(path: Path, encoding: str, separator: str) -> list[str]:
    """The names of the columns. Raises InputError where they are not the needed ones, with what the file looks like."""
    content = path.read_bytes()
    lines = content.decode(encoding, errors="replace").splitlines()
    first = next((line for line in lines if line.strip(f" {''.join(SEPARATORS)}")), "")
    columns = {other: next(csv.reader([first], delimiter=other), []) for other in SEPARATORS}
    missing = {other: [column for column in NEEDED if names.count(column) != 1] for other, names in columns.items()}
    if missing[separator]:
        for other, name in SEPARATORS.items():
            if not missing[other]:
                raise InputError(
                    f"{path}: line 1 has {name} between its columns; set `separator: {other!r}` in its csv"
                )
        found = looks_like(content)
        if "\0" in first or "\ufffd" in first:
            raise InputError(
                f"{path}: not {encoding.removesuffix('-sig')}; it looks like {found}: set `encoding: {found}`"
            )
        raise InputError(
            f"{path}: line 1 does not name '{missing[separator][0]}' once; it should name the columns sentence1, "
            f"sentence2, label and, where splits are given, split, with {SEPARATORS[separator]} between them"
        )
    return columns[separator]


def draw_splits(pairs: pd.DataFrame, shares: list[float], seed: int) -> pd.Series:
    """The split of each pair, at random, such that no sentence (case aside) is in two splits.

    Pairs that a chain of shared sentences connects stay together. Such groups are given out from the largest to the
    smallest, each to the split that then lacks most of its share.
    """
    sides = [pairs[side].str.strip().str.casefold() for side in ("sentence1", "sentence2")]
    group_of = {
        sentence: group
        for group, sentences in enumerate(nx.connected_components(nx.Graph(zip(*sides, strict=True))))
        for sentence in sentences
    }
    groups = sides[0].map(group_of)
    sizes = groups.value_counts().to_dict()
    drawn = Random(seed).sample(sorted(sizes), len(sizes))
    room = {split: share / sum(shares) * len(pairs) for split, share in zip(SPLITS, shares, strict=True)}
    split_of = {}
    for group in sorted(drawn, key=sizes.get, reverse=True):
        split_of[group] = max(room, key=room.get)
        room[split_of[group]] -= sizes[group]
    return groups.map(split_of)
