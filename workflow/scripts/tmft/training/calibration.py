"""How fast this machine trains: a few steps on random encoders of some widths, through the loop of every other run."""

import time
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.loop import finetune

LAYERS = (1, 4)
SECONDS = 2.0  # about as long is each of them timed, after a first step that warms up
LENGTHS = (6, 26)  # tokens in a sentence; evenly distributed, 16 on average, much as in STSB
VOCABULARY = 30_000


def calibrate(widths: list[int], training: dict[str, Any], device: torch.device) -> list[dict[str, float]]:
    """Time the training of a BERT of each width, cut after each of ``LAYERS``, under the given hyper-parameters.

    Returns the width, layer, tokens and seconds of each.
    """
    timings = []
    for width in widths:
        for layer in LAYERS:
            started = time.perf_counter()
            _train(width, layer, training | {"epochs": 1}, device)
            rounds = min(50, 1 + round(SECONDS / (time.perf_counter() - started)))
            cost = _train(width, layer, training | {"epochs": rounds}, device)
            timings.append(
                {
                    "width": width,
                    "layer": layer,
                    "tokens": cost["training_tokens"],
                    "seconds": cost["training_seconds"],
                }
            )
    return timings


def _train(width: int, layer: int, settings: dict[str, Any], device: torch.device) -> dict[str, float]:
    """What training on random sentences costs, a step an epoch."""
    heads = width // 64 if width % 64 == 0 else 1
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=layer,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    encoder = TruncatedEncoder(BertModel(config, add_pooling_layer=False), layer)
    task = {"objective": "cosine_regression", "label_range": [0.0, 1.0]}
    sizes = {"train": settings["batch_size"], "validation": 2, "test": 2}
    tokens = Tokens(
        {split: _pairs(size) for split, size in sizes.items()}, pad_id=0, max_length=max(LENGTHS), truncated=0
    )
    return finetune(encoder, tokens, settings | task, 0, device).cost


def _pairs(number: int) -> TokenPairs:
    """Pairs of random sentences."""
    random = np.random.default_rng(0)
    lengths = random.integers(*LENGTHS, size=(2, number), endpoint=True)
    sides = tuple([random.integers(1, VOCABULARY, length, dtype=np.int32) for length in side] for side in lengths)
    return TokenPairs([str(place) for place in range(number)], sides, random.random(number))
