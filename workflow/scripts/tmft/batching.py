"""From token sequences to sentence vectors, with little padding."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

Encode = Callable[[Tensor, Tensor], Tensor]


def encode(
    encoder: Encode, sequences: Sequence[np.ndarray], pad_id: int, chunk_size: int, device: torch.device
) -> Tensor:
    """The sentence vectors of n id sequences, in the order given.

    Sequences are sorted by length and go through the encoder ``chunk_size`` at a time, each chunk padded to its own
    longest. ``encoder`` maps ids and attention mask, (chunk, tokens) each, to vectors of shape (..., chunk, hidden).
    Returns (..., n, hidden).
    """
    order = np.argsort([len(sequence) for sequence in sequences], kind="stable")
    chunks = [
        encoder(*pad([sequences[row] for row in order[start : start + chunk_size]], pad_id, device))
        for start in range(0, len(order), chunk_size)
    ]
    place = torch.from_numpy(np.argsort(order)).to(device)
    return torch.cat(chunks, dim=-2).index_select(-2, place)


def pad(sequences: Sequence[np.ndarray], pad_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and attention mask of n sequences, int64 (n, longest) each; 1 in the mask is a token, 0 padding."""
    lengths = np.array([len(sequence) for sequence in sequences])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    ids[mask] = np.concatenate(sequences)
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask.astype(np.int64)).to(device)


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
