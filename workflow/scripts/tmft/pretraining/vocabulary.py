"""Which tokens there are: training a WordPiece tokenizer, and telling ordinary tokens from special ones."""

from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor
from transformers import BertTokenizer, PreTrainedTokenizerBase

from tmft.datasets.text import sentences
from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_folder


def train_tokenizer(corpus: Path, folder: Path, size: int, lower_case: bool, max_length: int) -> None:
    """Train a BERT tokenizer (WordPiece, at most ``size`` tokens) on a text file and save it as ``folder``.

    ``max_length`` tokens, special ones included, is the longest input that the tokenizer announces.
    Raises InputError for a corpus without sentences and for a ``size`` that does not even hold the alphabet.
    """
    untrained = BertTokenizer(do_lower_case=lower_case, model_max_length=max_length)

    def trained_vocabulary(size: int, first: list[str]) -> dict[str, int]:
        return untrained.train_new_from_iterator(
            sentences(corpus), size, new_special_tokens=first, show_progress=False
        ).get_vocab()

    # The trainer numbers the alphabet in an order that changes between processes, and with it all that it builds from
    # it; so a first pass only collects the alphabet, and the second is given it in sorted order.
    alphabet = sorted(trained_vocabulary(0, []).keys() - untrained.get_vocab().keys())
    smallest = len(untrained) + len(alphabet)
    if size < smallest:
        raise InputError(f"{corpus}: its alphabet alone needs a vocabulary of {smallest} tokens, not {size}; raise it")
    tokenizer = BertTokenizer(trained_vocabulary(size, alphabet), do_lower_case=lower_case, model_max_length=max_length)
    with atomic_folder(folder) as partial:
        tokenizer.save_pretrained(partial)


class Vocabulary(NamedTuple):
    """The token ids of a tokenizer as pre-training sees them."""

    size: int
    pad: int
    mask: int
    special: Tensor  # ids of [CLS], [SEP], [PAD] and their like: never masked, never put in place of a masked token
    ordinary: Tensor  # all other ids

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Self:
        """Raises InputError when the tokenizer has no mask or no padding token."""
        if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None:
            raise InputError(
                f"{tokenizer.name_or_path}: pre-training needs a tokenizer with a mask and a padding token"
            )
        special = set(tokenizer.all_special_ids)
        ordinary = sorted(set(tokenizer.get_vocab().values()) - special)
        return cls(
            size=len(tokenizer),
            pad=tokenizer.pad_token_id,
            mask=tokenizer.mask_token_id,
            special=torch.tensor(sorted(special)),
            ordinary=torch.tensor(ordinary),
        )
