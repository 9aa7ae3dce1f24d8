"""The sentence vectors of a split at each layer: of an untouched encoder, or of encoders fine-tuned at each layer."""

from pathlib import Path

import numpy as np
import torch

from tmft.datasets.tokens import Tokens
from tmft.encoders.packing import distinct, encode
from tmft.encoders.truncation import TruncatedEncoder, read_config


def untouched_vectors(
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
    """Vectors as by untouched_vectors, those of layer i from the last layer of the encoder in the i-th folder."""
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
