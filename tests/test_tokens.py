"""Tokens and batches: nothing lost, nothing reordered, padding without effect."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tiny import tiny_tokenizer
from tmft.batching import distinct, encode, pad
from tmft.tokens import read_tokens, write_tokens

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


@given(sequences, st.integers(1, 7))
def test_encode_keeps_the_order(lists, chunk_size):
    def sums(ids, mask):
        assert len(ids) <= chunk_size
        return ((ids * mask).sum(1, keepdim=True)).float()

    vectors = encode(sums, arrays(lists), 0, chunk_size, CPU)
    assert vectors[:, 0].tolist() == [float(sum(one)) for one in lists]


@given(sequences)
def test_padding_is_masked(lists):
    ids, mask = pad(arrays(lists), 61, CPU)
    assert mask.sum(1).tolist() == [len(one) for one in lists]
    assert (ids[mask == 0] == 61).all() and (ids[mask == 1] != 61).all()


@given(sequences, st.randoms())
def test_distinct_sequences_give_back_all_pairs(lists, chooser):
    other = chooser.choices(lists, k=len(lists))
    found, first, second = distinct((arrays(lists), arrays(other)))
    assert [found[row].tolist() for row in first] == lists and [found[row].tolist() for row in second] == other
    assert len({one.tobytes() for one in found}) == len(found)
