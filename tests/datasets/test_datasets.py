"""The table of sentence pairs: reading, refusing, writing, reporting. Real files are used where they are at hand."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_runs import ROOT

from tmft.datasets.delimited import read_delimited
from tmft.datasets.downloads import fetch
from tmft.datasets.pairs import DTYPES, check, read_pairs, report, write_pairs
from tmft.runtime.errors import InputError

DATA = Path(os.environ.get("TMFT_TEST_DATA", ROOT.parent / "shared" / "data"))
SOURCES = yaml.safe_load((ROOT / "workflow" / "sources.yaml").read_text(encoding="utf-8"))

COMMA = {
    "separator": ",",
    "quoting": "csv",
    "header": False,
    "encoding": "utf-8",
    "columns": ["sentence1", "sentence2", "score"],
    "sentence1": "sentence1",
    "sentence2": "sentence2",
    "label": "score",
}
TAB = {
    **COMMA,
    "separator": "\t",
    "quoting": "none",
    "header": True,
    "columns": ["genre", "score", "left", "right"],
    "sentence1": "left",
    "sentence2": "right",
}
SICK = {
    **TAB,
    "columns": ["id", "A", "B", "relatedness", "AB", "A_original", "set"],
    "sentence1": "A",
    "sentence2": "B",
    "strip": True,
    "label": "AB",
    "labels": {"A_entails_B": 0, "A_neutral_B": 1, "A_contradicts_B": 2},
    "split": "set",
    "splits": {"TRAIN": "train", "TRIAL": "validation", "TEST": "test"},
}
SICK_LINES = [
    "id\tA\tB\trelatedness\tAB\tA_original\tset",
    '1\tA dog runs \tA dog moves\t4.5\tA_entails_B\tA "dog" runs\tTRAIN',
    '2\tA dog runs\tNo dog runs  \t3.9\tA_contradicts_B\tA 6" dog\tTEST',
    "3\tA dog runs\tA man sings\t1\tA_neutral_B\t\tTRIAL",
]
HEADER = "genre\tscore\tleft\tright\n"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data files in {DATA}")


def pairs(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    """A table of (split, sentence1, sentence2, label) rows with ids p0, p1, ..."""
    return pd.DataFrame([(f"p{row}", *values) for row, values in enumerate(rows)], columns=list(DTYPES)).astype(DTYPES)


def read(tmp_path: Path, content: str | bytes, reading: dict[str, Any]) -> pd.DataFrame:
    file = tmp_path / "toy.txt"
    file.write_bytes(content.encode(reading["encoding"]) if isinstance(content, str) else content)
    return read_delimited({"train": file}, reading, (0, 5))


def sentences(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["sentence1"], table["sentence2"], strict=True))


# --- the reader on lines shaped like those of real files


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path: Path, end: str, last: bool) -> None:
    table = read(tmp_path, end.join(["one,two,1.5", "three,four,5"]) + (end if last else ""), COMMA)
    assert sentences(table) == [("one", "two"), ("three", "four")]
    assert list(table["label"]) == [1.5, 5.0]
    assert list(table["pair_id"]) == ["train-1", "train-2"]
    assert dict(table.dtypes.astype(str)) == DTYPES


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"a cat, a dog",two,1', ("a cat, a dog", "two")),
        ('"she said ""no"" twice",two,1', ('she said "no" twice', "two")),
        ("6\" of snow,it's deep,1", ('6" of snow', "it's deep")),
        ('"one\r\nor two",two,1', ("one\r\nor two", "two")),
        ("one\u0012,soft\u00adhyphen,1", ("one\u0012", "soft\u00adhyphen")),
        ("None,NA,1", ("None", "NA")),
        ("null,nan,1", ("null", "nan")),
        ("one\ttab,#N/A,1", ("one\ttab", "#N/A")),
        (" outer space ,two\u00a0,1", (" outer space ", "two\u00a0")),
        ("line\u2028separator,next\u0085line,1", ("line\u2028separator", "next\u0085line")),
    ],
)
def test_quoted_text(tmp_path: Path, line: str, expected: tuple[str, str]) -> None:
    assert sentences(read(tmp_path, f"{line}\nx,y,2\n", COMMA)) == [expected, ("x", "y")]


@pytest.mark.parametrize("text", ['"unbalanced', '""', 'so "quoted', "a, b", "NA", "\u0012", "\\'"])
def test_quotes_are_text_when_quoting_is_off(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, f"{HEADER}news\t2.5\t{text}\ttwo\nnews\t3\tx\ty", TAB)
    assert sentences(table) == [(text, "two"), ("x", "y")]
    assert list(table["pair_id"]) == ["train-2", "train-3"]


def test_strip_and_encoding_are_as_declared(tmp_path: Path) -> None:
    reading = {**TAB, "strip": True, "encoding": "utf-8-sig"}
    assert sentences(read(tmp_path, f"{HEADER}news\t1\t one \ttwo\u00a0\n", reading)) == [("one", "two")]


@pytest.mark.parametrize(
    ("content", "reading", "complaint"),
    [
        ("one,two,1\none,two\n", COMMA, "line 2 has 2 fields instead of 3"),
        ("one,two,1\none,two,1,x\n", COMMA, "line 2 has 4 fields"),
        ('one,two,1\n"one\nx",two,1\none,"two,3\n', COMMA, "line 4: unexpected end of data"),
        ('one,two,1\n"one"x,two,1\n', COMMA, "line 2: "),
        ("one,two,1\rthree,four,2\r", COMMA, "line 1: "),
        (b"one,two,1\none,\xff,2\n", COMMA, "line 2 is not utf-8"),
        ("news\t1\tone\ttwo\n", TAB, "line 1 is"),
        ("one,two,1\none,two,\n", COMMA, "train-2: the score is missing"),
        ("one,two,1\none,two,high\n", COMMA, "train-2: the score is missing or not a number"),
        ("one,two,nan\n", COMMA, "train-1: the score is missing"),
        ("one,two,inf\n", COMMA, "train-1: the label is outside 0 to 5"),
        (",two,1\n", COMMA, "train-1: sentence1 is empty"),
        ("one, ,1\n", COMMA, "train-1: sentence2 is empty"),
        ("one,two,1\none,two,7\n", COMMA, "train-2: the label is outside 0 to 5"),
        ("one,two,-1\none,three,-1\n", COMMA, "all labels of the train split are -1"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, content: str | bytes, reading: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as failure:
        read(tmp_path, content, reading)
    message = str(failure.value)
    assert str(tmp_path / "toy.txt") in message
    assert complaint in message
    assert "\n" not in message


def test_labels_and_splits_in_words(tmp_path: Path) -> None:
    table = read(tmp_path, "\r\n".join(SICK_LINES), SICK)
    assert list(table["pair_id"]) == ["train-2", "test-3", "validation-4"]
    assert list(table["split"]) == ["train", "test", "validation"]
    assert list(table["label"]) == [0.0, 2.0, 1.0]
    assert sentences(table)[:2] == [("A dog runs", "A dog moves"), ("A dog runs", "No dog runs")]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("A_neutral_B", "NEUTRAL", "line 4: AB is 'NEUTRAL' and not one of A_entails_B, A_neutral_B, A_contradicts_B"),
        ("TRIAL", "DEV", "line 4: set is 'DEV' and not one of TRAIN, TRIAL, TEST"),
        ("TRAIN", "", "line 2: set is ''"),
    ],
)
def test_undeclared_labels_and_splits_are_named(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(InputError) as failure:
        read(tmp_path, "\r\n".join(SICK_LINES).replace(old, new), SICK)
    assert str(tmp_path / "toy.txt") in str(failure.value) and complaint in str(failure.value)


def test_quoted_tabs_and_gaps_in_an_index(tmp_path: Path) -> None:
    reading = {**COMMA, "separator": "\t", "header": True, "columns": ["index", "score", "sentence1", "sentence2"]}
    lines = ["index\tscore\tsentence1\tsentence2", '0\t1\t"He said "" no "" ."\tNo .', "7\t0\tone\u0012\ttwo"]
    table = read(tmp_path, "\n".join(lines) + "\n", reading)
    assert sentences(table) == [('He said " no " .', "No ."), ("one\u0012", "two")]
    assert list(table["pair_id"]) == ["train-2", "train-3"]


# --- the table


def test_check_accepts_and_counts() -> None:
    table = pairs(("train", "None", "NA", 0), ("train", '"', "a\tb", 5), ("test", "x", "y", 2.5))
    check(table, (0, 5), "toy", {"train": 2, "test": 1})
    with pytest.raises(InputError, match="toy: the train split has 2 rows, its source declares 3"):
        check(table, (0, 5), "toy", {"train": 3, "test": 1})
    with pytest.raises(InputError, match="validation split has 0 rows"):
        check(table, (0, 5), "toy", {"validation": 1})


def test_check_finds_hidden_labels_in_one_split() -> None:
    table = pairs(("train", "a", "b", 3), ("test", "c", "d", -1), ("test", "e", "f", -1))
    with pytest.raises(InputError, match="labels of the test split are -1"):
        check(table, (0, 5), "toy")
    check(table, (-1, 5), "toy")


def test_check_finds_repeated_ids() -> None:
    table = pairs(("train", "a", "b", 3), ("test", "c", "d", 1))
    table["pair_id"] = "p0"
    with pytest.raises(InputError, match="pair p0: the pair_id is used twice"):
        check(table, (0, 5), "toy")


texts = st.text(st.characters(codec="utf-8"))
labels = st.floats(allow_nan=False, allow_infinity=False)
splits = st.lists(st.sampled_from(["train", "validation", "test"]), min_size=1, max_size=3, unique=True)


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, str, str, str, float]]:
    """Rows of some splits, each with at least two labels: fewer are refused."""
    return [
        (draw(texts), split, draw(texts), draw(texts), label)
        for split in draw(splits)
        for label in draw(st.lists(labels, min_size=2, max_size=3, unique=True))
    ]


@settings(deadline=None)
@given(rows())
def test_table_survives_csv(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[str, str, str, str, float]]
) -> None:
    table = pd.DataFrame(values, columns=list(DTYPES)).astype(DTYPES)
    file = tmp_path_factory.getbasetemp() / "pairs.csv"
    write_pairs(table, file)
    pd.testing.assert_frame_equal(read_pairs(file), table, check_exact=True)


@pytest.mark.parametrize(
    "text",
    ["None", "NA", "null", "", "\r", "a\rb", "\r\n", "\n", '"', '""', "\t", "\x00", "\x12", "\ufeff", "1", "1e3"],
)
def test_odd_text_survives_csv(tmp_path: Path, text: str) -> None:
    table = pairs(("train", text, f"{text}x", 0.1 + 0.2))
    write_pairs(table, tmp_path / "pairs.csv")
    pd.testing.assert_frame_equal(read_pairs(tmp_path / "pairs.csv"), table, check_exact=True)


# --- the report


def test_report_counts_repeats_and_overlaps() -> None:
    table = pairs(
        ("train", "A cat", "A dog", 3),
        ("train", "A cat", "A dog", 3),
        ("train", "a dog", "a cat", 4),
        ("train", "B", "C", 1),
        ("validation", "A DOG", "a cat", 3),
        ("test", "c", "b", 1),
        ("test", "D", "A cat", 0),
    )
    found = report(table)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    train = found["splits"]["train"]
    assert train["rows"] == 4
    assert train["label"] == {"min": 1.0, "max": 4.0, "mean": 2.75}
    assert train["repeated"]["ordered"] == {"pairs": 1, "extra_rows": 1, "conflicting": 0}
    assert train["repeated"]["unordered"] == {"pairs": 1, "extra_rows": 2, "conflicting": 1}
    assert found["splits"]["test"]["repeated"]["unordered"] == {"pairs": 0, "extra_rows": 0, "conflicting": 0}
    assert found["shared"] == {
        "train and validation": {"pairs": 1, "sentences": 2},
        "train and test": {"pairs": 1, "sentences": 3},
        "validation and test": {"pairs": 0, "sentences": 1},
    }


def test_report_gives_shares_of_few_labels_only() -> None:
    table = pairs(("train", "a", "b", 1), ("train", "c", "d", 0), ("train", "e", "f", 1), ("test", "g", "h", 0))
    found = report(table)["splits"]
    assert found["train"]["shares"] == {"0": pytest.approx(1 / 3), "1": pytest.approx(2 / 3)}
    assert found["test"]["shares"] == {"0": 1.0}
    scores = pairs(*(("train", "a", f"b{score}", score / 4) for score in range(11)))
    assert report(scores)["splits"]["train"]["shares"] is None


@given(
    st.lists(
        st.tuples(st.sampled_from(["train", "test"]), st.sampled_from("abAB"), st.sampled_from("abAB"), st.just(1.0)),
        min_size=1,
    )
)
def test_report_ignores_order_and_case(values: list[tuple[str, str, str, float]]) -> None:
    turned = [(split, two.swapcase(), one.swapcase(), label) for split, one, two, label in values]
    assert report(pairs(*turned)) == report(pairs(*values))


# --- real files


def real(tmp_path: Path, name: str) -> pd.DataFrame:
    source = SOURCES[name]
    files = {split: tmp_path / Path(file["name"]).name for split, file in source["files"].items()}
    for split, file in source["files"].items():
        fetch(file["url"], file["sha256"], files[split], file["name"], str(DATA))
    table = read_delimited(files, source["reading"], source["label_range"])
    check(table, source["label_range"], name, source["rows"])
    return table


@needs_data
@pytest.mark.parametrize(
    ("name", "repeated", "shared"),
    [
        ("stsb-en", [(39, 43, 4), (2, 2, 0), (1, 1, 0)], [7, 12, 3]),
        ("stsb-de", [(48, 52, 11), (3, 3, 1), (3, 3, 1)], [14, 16, 7]),
        ("stsb-es", [(42, 46, 7), (2, 2, 0), (3, 3, 0)], [10, 14, 7]),
        ("stsb-ko", [(45, 49, 9), (3, 3, 1), (2, 2, 1)], [3, 2, 6]),
    ],
)
def test_real_sts(tmp_path: Path, name: str, repeated: list[tuple[int, int, int]], shared: list[int]) -> None:
    table = real(tmp_path, name)
    found = report(table)
    assert [split["rows"] for split in found["splits"].values()] == [5749, 1500, 1379]
    assert [tuple(split["repeated"]["ordered"].values()) for split in found["splits"].values()] == repeated
    assert [overlap["pairs"] for overlap in found["shared"].values()] == shared
    write_pairs(table, tmp_path / "pairs.csv")
    pd.testing.assert_frame_equal(read_pairs(tmp_path / "pairs.csv"), table, check_exact=True)


@needs_data
def test_korean_scores_are_those_of_english(tmp_path: Path) -> None:
    english, korean = real(tmp_path, "stsb-en"), real(tmp_path, "stsb-ko")
    assert list(korean["split"]) == list(english["split"])
    assert list(korean["label"]) == list(english["label"])
    assert report(english)["shared"]["train and test"]["sentences"] == 257


@needs_data
def test_real_mrpc(tmp_path: Path) -> None:
    table = real(tmp_path, "mrpc")
    counts = table.groupby(["split", "label"]).size()
    assert [counts[split, 1.0] for split in ("train", "validation", "test")] == [2474, 279, 1147]
    assert [counts[split, 0.0] for split in ("train", "validation", "test")] == [1194, 129, 578]
    assert report(table)["splits"]["test"]["shares"]["1"] == pytest.approx(1147 / 1725)
    text = pd.concat([table["sentence1"], table["sentence2"]])
    assert not text.str.contains('""', regex=False).any() and text.str.contains('"', regex=False).any()


@needs_data
def test_real_sick(tmp_path: Path) -> None:
    table = real(tmp_path, "sick")
    counts = table.groupby(["split", "label"]).size().unstack()
    assert counts.loc["train"].tolist() == [1274, 2381, 784]
    assert counts.loc["validation"].tolist() == [143, 266, 86]
    assert counts.loc["test"].tolist() == [1404, 2621, 881]
    lines = (DATA / "sick" / "SICK.txt").read_text(encoding="utf-8").splitlines()[1:]
    fields = [line.split("\t") for line in lines]
    assert sentences(table) == [(row[1].strip(), row[2].strip()) for row in fields]
    unordered = pd.Series([frozenset(pair) for pair in sentences(table)])
    assert unordered.duplicated().sum() == 64


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("label", [0.0, 1.0, 2.5])
def test_a_split_with_one_label_throughout_is_refused_before_any_training(tmp_path, split, label):
    """So are tasks of two classes without a positive pair in a split."""
    splits = ["train", "validation", "test"] * 4
    rows = [
        (f"p{n}", own, f"a{n}", f"b{n}", label if own == split else float(n % 2 + n // 6))
        for n, own in enumerate(splits)
    ]
    table = pd.DataFrame(rows, columns=list(DTYPES)).astype(DTYPES)
    with pytest.raises(InputError, match=rf"task 'mine': all 4 labels of the {split} split are {label:g}"):
        write_pairs(table, tmp_path / "mine.csv")
    assert not (tmp_path / "mine.csv").exists()
