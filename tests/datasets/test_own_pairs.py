"""The user's own sentence pairs: what is read, how splits are drawn, and what is refused by file and line."""

from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmft.datasets.own import draw_splits, read_own_pairs
from tmft.runtime.errors import InputError

SCORES = {"label_range": [0, 5], "shares": [0.7, 0.15, 0.15], "seed": 0, "separator": ",", "encoding": "utf-8"}
CLASSES = SCORES | {"labels": ["no", "yes"]}
HEAD = "sentence1,sentence2,label\n"
ROWS = "".join(f"left {n},right {n},{n % 6}\n" for n in range(20))


def read(folder: Path, text: str | bytes, source: dict = SCORES) -> pd.DataFrame:
    path = folder / "pairs.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_own_pairs(path, source, [0, 1] if "labels" in source else source["label_range"])


def refused(folder: Path, text: str | bytes, source: dict = SCORES) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_are_read_as_they_are(tmp_path):
    pairs = read(tmp_path, HEAD + '"one, ""two""","NA",2.5\r\n' + ROWS)
    first = pairs.iloc[0]
    assert (first.pair_id, first.sentence1, first.sentence2, first.label) == ("line-2", 'one, "two"', "NA", 2.5)
    assert len(pairs) == 21 and list(pairs.columns) == ["pair_id", "split", "sentence1", "sentence2", "label"]


def test_columns_have_any_order_and_company_and_the_byte_order_mark_is_no_text(tmp_path):
    text = "\ufefflabel,note,split,sentence2,sentence1\n" + "".join(
        f"{n},x,{split},b{n} {split},a{n} {split}\n" for n in range(2) for split in ("train", "validation", "test")
    )
    pairs = read(tmp_path, text)
    assert pairs["split"].tolist() == ["train", "validation", "test"] * 2
    assert pairs["pair_id"].tolist()[:2] == ["train-2", "validation-3"]
    assert pairs["sentence1"].tolist()[0] == "a0 train" and pairs["label"].tolist() == [0, 0, 0, 1, 1, 1]


def test_words_of_classes_become_numbers(tmp_path):
    rows = "".join(f"left {n},right {n},{'yes' if n % 3 else 'no'}\n" for n in range(20))
    assert read(tmp_path, HEAD + rows, CLASSES)["label"].tolist() == [float(bool(n % 3)) for n in range(20)]


@pytest.mark.parametrize(
    ("text", "source", "words"),
    [
        ("sentence1,sentence2\na,b\n", SCORES, ["line 1", "'label'", "sentence1, sentence2, label"]),
        ("sentence1;sentence2;label\na;b;1\n", SCORES, ["line 1", "semicolons", "separator: ';'"]),
        ("sentence1\tsentence2\tlabel\na\tb\t1\n", SCORES, ["line 1", "tabs", "separator: '\\t'"]),
        ("label|sentence1|sentence2\n1|a|b\n", SCORES, ["line 1", "bars", "separator: '|'"]),
        (HEAD + ROWS, SCORES | {"separator": ";"}, ["line 1", "commas", "separator: ','"]),
        ("sentence1;sentence2\na;b\n", SCORES, ["line 1", "'sentence1'", "with commas"]),
        ((HEAD + ROWS).encode("utf-16"), SCORES, ["not utf-8", "looks like utf-16", "encoding: utf-16"]),
        ((HEAD + ROWS).encode("utf-16-le"), SCORES, ["not utf-8", "encoding: utf-16-le"]),
        ((HEAD + ROWS).encode("utf-32"), SCORES, ["not utf-8", "encoding: utf-32"]),
        ((HEAD + "\u201ca\u201d,b,1\n" + ROWS).encode("cp1252"), SCORES, ["line 2", "encoding: cp1252"]),
        ("sentence1,sentence2,label,label\na,b,1,2\n", SCORES, ["line 1", "'label'"]),
        ("", SCORES, ["line 1"]),
        (HEAD + ROWS + "a,b\n", SCORES, ["line 22", "2 fields instead of 3"]),
        (HEAD + "a,b,\n" + ROWS, SCORES, ["line-2", "missing"]),
        (HEAD + "a,b,much\n" + ROWS, SCORES, ["line-2", "not a number"]),
        (HEAD + "a,b,5.5\n" + ROWS, SCORES, ["line-2", "outside 0 to 5"]),
        (HEAD + ROWS + "a, ,1\n", SCORES, ["line-22", "sentence2 is empty"]),
        (HEAD + 'a,"b"c,1\n' + ROWS, SCORES, ["line 2"]),
        ((HEAD + "é,b,1\n" + ROWS).encode("latin-1"), SCORES, ["line 2", "utf-8"]),
        (HEAD + "a,b,maybe\n", CLASSES, ["line 2", "'maybe'", "no, yes"]),
        ("sentence1,sentence2,label,split\na,b,1,dev\n", SCORES, ["line 2", "'dev'", "train, validation, test"]),
        ("sentence1,sentence2,label,split\n" + "a,b,1,train\n" * 4, SCORES, ["0 of 4", "validation"]),
        (HEAD + "the same,b,1\n" * 30, SCORES, ["0 of 30", "validation", "column"]),
    ],
)
def test_what_cannot_be_used_is_refused_by_file_and_line(tmp_path, text, source, words):
    message = refused(tmp_path, text, source)
    for word in ["pairs.csv", *words]:
        assert word in message


@pytest.mark.parametrize("blank", ["\n", "\r\n", "  \n", ",,\n", " , , \n", "\t\n"])
def test_blank_lines_are_no_rows_and_are_counted(tmp_path, capsys, blank):
    lines = (HEAD + ROWS).splitlines(keepends=True)
    pairs = read(tmp_path, blank + "".join(line + blank for line in lines) + blank)
    assert len(pairs) == 20 and pairs["sentence1"].tolist() == read(tmp_path, HEAD + ROWS)["sentence1"].tolist()
    assert "23 blank lines are skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("separator", "encoding"), [(";", "utf-8"), ("\t", "utf-16"), ("|", "cp1252"), (",", "utf-16-le"), (",", "latin-1")]
)
def test_separator_and_encoding_are_as_declared(tmp_path, separator, encoding):
    text = (HEAD + '"caf\u00e9, ""open""",b,1\n' + ROWS).replace(",", separator)
    pairs = read(tmp_path, text.encode(encoding), SCORES | {"separator": separator, "encoding": encoding})
    expected = f'caf\u00e9{separator} "open"'
    assert pairs["sentence1"].tolist()[0] == expected and len(pairs) == 21


names = st.integers(0, 40).map(lambda n: f"Sentence {n}")


@settings(deadline=None)
@given(st.lists(st.tuples(names, names), min_size=1, max_size=60), st.integers(0, 3))
def test_no_sentence_is_in_two_splits(rows, seed):
    pairs = pd.DataFrame(rows, columns=["sentence1", "sentence2"])
    pairs.loc[::2, "sentence1"] = pairs.loc[::2, "sentence1"].str.upper() + " "
    splits = draw_splits(pairs, [0.7, 0.15, 0.15], seed)
    found = defaultdict(set)
    for one, other, split in zip(pairs["sentence1"], pairs["sentence2"], splits, strict=True):
        for sentence in (one, other):
            found[sentence.strip().lower()].add(split)
    assert all(len(seen) == 1 for seen in found.values())
    assert set(splits) <= {"train", "validation", "test"}


def test_splits_have_their_shares_and_follow_the_seed():
    pairs = pd.DataFrame({"sentence1": [f"a{n}" for n in range(400)], "sentence2": [f"b{n}" for n in range(400)]})
    splits = [draw_splits(pairs, [8, 1, 1], seed) for seed in (0, 0, 1)]
    assert splits[0].value_counts().to_dict() == {"train": 320, "validation": 40, "test": 40}
    assert splits[0].equals(splits[1]) and not splits[0].equals(splits[2])
