"""Tables as pages, and the data of all tasks in one."""

import re

import pandas as pd

from tmft.datasets.overview import overview
from tmft.datasets.pairs import report
from tmft.figures.pages import page, sortable_table


def test_cells_are_legible():
    table = pd.DataFrame({"a_b": ["<x>", None], "whole": [3.0, None], "part": [0.126, 2.0], "empty": [None, None]})
    cells = re.findall(r"<t[hd]>(.*)</t[hd]>", page("A & B", sortable_table(table)))
    assert cells == ["a b", "whole", "part", "empty", "&lt;x&gt;", "3", "0.13", "", "", "", "2.00", ""]


def test_overview_counts_repeated_and_shared_pairs():
    rows = [
        ("train", "one", "two", 1.0),
        ("train", "Two", "one", 3.0),
        ("train", "three", "four", 5.0),
        ("test", "two", "one", 2.0),
        ("test", "four", "five", 4.0),
    ]
    pairs = pd.DataFrame(rows, columns=["split", "sentence1", "sentence2", "label"])
    table = overview({"task": report(pairs)}).set_index("split")
    train, test = table.loc["train"], table.loc["test"]
    assert train[["pairs", "lowest", "highest", "mean", "repeated", "conflicting"]].tolist() == [3, 1, 5, 3, 1, 1]
    assert pd.isna(train["pairs in train"])
    assert test[["pairs", "repeated", "pairs in train", "sentences in train"]].tolist() == [2, 0, 1, 3]
