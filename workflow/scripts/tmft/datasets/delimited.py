"""Sentence pairs from comma- or tab-separated files, read as declared and never as guessed."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tmft.datasets.pairs import DTYPES, check
from tmft.errors import InputError

QUOTING = {"csv": csv.QUOTE_MINIMAL, "none": csv.QUOTE_NONE}


def read_delimited(files: dict[str, Path], reading: dict[str, Any], label_range: tuple[float, float]) -> pd.DataFrame:
    """Read one file a split into a table of pairs; the pair_id is split and line, as in ``train-2919``.

    ``reading`` declares separator, quoting (``csv``: a field may be quoted, with inner quotes doubled; ``none``: quotes
    are text), header (whether line 1 is one), encoding, columns (the names of all fields, in order), which of these are
    sentence1, sentence2 and label, and optionally strip (take outer white space off the sentences). Lines end with LF
    or CRLF; lines count from 1, the header included.

    Raises InputError naming file and line: wrong number of fields, another header, broken quotes, bytes outside the
    encoding, and what ``pairs.check`` refuses.
    """
    tables = []
    for split, path in files.items():
        table = pd.DataFrame(_pairs(split, path, reading), columns=list(DTYPES)).astype(DTYPES)
        check(table, label_range, str(path))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _pairs(split: str, path: Path, reading: dict[str, Any]) -> Iterator[tuple[str, str, str, str, float]]:
    for line, fields in _rows(path, reading):
        values = dict(zip(reading["columns"], fields, strict=True))
        sentences = [values[reading[side]] for side in ("sentence1", "sentence2")]
        if reading.get("strip"):
            sentences = [sentence.strip() for sentence in sentences]
        yield f"{split}-{line}", split, *sentences, _number(values[reading["label"]])


def _rows(path: Path, reading: dict[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row, with the line the row starts on."""
    columns = reading["columns"]
    reader = csv.reader(
        io.StringIO(_text(path, reading["encoding"]), newline="\n"),
        delimiter=reading["separator"],
        quoting=QUOTING[reading["quoting"]],
        strict=True,
    )
    line = 1
    try:
        for fields in reader:
            if line == 1 and reading["header"]:
                if fields != columns:
                    raise InputError(f"{path}: line 1 is {fields}, the header should be {columns}")
            elif len(fields) != len(columns):
                raise InputError(
                    f"{path}: line {line} has {len(fields)} fields instead of {len(columns)}; "
                    "mend the row, or the declared separator and quoting"
                )
            else:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: line {line}: {error}; mend the row, or the declared quoting") from error


def _text(path: Path, encoding: str) -> str:
    content = path.read_bytes()
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line} is not {encoding} ({error.reason}); declare its encoding") from error


def _number(text: str) -> float:
    """The number a text stands for, NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
