"""Dropout on a CPU from 16 random bits an element; on other devices, and in evaluation, it is torch's own.

torch takes a step of its generator for each element, on one thread; here a draw of 64 bits serves four elements.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

ATTENTION = "sdpa_with_fast_dropout"
CHOICES = 2**16


def drop(x: Tensor, p: float) -> Tensor:
    """``x`` with each element zero with probability p, rounded to 1/65536, and the others scaled to the same mean.

    ``x`` is of any shape, on the CPU; ``p`` is below 1 - 1/131072. The random bits come from torch's global generator.
    """
    dropped = round(p * CHOICES)
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = draws.view(torch.int16)[: x.numel()].view(x.shape)
    kept = torch.ge(bits, dropped - CHOICES // 2, out=torch.empty(x.shape, dtype=x.dtype))
    return x * kept.mul_(CHOICES / (CHOICES - dropped))


class Dropout(nn.Dropout):
    """torch's dropout, by ``drop`` where that is faster."""

    def forward(self, x: Tensor) -> Tensor:
        return drop(x, self.p) if self.training and _is_faster(x, self.p) else super().forward(x)


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """transformers' scaled dot-product attention, its dropout by ``drop`` where that is faster.

    Queries, keys and values are (rows, heads, tokens, size), the mask (rows, 1, tokens, tokens), False where a token is
    not attended to; the result is (rows, tokens, heads, size). On a CPU torch, too, computes the attention step by step
    as soon as there is dropout.
    """
    if not _is_faster(query, dropout):
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **options
        )
    scores = (query * (query.shape[-1] ** -0.5 if scaling is None else scaling)) @ key.transpose(-1, -2)
    if attention_mask is not None:
        scores = scores.masked_fill(~attention_mask, -torch.inf)
    weights = drop(scores.softmax(-1), dropout)
    return (weights @ value).transpose(1, 2).contiguous(), None


def use_fast_dropout(model: PreTrainedModel) -> None:
    """Let a transformers model drop out by this module, in place; an attention that is not torch's keeps its own."""
    for name, module in list(model.named_modules()):
        if type(module) is nn.Dropout:
            model.set_submodule(name, Dropout(module.p).train(module.training))
    if model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(ATTENTION)


def _is_faster(x: Tensor, p: float) -> bool:
    return x.device.type == "cpu" and 0 < p < 1


AttentionInterface.register(ATTENTION, attention)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)
