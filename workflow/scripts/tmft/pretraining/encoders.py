"""What both objectives need of an encoder: its sizes, and its vectors at some positions."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel

from tmft.pretraining.batches import Batch
from tmft.pretraining.vocabulary import Vocabulary
from tmft.runtime.errors import InputError


def architecture(settings: dict[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """The keys that BertConfig and ElectraConfig share.

    Raises InputError when the heads do not divide the hidden size.
    """
    if settings["hidden_size"] % settings["attention_heads"]:
        raise InputError(
            f"hidden_size: {settings['hidden_size']} is no multiple of attention_heads {settings['attention_heads']}; "
            "change one of them"
        )
    return {
        "num_hidden_layers": settings["layers"],
        "hidden_size": settings["hidden_size"],
        "num_attention_heads": settings["attention_heads"],
        "intermediate_size": settings["intermediate_size"],
        "max_position_embeddings": settings["max_length"],
        "hidden_dropout_prob": settings["dropout"],
        "attention_probs_dropout_prob": settings["dropout"],
        "vocab_size": vocabulary.size,
        "pad_token_id": vocabulary.pad,
    }


def vectors(encoder: PreTrainedModel, ids: Tensor, batch: Batch, positions: Tensor) -> Tensor:
    """The last hidden states (positions, hidden size) at some positions of ``ids``, a variant of the batch's."""
    states = encoder(ids, attention_mask=batch.attention_mask).last_hidden_state
    return states.flatten(0, 1).index_select(0, positions)


def cross_entropy(logits: Tensor, batch: Batch) -> Tensor:
    """The mean over masked tokens of -log p(original), from ``logits`` (masked, vocabulary); 0 if none is masked."""
    originals = batch.ids.flatten().index_select(0, batch.masked)
    return F.cross_entropy(logits.float(), originals, reduction="sum") / max(1, len(originals))
