"""A corpus as an endless sequence of masked batches, each a function of seed and step alone."""

import hashlib
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from tmft.pretraining.corpus import Corpus
from tmft.pretraining.masking import mask
from tmft.pretraining.vocabulary import Vocabulary
from tmft.runtime.errors import InputError

POOL = 50  # batches whose sentences are sorted by length together


def derived_seed(*key: int | str) -> int:
    """A seed of its own for each key, so that any random number of a run can be drawn without those before it."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8])


class Batch(NamedTuple):
    """Sentences padded to the longest. Positions are indices into the flattened batch."""

    ids: Tensor  # (sentences, length)
    masked_ids: Tensor  # (sentences, length), what the model that fills in masked tokens sees
    attention_mask: Tensor  # (sentences, length)
    tokens: Tensor  # positions of all tokens but padding
    maskable: Tensor  # positions of all tokens but special ones
    masked: Tensor  # positions chosen among these

    def to(self, device: str | torch.device) -> Self:
        return type(self)(*(tensor.to(device) for tensor in self))

    def split(self, size: int) -> list[Self]:
        """The batch in parts of ``size`` sentences; the last one may have fewer."""
        width = self.ids.shape[1]
        parts = []
        for start in range(0, len(self.ids), size):
            first, end = start * width, (start + size) * width
            sentences = (rows[start : start + size] for rows in self[:3])
            positions = (places[(first <= places) & (places < end)] - first for places in self[3:])
            parts.append(type(self)(*sentences, *positions))
        return parts


class Batches:
    """``Batches(...)[step]`` is the batch of a step; ``len`` of them show each sentence once.

    Each epoch shuffles the sentences, sorts pools of some batches by length so that little is padded, and shuffles the
    batches. Raises InputError when ``mask_share`` and ``random_share`` exceed 1 together.
    """

    def __init__(self, corpus: Corpus, vocabulary: Vocabulary, settings: dict[str, Any], seed: int):
        if settings["mask_share"] + settings["random_share"] > 1:
            raise InputError("mask_share and random_share add up to more than 1; lower one of them")
        self.corpus, self.vocabulary, self.settings, self.seed = corpus, vocabulary, settings, seed
        self.size = settings["batch_size"]
        self.epoch = lru_cache(maxsize=1)(self._epoch)

    def __len__(self) -> int:
        return ceil(len(self.corpus.lengths) / self.size)

    def __getitem__(self, step: int) -> Batch:
        epoch, position = divmod(step, len(self))
        sentences, order = self.epoch(epoch)
        start = int(order[position]) * self.size
        ids, attention_mask = self._padded(sentences[start : start + self.size])
        generator = torch.Generator().manual_seed(derived_seed(self.seed, "masks", step))
        masked_ids, masked = mask(ids, self.vocabulary, self.settings, generator)
        maskable = ~torch.isin(ids, self.vocabulary.special)
        return Batch(ids, masked_ids, attention_mask, *map(_positions, (attention_mask, maskable, masked)))

    def _epoch(self, epoch: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(derived_seed(self.seed, "order", epoch))
        shuffled = torch.randperm(len(self.corpus.lengths), generator=generator)
        pools = [pool[self.corpus.lengths[pool].argsort(stable=True)] for pool in shuffled.split(POOL * self.size)]
        return torch.cat(pools), torch.randperm(len(self), generator=generator)

    def _padded(self, sentences: Tensor) -> tuple[Tensor, Tensor]:
        lengths = self.corpus.lengths[sentences][:, None]
        columns = torch.arange(int(lengths.max()))
        attention_mask = columns < lengths
        index = self.corpus.starts[sentences][:, None] + columns.minimum(lengths - 1)
        ids = self.corpus.tokens[index].long().where(attention_mask, self.vocabulary.pad)
        return ids, attention_mask


def _positions(flags: Tensor) -> Tensor:
    return flags.flatten().nonzero().squeeze(1)
