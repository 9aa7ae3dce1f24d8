"""What tests of training share: settings, pairs, their tokens, and an encoder's weights."""

import random
from pathlib import Path

import pandas as pd
import torch
from tiny import WORDS
from transformers import AutoTokenizer

from tmft.datasets.tokens import Tokens, read_tokens, write_tokens

CPU = torch.device("cpu")
SETTINGS = {
    "objective": "cosine_regression",
    "label_range": [0.0, 5.0],
    "start": "pretrained",
    "batch_size": 4,
    "epochs": 3,
    "learning_rate": 1e-3,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "clip_norm": 1.0,
    "precision": "float32",
    "dropout": "from_the_first_step",
}


def make_pairs(labels_per_split: dict[str, int], scale: float = 1.0) -> pd.DataFrame:
    chooser = random.Random(1)
    rows = []
    for split, count in labels_per_split.items():
        for number in range(count):
            sentences = [" ".join(chooser.choices(WORDS.split(), k=chooser.randint(1, 9))) for _ in range(2)]
            rows.append([f"{split}-{number}", split, *sentences, scale * chooser.randint(0, 10) / 2])
    return pd.DataFrame(rows, columns=["pair_id", "split", "sentence1", "sentence2", "label"])


def tokens_of(pairs: pd.DataFrame, folder: Path, tmp_path: Path, max_length: int = 40) -> Tokens:
    path = tmp_path / "tokens.parquet"
    write_tokens(pairs, AutoTokenizer.from_pretrained(folder), max_length, path)
    return read_tokens(path)


def weights(encoder: torch.nn.Module) -> dict[str, torch.Tensor]:
    """All weights but the biases of attention's keys: softmax cancels them, so their gradient is rounding only."""
    return {name: value.clone() for name, value in encoder.state_dict().items() if not name.endswith("key.bias")}
