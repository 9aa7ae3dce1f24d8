"""Training with dropout, in distribution: scores of 30 seeds by the authors' loop, written anew, and by the product."""

import copy
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from scipy import stats
from tiny import WORDS, tiny_encoder
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from training_runs import CPU, SETTINGS, tokens_of
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, get_linear_schedule_with_warmup

from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.loop import finetune

DEPTH, SEEDS = 2, range(30)
ENCODER = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "embedding_size": 8}
ENCODER |= {"hidden_dropout_prob": 0.5, "attention_probs_dropout_prob": 0.5}
RATE, EPOCHS, BATCH = 1e-3, 3, 32
PUBLISHED = SETTINGS | {"learning_rate": RATE, "epochs": EPOCHS, "batch_size": BATCH, "dropout": "published"}


def overlapping_pairs() -> pd.DataFrame:
    """Pairs of sentences of different lengths whose score is how much of the first is in the second, 0 to 5."""
    chooser = random.Random(0)
    rows = []
    for split, count in {"train": 96, "validation": 128, "test": 2}.items():
        for number in range(count):
            first = chooser.choices(WORDS.split(), k=5)
            score = chooser.randint(0, 5)
            second = first[:score] + chooser.choices(WORDS.split(), k=chooser.randint(1, 5))
            rows.append([f"{split}-{number}", split, " ".join(first), " ".join(second), float(score)])
    return pd.DataFrame(rows, columns=["pair_id", "split", "sentence1", "sentence2", "label"])


class Loops:
    """Both loops on the same pairs, from the same encoders; each gives validation scores, (seeds, epochs)."""

    def __init__(self, folder: Path) -> None:
        self.pairs = overlapping_pairs()
        self.folders = {
            family: tiny_encoder(family, folder / family, DEPTH, **ENCODER) for family in ("bert", "electra")
        }
        self.whole = {family: AutoModel.from_pretrained(own) for family, own in self.folders.items()}
        tokenizer = AutoTokenizer.from_pretrained(self.folders["bert"])
        sentences = [*self.pairs["sentence1"], *self.pairs["sentence2"]]
        self.ids = {sentence: torch.tensor(tokenizer(sentence).input_ids) for sentence in sentences}
        self.tokens = tokens_of(self.pairs, self.folders["bert"], folder)

    def ours(self, family: str, layer: int, **settings: object) -> np.ndarray:
        encoder = TruncatedEncoder.load(self.folders[family], layer)
        found = [finetune(copy.deepcopy(encoder), self.tokens, PUBLISHED | settings, seed, CPU) for seed in SEEDS]
        return np.array([[epoch["validation"]["spearman"] for epoch in outcome.history] for outcome in found])

    def theirs(self, family: str, layer: int) -> np.ndarray:
        return np.array([self._their_run(family, layer, seed) for seed in SEEDS])

    def _their_run(self, family: str, layer: int, seed: int) -> list[float]:
        for seed_generator in (random.seed, np.random.seed, torch.manual_seed):
            seed_generator(seed)
        model = copy.deepcopy(self.whole[family])  # in evaluation mode, as it comes out of from_pretrained
        split = self.pairs.groupby("split")[["sentence1", "sentence2", "label"]]
        train, validation = (split.get_group(name).values.tolist() for name in ("train", "validation"))
        batches = DataLoader(train, batch_size=BATCH, shuffle=True)
        plain = [name for name, _ in model.named_parameters() if "LayerNorm" in name or "bias" in name]
        groups = [
            {
                "params": [value for name, value in model.named_parameters() if (name in plain) == free],
                "weight_decay": decay,
            }
            for free, decay in ((False, 0.01), (True, 0.0))
        ]
        optimiser = torch.optim.AdamW(groups, lr=RATE)
        steps = EPOCHS * len(batches)
        schedule = get_linear_schedule_with_warmup(optimiser, int(0.1 * steps), steps)
        found = []
        for _ in range(EPOCHS):
            for first, second, scores in batches:
                loss = F.mse_loss(self._cosines(model, layer, first, second), scores.float() / 5)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
                schedule.step()
                optimiser.zero_grad()
            model.eval()
            with torch.no_grad():
                parts = [
                    (self._cosines(model, layer, first, second), scores)
                    for first, second, scores in DataLoader(validation, batch_size=64)
                ]
            cosines, scores = (torch.cat(part) for part in zip(*parts, strict=True))
            found.append(stats.spearmanr(cosines, scores).statistic)
            model.train()
        return found

    def _cosines(self, model: PreTrainedModel, layer: int, *sides: list[str]) -> torch.Tensor:
        means = []
        for side in sides:
            ids = pad_sequence([self.ids[sentence] for sentence in side], batch_first=True)
            mask = (ids != 0).long()
            states = model(ids, mask, output_hidden_states=True).hidden_states[layer]
            means.append((states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True))
        return F.cosine_similarity(*means)


@pytest.fixture(scope="module")
def loops(tmp_path_factory) -> Loops:
    return Loops(tmp_path_factory.mktemp("loops"))


def p_value(one: np.ndarray, other: np.ndarray) -> float:
    """By the two-sample test of Kolmogorov and Smirnov: that of the epoch that differs most, times their number."""
    return EPOCHS * min(stats.ks_2samp(*epoch).pvalue for epoch in zip(one.T, other.T, strict=True))


@pytest.mark.parametrize("layer", [0, 1, DEPTH])
@pytest.mark.parametrize("family", ["bert", "electra"])
def test_30_seeds_score_as_by_the_authors_loop(loops, family, layer):
    assert p_value(loops.ours(family, layer), loops.theirs(family, layer)) > 0.01


def test_30_seeds_would_show_early_dropout_and_a_learning_rate_off_by_a_tenth(loops):
    theirs = loops.theirs("bert", DEPTH)
    for change in ({"dropout": "from_the_first_step"}, {"learning_rate": 0.9 * RATE}):
        assert p_value(loops.ours("bert", DEPTH, **change), theirs) < 0.01
