"""Tokens and batches: nothing lost, nothing reordered, padding without effect."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import tiny_tokenizer

from tmft.datasets.tokens import read_tokens, write_tokens
from tmft.encoders import packing as batching
from tmft.encoders.packing import distinct, encode, pack

CPU = torch.device("cpu")
sequences = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=12), min_size=1, max_size=20)


def arrays(lists: list[list[int]]) -> list[np.ndarray]:
    return [np.array(one, dtype=np.int32) for one in lists]


@pytest.fixture
def pairs() -> pd.DataFrame:
    rows = [
        ["a", "train", "None", "NA", 3.0],
        ["b", "test", "the dog eats " * 20, "the dog", 1.5],
        ["c", "train", "two\tbirds", 'a "red" house', 0.0],
        ["d", "validation", "a man", "a man", 5.0],
    ]
    return pd.DataFrame(rows, columns=["pair_id", "split", "sentence1", "sentence2", "label"])


def test_tokens_are_those_of_the_tokenizer(pairs, tmp_path):
    tokenizer = tiny_tokenizer("bert")
    write_tokens(pairs, tokenizer, 10, tmp_path / "t.parquet")
    tokens = read_tokens(tmp_path / "t.parquet")
    assert (tokens.pad_id, tokens.max_length, tokens.truncated) == (tokenizer.pad_token_id, 10, 1)
    for split, own in pairs.groupby("split"):
        read = tokens.splits[split]
        assert read.pair_ids == own["pair_id"].tolist() and read.labels.tolist() == own["label"].tolist()
        for side, column in zip(read.sides, ("sentence1", "sentence2"), strict=True):
            for ids, sentence in zip(side, own[column], strict=True):
                assert ids.tolist() == tokenizer(sentence, truncation=True, max_length=10)["input_ids"]


class Sums:
    """A toy encoder: the vector of a sentence is the sum of its ids. It notes the shapes of what it is given."""

    def __init__(self, layer: int, packs: bool) -> None:
        self.layer, self.packs, self.shapes = layer, packs, []

    def __call__(self, ids: torch.Tensor, numbers: torch.Tensor, sentences: int) -> torch.Tensor:
        self.shapes.append((*ids.shape, sentences))
        return torch.stack([ids[numbers == number].sum(0, keepdim=True) for number in range(1, sentences + 1)])


@given(sequences, st.sampled_from([(0, True), (1, True), (1, False)]), st.integers(1, 20), st.integers(1, 60))
def test_encode_keeps_the_order(lists, kind, row_tokens, pass_tokens):
    encoder = Sums(*kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "ROW_TOKENS", row_tokens)
        patch.setattr(batching, "PASS_TOKENS", pass_tokens)
        patch.setattr(batching, "PADDED_TOKENS", pass_tokens)
        vectors = encode(encoder, arrays(lists), 61, "float32", CPU)
    assert vectors[:, 0].tolist() == [sum(one) for one in lists]
    longest = max(map(len, lists))
    for rows, width, sentences in encoder.shapes:
        assert width <= max(row_tokens, longest) or kind == (0, True)
        assert rows == sentences or encoder.packs
        assert rows == 1 or encoder.layer == 1
    assert sum(sentences for *_, sentences in encoder.shapes) == len(lists)


@given(sequences, st.sampled_from([0, 5, 12, 30, math.inf]))
def test_every_token_is_packed_once(lists, row_tokens):
    ids, numbers, count = pack(arrays(lists), row_tokens, 61, CPU)
    assert count == len(lists)
    assert [ids[numbers == number].tolist() for number in range(1, count + 1)] == lists
    assert (ids[numbers == 0] == 61).all() and (numbers == 0).sum() == ids.numel() - sum(map(len, lists))
    for row in numbers:
        pieces, lengths = row.unique_consecutive(return_counts=True)
        assert len(pieces) == len(pieces.unique()) and 0 not in pieces[:-1]
        own = lengths[pieces > 0]
        assert len(own) == 1 or own.sum() <= row_tokens
    assert numbers.gt(0).all(0).any() and numbers[:, -1].any()


@given(sequences)
def test_half_of_the_cells_at_least_are_tokens(lists):
    longest = max(map(len, lists))
    ids, numbers, _ = pack(arrays(lists), longest, 61, CPU)
    assert len(ids) == 1 or numbers.gt(0).sum() > ids.numel() / 2


@given(sequences, st.randoms())
def test_distinct_sequences_give_back_all_pairs(lists, chooser):
    other = chooser.choices(lists, k=len(lists))
    found, first, second = distinct((arrays(lists), arrays(other)))
    assert [found[row].tolist() for row in first] == lists and [found[row].tolist() for row in second] == other
    assert len({one.tobytes() for one in found}) == len(found)
