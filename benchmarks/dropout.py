"""Validation Spearman with dropout on, packed and a sentence a row, over seeds: `dropout.py [LAYER ...]`.

The encoder is the miniature's BERT, made by `make demo`, with dropout of 0.1 in fine-tuning.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from scipy.stats import ttest_ind
from torch import nn

from choices import Chunked
from contenders import SETTINGS
from tmft.datasets.tokens import Tokens, read_tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.loop import finetune

DEMO = Path(__file__).parents[1] / "demo/data"
SEEDS = range(10)
MINIATURE = {"epochs": 2, "learning_rate": 5e-4, "precision": "float32", "dropout": "from_the_first_step"}
CPU = torch.device("cpu")


def scores(kind: type[TruncatedEncoder], layer: int, tokens: Tokens) -> list[float]:
    """Validation Spearman x 100 by seed."""
    found = []
    for seed in SEEDS:
        encoder = kind.load(DEMO / "pretrained/bert/encoder", layer)
        for module in encoder.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.1
        found.append(100 * finetune(encoder, tokens, SETTINGS | MINIATURE, seed, CPU).metrics["validation"]["spearman"])
    return found


def main() -> None:
    torch.set_num_threads(1)
    tokens = read_tokens(DEMO / "tokens/scenes/bert.parquet")
    for layer in map(int, sys.argv[1:]):
        packed, alone = (np.array(scores(kind, layer, tokens)) for kind in (TruncatedEncoder, Chunked))
        shown = [f"{one.mean():.2f} +- {one.std(ddof=1):.2f}" for one in (packed, alone)]
        p = ttest_ind(packed, alone, equal_var=False).pvalue
        print(f"layer {layer}: packed {shown[0]}, a sentence a row {shown[1]}, n = {len(SEEDS)}, Welch's p = {p:.2f}")


if __name__ == "__main__":
    main()
