"""Text for pre-training: distinct sentences, one per line, and what evaluation data they hold."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from datasets import load_dataset
from tmft.datasets.delimited import read_rows, sentences
from tmft.runtime.errors import InputError
from tmft.runtime.files import file_sha256, write_text


def fetch_corpus(source: dict[str, Any], files: dict[str, Path], text: Path) -> dict[str, Any]:
    """Write the distinct sentences of a source (``hub`` collections, or these ``files``) to ``text``.

    Returns their provenance. Raises InputError as the readers do.
    """
    if "hub" in source:
        parts = [hub_sentences(collection) for collection in source["hub"].values()]
    else:
        parts = [file_sentences(files[name], file["reading"]) for name, file in source["files"].items()]
    lines = distinct(chain.from_iterable(parts))
    write_text(text, "\n".join(lines) + "\n")
    return {
        "source": source,
        "sentences": len(lines),
        "sha256": file_sha256(text),
        "versions": {"datasets": version("datasets")},
        "retrieved": datetime.now(UTC).date().isoformat(),
    }


def hub_sentences(collection: dict[str, Any]) -> Iterator[str]:
    """Both sentences of each labelled row of a data set of sentence pairs on the Hugging Face hub.

    ``collection`` declares repository (an id, or a local folder), revision (a commit), rows (of each split), and the
    columns sentence1, sentence2 and label. Rows without gold label (-1) are left out. Only data files are read: no
    code of the repository runs.

    Raises InputError when the hub does not provide the data, or with other rows than declared.
    """
    repository, revision = collection["repository"], collection["revision"]
    try:
        splits = load_dataset(repository, revision=revision)
    except OSError as error:
        raise InputError(
            f"{repository}: the hub does not provide it at revision {revision} ({type(error).__name__}); check the "
            "network, or choose another source for the corpus"
        ) from error
    found = {split: rows.num_rows for split, rows in splits.items()}
    if found != collection["rows"]:
        raise InputError(f"{repository}: has rows {found}, its source declares {collection['rows']}; pin its revision")
    for rows in splits.values():
        table = rows.to_pandas()
        labelled = table[table[collection["label"]] != -1]
        yield from labelled[[collection["sentence1"], collection["sentence2"]]].to_numpy().ravel()


def file_sentences(path: Path, reading: dict[str, Any]) -> Iterator[str]:
    """Both sentences of each row of a file. ``reading`` is as in ``read_delimited``, without label."""
    for _, values in read_rows(path, reading):
        yield from sentences(values, reading)


def distinct(found: Iterable[str]) -> list[str]:
    """Each sentence once, in order, on one line and without outer white space; blank ones are left out."""
    return [line for line in dict.fromkeys(" ".join(sentence.splitlines()).strip() for sentence in found) if line]


def report(corpus: Iterable[str], tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """How many distinct sentences of each task's splits are in a corpus, whatever their case and white space.

    ``corpus`` yields lines, ``tables`` has the table of pairs of each task. Returns sentences (the distinct ones of the
    corpus), and for each task and split sentences (distinct) and found (those in the corpus).
    """
    lines = {_folded(line) for line in corpus}
    tasks = {}
    for task, table in tables.items():
        own = {
            split: {_folded(sentence) for side in ("sentence1", "sentence2") for sentence in rows[side]}
            for split, rows in table.groupby("split", sort=False)
        }
        tasks[task] = {split: {"sentences": len(own[split]), "found": len(own[split] & lines)} for split in own}
    return {"sentences": len(lines), "tasks": tasks}


def _folded(sentence: str) -> str:
    return " ".join(sentence.split()).casefold()
