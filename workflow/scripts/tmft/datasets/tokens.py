"""Tokenised pairs: a task's table in the ids of one encoder's tokenizer."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tmft.runtime.files import atomic_file

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("sentence1", "sentence2")


@dataclass(frozen=True)
class TokenPairs:
    """The pairs of one split: n id sequences a side, and n labels.

    ``sides[0][i]`` and ``sides[1][i]`` are the int32 ids of the i-th pair's sentences, special tokens included.
    """

    pair_ids: list[str]
    sides: tuple[list[np.ndarray], list[np.ndarray]]
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Tokens:
    """All splits of a task, the id that pads them, and how many sentences were cut at ``max_length`` tokens."""

    splits: dict[str, TokenPairs]
    pad_id: int
    max_length: int
    truncated: int


def write_tokens(pairs: "pd.DataFrame", tokenizer: Any, max_length: int, path: Path) -> None:
    """Tokenise both sentences of each pair for themselves, cut at ``max_length`` tokens, and write them to ``path``."""
    columns, truncated = {key: pa.array(pairs[key]) for key in ("pair_id", "split", "label")}, 0
    for side in SIDES:
        ids = tokenizer(pairs[side].tolist(), add_special_tokens=True, verbose=False)["input_ids"]
        long = [row for row, sequence in enumerate(ids) if len(sequence) > max_length]
        if long:
            sentences = pairs[side].iloc[long].tolist()
            cut = tokenizer(sentences, truncation=True, max_length=max_length)["input_ids"]
            for row, sequence in zip(long, cut, strict=True):
                ids[row] = sequence
        truncated += len(long)
        columns[side] = pa.array(ids, pa.list_(pa.int32()))
    notes = {"pad_id": tokenizer.pad_token_id, "max_length": max_length, "truncated": truncated}
    table = pa.table(columns).replace_schema_metadata({key: str(value) for key, value in notes.items()})
    with atomic_file(path) as partial:
        pq.write_table(table, partial)


def read_tokens(path: Path) -> Tokens:
    """Read what write_tokens wrote."""
    table = pq.read_table(path)
    notes = {key.decode(): int(value) for key, value in table.schema.metadata.items() if key != b"ARROW:schema"}
    split = table["split"].to_numpy()
    splits = {}
    for name in dict.fromkeys(split.tolist()):
        rows = table.filter(pa.array(split == name))
        sides = tuple([sequence.values.to_numpy() for sequence in rows[side]] for side in SIDES)
        splits[name] = TokenPairs(rows["pair_id"].to_pylist(), sides, rows["label"].to_numpy())
    return Tokens(splits, notes["pad_id"], notes["max_length"], notes["truncated"])
