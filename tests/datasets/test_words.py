"""Word similarity: lists merged, each pair once, in the split that the authors' draw gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.model_selection import train_test_split

from tmft.datasets.pairs import DTYPES, check
from tmft.datasets.words import draw_splits, merge, read_lists, report
from tmft.runtime.errors import InputError

COMMA = {
    "separator": ",",
    "quoting": "csv",
    "header": True,
    "encoding": "utf-8",
    "columns": ["", "word1", "word2", "similarity"],
    "sentence1": "word1",
    "sentence2": "word2",
    "label": "similarity",
}
TAB = {**COMMA, "separator": "\t", "quoting": "none", "columns": ["word1", "word2", "POS", "similarity"]}
LISTS = {
    "small": {"maximum": 4, "reading": COMMA},
    "nouns": {"maximum": 10, "reading": TAB},
    "verbs": {"maximum": 10, "reading": {**TAB, "header": False}},
    "wide": {"maximum": 10, "reading": COMMA},
}
CONTENTS = {
    "small": ",word1,word2,similarity\n0,gem,jewel,3.94\n1,cord,smile,0.02\n",
    "nouns": "word1\tword2\tPOS\tsimilarity\r\nnull\tNA\tN\t1.58\r\n"
    "jewel\tgem\tN\t9\r\ncow\tox\tN\t5\r\nox\tcow\tN\t6\r\n",
    "verbs": "take\tremove\tV\t6.81\nwalk\ttrail\tV\t9.96\n",
    "wide": ",word1,word2,similarity\n0,Jewel,gem,8.0\n1,tiger,tiger,10.0\n2,,,\n",
}


def read(tmp_path: Path, **contents: str) -> pd.DataFrame:
    files = {name: tmp_path / name for name in LISTS}
    for name, path in files.items():
        path.write_bytes((CONTENTS | contents)[name].encode())
    return read_lists(files, LISTS)


def by_pair(pairs: pd.DataFrame) -> dict[tuple[str, str], float]:
    return dict(zip(zip(pairs["sentence1"], pairs["sentence2"], strict=True), pairs["label"], strict=True))


def test_lists_are_scaled_joined_and_each_pair_kept_once(tmp_path: Path) -> None:
    pairs = merge(read(tmp_path), seed=0)
    assert by_pair(pairs) == {
        ("gem", "jewel"): 3.94 / 4,
        ("cord", "smile"): 0.02 / 4,
        ("null", "NA"): 1.58 / 10,
        ("cow", "ox"): 0.5,
        ("take", "remove"): 6.81 / 10,
        ("walk", "trail"): 9.96 / 10,
        ("Jewel", "gem"): 0.8,
        ("tiger", "tiger"): 1.0,
    }
    assert dict(pairs.dtypes.astype(str)) == DTYPES
    assert {"small-2", "nouns-2", "verbs-1", "wide-3"} <= set(pairs["pair_id"])
    check(pairs, (0, 1), "toy")


def test_only_a_row_without_any_content_is_dropped(tmp_path: Path) -> None:
    rows = ",word1,word2,similarity\n0,one,two,\n"
    with pytest.raises(InputError, match="pair wide-2: the score is missing"):
        check(merge(read(tmp_path, wide=rows), seed=0), (0, 1), "toy")


def test_score_above_the_maximum_of_its_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pair verbs-1: the label is outside 0 to 1"):
        check(merge(read(tmp_path, verbs="take\tremove\tV\t10.1\n"), seed=0), (0, 1), "toy")


def test_report_counts_lists_and_what_they_share(tmp_path: Path) -> None:
    rows = read(tmp_path)
    found = report(rows, merge(rows, seed=0))
    assert found["lists"] == {
        "small": {"rows": 2, "empty": 0, "kept": 2},
        "nouns": {"rows": 4, "empty": 0, "kept": 2},
        "verbs": {"rows": 2, "empty": 0, "kept": 2},
        "wide": {"rows": 3, "empty": 1, "kept": 2},
    }
    assert found["shared"] == {
        "small and nouns": 1,
        "small and verbs": 0,
        "small and wide": 0,
        "nouns and verbs": 0,
        "nouns and wide": 0,
        "verbs and wide": 0,
    }


def authors_split(rows: Any, seed: int) -> dict[str, list]:
    """The split as scikit-learn draws it from numpy's global state."""
    np.random.seed(seed)
    train, held_out = train_test_split(rows, train_size=0.7, test_size=0.3)
    validation, test = train_test_split(held_out, train_size=0.5, test_size=0.5)
    return {"train": list(train), "validation": list(validation), "test": list(test)}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("rows", [7, 10, 100, 101, 4563])
def test_split_is_that_of_scikit_learn(rows: int, seed: int) -> None:
    ours = {split: list(places) for split, places in draw_splits(rows, seed).items()}
    assert ours == authors_split(np.arange(rows), seed)


# --- real files


@pytest.fixture(scope="module")
def sources(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "workflow/sources.yaml").read_text(encoding="utf-8"))


def real(source: dict[str, Any], folder: Path) -> pd.DataFrame:
    return read_lists({name: folder / file["name"] for name, file in source["lists"].items()}, source["lists"])


def test_real_lists(sources: dict[str, Any], real_data: Path) -> None:
    source = sources["word-similarity"]
    rows = real(source, real_data)
    pairs = merge(rows, source["seed"])
    check(pairs, source["label_range"], "word-similarity", source["rows"])
    assert pairs["split"].value_counts().to_dict() == {"train": 3194, "validation": 684, "test": 684}
    found = report(rows, pairs)
    kept = {name: counts["kept"] for name, counts in found["lists"].items()}
    assert kept == {"rg65": 65, "simlex999": 997, "simverb3500": 3329, "wordsim353_similarity": 171}
    assert found["lists"]["wordsim353_similarity"] == {"rows": 204, "empty": 1, "kept": 171}
    assert by_pair(pairs)["old", "new"] == 1.58 / 10
    assert by_pair(pairs)["tiger", "tiger"] == 1.0


def test_every_real_pair_is_in_the_split_where_the_authors_have_it(sources: dict[str, Any], real_data: Path) -> None:
    folder = real_data / "wordsim"
    words = ["word1", "word2"]
    joined = pd.concat(
        [
            pd.read_csv(folder / "rg-65.csv")[words],
            pd.read_csv(folder / "SimLex-999.txt", sep="\t")[words],
            pd.read_csv(folder / "SimVerb-3500.txt", sep="\t", names=[*words, "POS", "score", "relation"])[words],
            pd.read_csv(folder / "wordsim353-sim.csv")[words],
        ]
    ).to_numpy()
    distinct: dict[frozenset, tuple] = {}
    for pair in joined:
        distinct.setdefault(frozenset(pair), tuple(pair))
    assert (len(joined), len(distinct)) == (4768, 4563)
    theirs = authors_split(list(distinct.values()), seed=0)
    pairs = merge(real(sources["word-similarity"], real_data), seed=0)
    for split in theirs:
        ours = pairs[pairs["split"] == split]
        complete = [pair for pair in theirs[split] if not pd.isna(pair[0])]
        assert list(zip(ours["sentence1"], ours["sentence2"], strict=True)) == complete
    assert [len(theirs[split]) for split in ("train", "validation", "test")] == [3194, 684, 685]


def test_real_lists_with_all_of_wordsim353(sources: dict[str, Any], real_data: Path) -> None:
    source = sources["word-similarity-full"]
    rows = real(source, real_data)
    pairs = merge(rows, source["seed"])
    check(pairs, source["label_range"], "word-similarity-full", source["rows"])
    found = report(rows, pairs)["lists"]["wordsim353"]
    assert (found["rows"], found["empty"]) == (353, 0)
    assert by_pair(pairs)["money", "cash"] == 0.915
