"""What an encoder predicts with each of many subsets of its layers, from one walk over them all."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tmft.datasets.tokens import TokenPairs
from tmft.encoders.packing import CACHED_TOKENS, ROW_TOKENS, pack
from tmft.encoders.truncation import TruncatedEncoder, layer_list, mean_pooling
from tmft.experiment.layers import Layer, kept
from tmft.runtime.errors import InputError
from tmft.runtime.progress import progress


def predict_subsets(
    encoder: TruncatedEncoder,
    layers: Collection[Layer],
    pairs: TokenPairs,
    predict: Callable[[Tensor, Tensor], Tensor],
    pad_id: int,
    precision: str,
    device: torch.device,
) -> dict[Layer, np.ndarray]:
    """What ``predict`` makes of the vectors of n pairs, (n,), with each of ``layers`` kept of the whole ``encoder``.

    ``predict`` gets both sides' vectors, (m, hidden) each, of some of the pairs.
    """
    encoder.to(device).eval()
    tokens = np.array([len(first) + len(second) for first, second in zip(*pairs.sides, strict=True)])
    order = np.argsort(-tokens, kind="stable")
    passes = np.split(order, np.flatnonzero(np.diff(np.cumsum(tokens[order]) // CACHED_TOKENS)) + 1)
    found: dict[Layer, list[Tensor]] = {layer: [] for layer in layers}
    with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
        for part in progress(passes, "subsets of layers"):
            sequences = [side[row] for side in pairs.sides for row in part]
            for layer, vectors in walk(encoder, layers, *pack(sequences, ROW_TOKENS, pad_id, device)).items():
                found[layer].append(predict(*vectors.split(len(part))))
    back = np.argsort(order)
    return {layer: torch.cat(parts).cpu().numpy()[back] for layer, parts in found.items()}


def walk(
    encoder: TruncatedEncoder, layers: Collection[Layer], ids: Tensor, numbers: Tensor, sentences: int
) -> dict[Layer, Tensor]:
    """Sentence vectors (sentences, hidden) of packed rows, as in ``TruncatedEncoder.forward``, with each of ``layers``.

    ``encoder`` is whole. Its own pass gives the states after each prefix and what else each layer is given; from
    there on the subsets form a tree, and a layer runs once for all that begin alike.
    Raises InputError for an encoder in which more than its layers stands between two of them.
    """
    if not encoder.packs:
        raise InputError("an encoder with a convolution after its first layer cannot be searched for subsets")
    calls: list[tuple[nn.Module, tuple, dict[str, Any], Tensor]] = []

    def note(module: nn.Module, args: tuple, options: dict[str, Any], output: Any) -> None:
        calls.append((module, args, options, _states(output)))

    hooks = [layer.register_forward_hook(note, with_kwargs=True) for layer in layer_list(encoder.model)[1]]
    try:
        encoder(ids, numbers, sentences)
    finally:
        for hook in hooks:
            hook.remove()

    wanted = {kept(layer): layer for layer in layers}
    begun = {numbers[:end] for numbers in wanted for end in range(len(numbers) + 1)}
    found: dict[Layer, Tensor] = {}

    def descend(path: tuple[int, ...], states: Tensor) -> None:
        if path in wanted:
            found[wanted[path]] = mean_pooling(encoder.norm(states), numbers, sentences)
        for number in range((path or (0,))[-1] + 1, len(calls) + 1):
            if (longer := (*path, number)) in begun:
                module, (_, *args), options, output = calls[number - 1]
                prefix = number == len(longer)
                descend(longer, output if prefix else _states(module(states, *args, **options)))

    descend((), calls[0][1][0])
    return found


def _states(output: Any) -> Tensor:
    """The hidden states among what a layer returns."""
    return output[0] if isinstance(output, tuple) else output
