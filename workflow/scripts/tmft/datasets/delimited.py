"""Sentence pairs from comma- or tab-separated files, read as declared and never as guessed."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.datasets.pairs import DTYPES, check
from tmft.datasets.text import looks_like
from tmft.runtime.errors import InputError

QUOTING = {"csv": csv.QUOTE_MINIMAL, "none": csv.QUOTE_NONE}


def read_delimited(files: dict[str, Path], reading: dict[str, Any], label_range: tuple[float, float]) -> pd.DataFrame:
    """Read files into a table of pairs, one file per split, or one of all splits; the pair_id is split and line, as in
    ``train-2919``.

    ``reading`` declares separator, quoting (``csv``: a field may be quoted, with inner quotes doubled; ``none``: quotes
    are text), header (whether line 1 is one), encoding, columns (the names of all fields, in order), which of these are
    sentence1, sentence2 and label, and optionally strip (take outer white space off the sentences), labels (the numbers
    that the words of the label column stand for), split (the column that names a row's split) and splits (what its
    words stand for). Lines end with LF or CRLF; lines count from 1, the header included. Rows without any text are
    skipped, and a line in the log says how many.

    Raises InputError naming file and line: wrong number of fields, another header, broken quotes, bytes outside the
    encoding, a label or split that is not declared, and what ``pairs.check`` refuses.
    """
    tables = []
    for split, path in files.items():
        table = read_pairs_of(path, reading, split)
        check(table, label_range, str(path))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def read_pairs_of(path: Path, reading: dict[str, Any], split: str) -> pd.DataFrame:
    """The pairs of one file, unchecked: a label that is no number is NaN. Raises InputError as ``read_delimited``."""
    return pd.DataFrame(_pairs(path, reading, split), columns=list(DTYPES)).astype(DTYPES)


def _pairs(path: Path, reading: dict[str, Any], split: str) -> Iterator[tuple[str, str, str, str, float]]:
    for line, values in read_rows(path, reading):
        where = f"{path}: line {line}"
        own = _declared(values, reading, "split", where) if "split" in reading else split
        label = _declared(values, reading, "label", where) if "labels" in reading else _number(values[reading["label"]])
        yield f"{own}-{line}", own, *sentences(values, reading), label


def sentences(values: dict[str, str], reading: dict[str, Any]) -> list[str]:
    """Both sentences of a row."""
    pair = [values[reading[side]] for side in ("sentence1", "sentence2")]
    return [sentence.strip() for sentence in pair] if reading.get("strip") else pair


def _declared(values: dict[str, str], reading: dict[str, Any], key: str, where: str) -> Any:
    """What a row's word for ``key`` (label or split) stands for."""
    column, meanings = reading[key], reading[f"{key}s"]
    if values[column] not in meanings:
        raise InputError(
            f"{where}: {column} is '{values[column]}' and not one of {', '.join(meanings)}; correct or declare it"
        )
    return meanings[values[column]]


def read_rows(path: Path, reading: dict[str, Any]) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row's fields by column, with the line the row starts on. Raises InputError as ``read_delimited``."""
    columns = reading["columns"]
    reader = csv.reader(
        io.StringIO(_text(path, reading["encoding"]), newline="\n"),
        delimiter=reading["separator"],
        quoting=QUOTING[reading["quoting"]],
        strict=True,
    )
    line, blank, header = 1, 0, reading["header"]
    try:
        for fields in reader:
            if not "".join(fields).strip():
                blank += 1
            elif header:
                if fields != columns:
                    raise InputError(f"{path}: line {line} is {fields}, the header should be {columns}")
                header = False
            elif len(fields) != len(columns):
                raise InputError(
                    f"{path}: line {line} has {len(fields)} fields instead of {len(columns)}; "
                    "correct the row, or the declared separator and quoting"
                )
            else:
                yield line, dict(zip(columns, fields, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {line}: {error}; correct the row, or the declared quoting") from error
    if blank:
        print(f"{path}: {blank} blank lines are skipped")


def _text(path: Path, encoding: str) -> str:
    content = path.read_bytes()
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise InputError(
            f"{path}: line {line} is not {encoding}; the file looks like {looks_like(content)}: set its encoding "
            f"(`encoding: {looks_like(content)}`)"
        ) from error


def _number(text: str) -> float:
    """The number a text stands for, NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
