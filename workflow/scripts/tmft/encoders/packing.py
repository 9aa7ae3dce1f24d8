"""From token sequences to sentence vectors, without padding where the encoder allows it."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from tmft.encoders.truncation import TruncatedEncoder

ROW_TOKENS = 64
"""Tokens that share a row. Attention costs a row's square, padding what its end leaves empty."""

PASS_TOKENS = 4096
"""Tokens that go through the encoder at once; all of a training batch but for long ones."""

CACHED_TOKENS = 1024
"""The same on a CPU without a gradient, where a pass costs nothing but its place in the cache."""

PADDED_TOKENS = 256
"""The same where each sentence is padded to the longest of its pass."""


def encode(
    encoder: TruncatedEncoder,
    sequences: Sequence[np.ndarray],
    pad_id: int,
    precision: str,
    device: torch.device,
    layerwise: bool = False,
) -> Tensor:
    """The sentence vectors (n, hidden) of n id sequences, in the order given; with ``layerwise`` (layers, n, hidden).

    Sequences are sorted by length and packed into rows, those of a pass together; without attention, at layer 0, into
    one. An encoder that cannot take packed rows gets a sequence per row, in passes small enough to need little padding.
    With ``precision`` bf16 the encoder computes by automatic mixed precision; the vectors are float32 all the same.
    """
    vectors = encoder.layerwise_vectors if layerwise else encoder
    row_tokens = (math.inf if encoder.layer == 0 else ROW_TOKENS) if encoder.packs else 0
    order = np.argsort([-len(sequence) for sequence in sequences], kind="stable")
    tokens = np.cumsum([len(sequences[place]) for place in order])
    passes = np.flatnonzero(np.diff(tokens // _pass_tokens(encoder.packs, device))) + 1
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
        parts = [
            vectors(*pack([sequences[place] for place in part], row_tokens, pad_id, device))
            for part in np.split(order, passes)
        ]
    return torch.cat(parts, dim=-2).index_select(-2, torch.from_numpy(np.argsort(order)).to(device))


def _pass_tokens(packs: bool, device: torch.device) -> int:
    if not packs:
        return PADDED_TOKENS
    return CACHED_TOKENS if device.type == "cpu" and not torch.is_grad_enabled() else PASS_TOKENS


def pack(
    sequences: Sequence[np.ndarray], row_tokens: float, pad_id: int, device: torch.device
) -> tuple[Tensor, Tensor, int]:
    """Ids of n sequences side by side in rows, whose sequence each token is, from 1 to n, and n.

    Both tensors are int64 (rows, tokens); padding, at the end of a row, is of sequence 0. The sequences, longest first,
    go each into the first row that they do not fill beyond ``row_tokens``, or into a new one (first-fit decreasing).
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    rows, starts, filled = np.empty_like(lengths), np.empty_like(lengths), []
    for place in np.argsort(-lengths, kind="stable"):
        row = next((row for row, tokens in enumerate(filled) if tokens + lengths[place] <= row_tokens), len(filled))
        if row == len(filled):
            filled.append(0)
        rows[place], starts[place] = row, filled[row]
        filled[row] += lengths[place]
    width = max(filled)
    ends = np.cumsum(lengths)
    cells = np.arange(ends[-1]) + np.repeat(rows * width + starts - (ends - lengths), lengths)
    packed = np.tile([[pad_id], [0]], len(filled) * width)
    packed[:, cells] = np.concatenate(sequences), np.repeat(np.arange(1, len(lengths) + 1), lengths)
    ids, numbers = torch.from_numpy(packed.reshape(2, len(filled), width)).to(device, non_blocking=True)
    return ids, numbers, len(lengths)


def distinct(sides: tuple[list[np.ndarray], list[np.ndarray]]) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The distinct sequences of both sides, and for each pair the places of its two sequences among them, (n,) each."""
    places: dict[bytes, int] = {}
    sequences: list[np.ndarray] = []
    sided = []
    for side in sides:
        rows = np.empty(len(side), dtype=np.int64)
        for row, sequence in enumerate(side):
            rows[row] = places.setdefault(sequence.tobytes(), len(sequences))
            if rows[row] == len(sequences):
                sequences.append(sequence)
        sided.append(rows)
    return sequences, *sided
