"""Text for pre-training: the sentences of SNLI and MultiNLI, from files or from the hub, and what a corpus holds."""

import re
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from tmft.datasets.corpora import distinct, file_sentences, hub_sentences, report
from tmft.datasets.pairs import DTYPES
from tmft.runtime.errors import InputError

QUOTED = {
    "separator": "\t",
    "quoting": "csv",
    "header": True,
    "encoding": "utf-8",
    "columns": ["premise", "hypothesis", "label"],
    "sentence1": "premise",
    "sentence2": "hypothesis",
}
PLAIN = {**QUOTED, "quoting": "none", "columns": ["index", "premise", "hypothesis", "gold_label", "correct"]}


def test_sentences_of_quoted_and_plain_files(tmp_path: Path) -> None:
    quoted, plain = tmp_path / "quoted.tsv", tmp_path / "plain.txt"
    quoted.write_text('premise\thypothesis\tlabel\n"A man says ""no"" ."\tA man speaks.\t0\n')
    plain.write_text(
        "index\tpremise\thypothesis\tgold_label\tcorrect\n"
        '0\t"Unbalanced, he said\t uh\xadhuh\xa0yes  \tneutral\t97\n5\tA &amp; B\tA man speaks.\tentailment\t3\n'
    )
    found = distinct(chain(file_sentences(quoted, QUOTED), file_sentences(plain, PLAIN)))
    assert found == ['A man says "no" .', "A man speaks.", '"Unbalanced, he said', "uh\xadhuh\xa0yes", "A &amp; B"]


def test_a_sentence_is_one_line_and_there_once() -> None:
    assert distinct(["two", " one\nline ", "", "  ", "two ", "Two", "one\r\nline"]) == ["two", "one line", "Two"]


def hub(folder: Path, splits: dict[str, list[tuple[str, str, int]]]) -> dict[str, Any]:
    """A local folder of parquet files, laid out as a hub data set is, and its declaration."""
    (folder / "data").mkdir(parents=True)
    for split, rows in splits.items():
        table = pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])
        table.assign(genre="fiction").to_parquet(folder / "data" / f"{split}-00000-of-00001.parquet")
    (folder / "script.py").write_text("raise SystemExit('code of the repository ran')\n")
    return {
        "repository": str(folder),
        "revision": "0" * 40,
        "rows": {split: len(rows) for split, rows in splits.items()},
        "sentence1": "premise",
        "sentence2": "hypothesis",
        "label": "label",
    }


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    splits = {
        "train": [("One.", "Two. ", 0), ("One.", "unlabelled", -1), ("NA", "None", 1)],
        "validation_matched": [("Three.", "One.", 2)],
        "validation_mismatched": [("Four.", "null", 0)],
    }
    return hub(tmp_path / "hub", splits)


def test_hub_gives_both_sentences_of_labelled_rows_of_all_splits(collection: dict[str, Any]) -> None:
    assert distinct(hub_sentences(collection)) == ["One.", "Two.", "NA", "None", "Three.", "Four.", "null"]


def test_other_rows_than_declared_are_refused(collection: dict[str, Any]) -> None:
    collection["rows"] = collection["rows"] | {"train": 4}
    with pytest.raises(InputError, match=re.escape(f"{collection['repository']}: has rows")) as failure:
        list(hub_sentences(collection))
    assert "\n" not in str(failure.value)


def test_hub_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, collection: dict[str, Any]) -> None:
    def unreachable(*_: Any, **__: Any) -> None:
        raise ConnectionError("Couldn't reach it\non the hub")

    monkeypatch.setattr("tmft.datasets.corpora.load_dataset", unreachable)
    with pytest.raises(InputError) as failure:
        list(hub_sentences(collection))
    message = str(failure.value)
    assert collection["repository"] in message and "0" * 40 in message and "network" in message and "\n" not in message


def table(*rows: tuple[str, str, str]) -> pd.DataFrame:
    values = [(f"p{place}", *row, 1.0) for place, row in enumerate(rows)]
    return pd.DataFrame(values, columns=list(DTYPES)).astype(DTYPES)


def test_planted_test_sentences_are_found() -> None:
    toy = table(("train", "One.", "Two."), ("test", "Three.", "One."), ("test", "Three.", "three."))
    other = table(("test", "Four.", "Five."))
    found = report(["THREE.\n", "Six.\n", "six. \n"], {"toy": toy, "other": other})
    assert found == {
        "sentences": 2,
        "tasks": {
            "toy": {"train": {"sentences": 2, "found": 0}, "test": {"sentences": 2, "found": 1}},
            "other": {"test": {"sentences": 2, "found": 0}},
        },
    }


def test_real_sentences(root: Path, real_data: Path) -> None:
    source = yaml.safe_load((root / "workflow/sources.yaml").read_text(encoding="utf-8"))["nli-evaluation"]
    files = source["files"].values()
    rows = [list(file_sentences(real_data / file["name"], file["reading"])) for file in files]
    assert [len(found) for found in rows] == [2 * 9842, 2 * 9824, 2 * 9815]
    assert len(set(rows[0] + rows[1])) == 25743
    assert len(distinct(rows[2])) == 13142
    assert len(distinct(chain.from_iterable(rows))) == 38884
