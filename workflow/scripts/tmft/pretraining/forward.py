"""The forward pass of a BERT or ELECTRA encoder over unpadded sentences, from the modules of transformers."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import PreTrainedModel

from tmft.pretraining.batches import Batch


def vectors(encoder: PreTrainedModel, ids: Tensor, batch: Batch, positions: Tensor) -> Tensor:
    """The last hidden states (positions, hidden size) at some ``positions`` of ``ids``, a variant of the batch's.

    They are those of ``encoder(ids, attention_mask)``. Padding is never computed: the tokens of all sentences stand in
    one row, and only attention looks at sentences, those of one length together. Behind the attention of the last
    layer only ``positions`` go on.
    """
    lengths, numbers = torch.unique_consecutive(batch.attention_mask.sum(1), return_counts=True)
    groups = list(zip(numbers.tolist(), lengths.tolist(), strict=True))
    states = _embed(encoder, ids.flatten()[batch.tokens], batch.tokens % ids.shape[1])
    places = torch.searchsorted(batch.tokens, positions.contiguous())
    layers = encoder.encoder.layer
    for layer in layers[:-1]:
        states = _feed_forward(layer, states, _attend(layer, states, groups))
    mixed = _attend(layers[-1], states, groups)
    return _feed_forward(layers[-1], states.index_select(0, places), mixed.index_select(0, places))


def _embed(encoder: PreTrainedModel, ids: Tensor, places: Tensor) -> Tensor:
    """What enters the first layer, (tokens, hidden size), of ids at these places of their sentences."""
    table = encoder.embeddings
    states = table.word_embeddings(ids) + table.position_embeddings(places) + table.token_type_embeddings.weight[0]
    states = table.dropout(table.LayerNorm(states))
    return encoder.embeddings_project(states) if hasattr(encoder, "embeddings_project") else states


def _attend(layer: nn.Module, states: Tensor, groups: list[tuple[int, int]]) -> Tensor:
    """Each token's mixture of its own sentence's values, (tokens, hidden size)."""
    attention = layer.attention.self
    parts = (attention.query, attention.key, attention.value)
    projected = F.linear(states, torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))
    dropout = attention.dropout.p if layer.training else 0.0
    mixed = []
    for group in projected.split([sentences * length for sentences, length in groups]):
        sentences, length = groups[len(mixed)]
        heads = group.view(sentences, length, 3, attention.num_attention_heads, -1).permute(2, 0, 3, 1, 4)
        mixed.append(F.scaled_dot_product_attention(*heads, dropout_p=dropout).transpose(1, 2).flatten(2).flatten(0, 1))
    return torch.cat(mixed)


def _feed_forward(layer: nn.Module, states: Tensor, mixed: Tensor) -> Tensor:
    """The rest of a layer behind its attention."""
    states = layer.attention.output(mixed, states)
    return layer.output(layer.intermediate(states), states)
