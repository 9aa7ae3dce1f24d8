"""A text file, one sentence a line, as token ids."""

from array import array
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from tmft.datasets.text import sentences

CHUNK = 10_000  # sentences tokenised at once


class Corpus(NamedTuple):
    """Sentence i is ``tokens[starts[i] : starts[i] + lengths[i]]``, special tokens included."""

    tokens: Tensor
    starts: Tensor
    lengths: Tensor
    truncated: int  # sentences cut to the greatest length


def tokenise(corpus: Path, tokenizer: PreTrainedTokenizerBase, max_length: int) -> Corpus:
    """Tokenise a text file; sentences of more than ``max_length`` tokens are cut to it, and counted."""
    tokens, lengths, truncated = array("i"), array("q"), 0
    remaining = sentences(corpus)
    while chunk := list(islice(remaining, CHUNK)):
        for sentence, ids in zip(chunk, tokenizer(chunk, verbose=False)["input_ids"], strict=True):
            if len(ids) > max_length:
                ids = tokenizer(sentence, truncation=True, max_length=max_length)["input_ids"]
                truncated += 1
            tokens.extend(ids)
            lengths.append(len(ids))
    length = torch.frombuffer(lengths, dtype=torch.int64)
    return Corpus(torch.frombuffer(tokens, dtype=torch.int32), length.cumsum(0) - length, length, truncated)
