"""The sentence vectors of a split at each layer: of a pre-trained encoder, or of encoders fine-tuned at each layer."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tmft.datasets.tokens import Tokens, read_tokens
from tmft.encoders.packing import distinct, encode
from tmft.encoders.truncation import TruncatedEncoder, read_config
from tmft.results.cka import compare_layers
from tmft.runtime.environment import environment
from tmft.training.records import Provenance


def compare_states(
    sides: Iterable[tuple[str, list[Path], Path]], precision: str, code: str, device: torch.device
) -> dict[str, Any]:
    """The CKA of two sides, layer by layer on their task's test sentences, with provenance and environment.

    A side is a state (``pretrained`` or ``finetuned``), its encoder folders, and the file of its tokens.
    """
    layerwise = {"pretrained": pretrained_vectors, "finetuned": finetuned_vectors}
    vectors, provenance = [], []
    for state, folders, file in sides:
        vectors.append(layerwise[state](folders, read_tokens(file), "test", precision, device))
        origins = [Provenance.of(folder, file, {"precision": precision}, code) for folder in folders]
        provenance += map(asdict, origins)
    return {"layers": compare_layers(*vectors), "provenance": provenance, "environment": environment(device)}


def pretrained_vectors(
    folders: list[Path], tokens: Tokens, split: str, precision: str, device: torch.device
) -> np.ndarray:
    """Vectors of the layers 0..L of the encoder in the one folder, float32 (layers, sentences, hidden).

    The sentences are those of both sides, first side first, each as often as it occurs.
    """
    [folder] = folders
    encoder = TruncatedEncoder.load(folder, read_config(folder).num_hidden_layers).to(device)
    return _vectors(encoder, tokens, split, precision, device, layerwise=True)


def finetuned_vectors(
    folders: list[Path], tokens: Tokens, split: str, precision: str, device: torch.device
) -> np.ndarray:
    """Vectors as by pretrained_vectors, those of layer i from the last layer of the encoder in the i-th folder."""
    layers = []
    for layer, folder in enumerate(folders):
        encoder = TruncatedEncoder.load(folder, layer).to(device)
        layers.append(_vectors(encoder, tokens, split, precision, device))
    return np.stack(layers)


def _vectors(
    encoder: TruncatedEncoder, tokens: Tokens, split: str, precision: str, device: torch.device, layerwise: bool = False
) -> np.ndarray:
    sequences, first, second = distinct(tokens.splits[split].sides)
    with torch.inference_mode():
        vectors = encode(encoder, sequences, tokens.pad_id, precision, device, layerwise).cpu().numpy()
    return vectors[..., np.concatenate([first, second]), :]
