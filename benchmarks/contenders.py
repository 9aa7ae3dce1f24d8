"""Ways to fine-tune one encoder on the same batches: this pipeline's, sentence-transformers' and the authors'."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from torch import Tensor, nn
from torch.utils.data import SequentialSampler
from transformers import AutoModel, get_linear_schedule_with_warmup

from datasets import Dataset
from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.runtime.memory import keep_freed_memory
from tmft.training.loop import EVALUATED, evaluate, finetune, make_objective

BATCH = 32
SETTINGS = {
    "objective": "cosine_regression",
    "label_range": [0.0, 5.0],
    "batch_size": BATCH,
    "epochs": 1,
    "learning_rate": 2e-5,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "clip_norm": 1.0,
}


@dataclass(frozen=True)
class Data:
    """Pairs as token ids and, for sentence-transformers, as text; the same rows in both."""

    tokens: Tokens
    text: dict[str, pd.DataFrame]

    @classmethod
    def of(cls, tokens: Tokens, text: pd.DataFrame) -> "Data":
        return cls(tokens, {split: text[text["split"] == split] for split in tokens.splits})

    def sample(self, **pairs: int) -> "Data":
        """Pairs of each split, drawn at random: a data set's own order puts sentences of one origin together."""
        rows = {
            split: np.random.default_rng(0).permutation(len(self.text[split]))[:count] for split, count in pairs.items()
        }
        splits = {split: choose(self.tokens.splits[split], own) for split, own in rows.items()}
        tokens = Tokens(splits, self.tokens.pad_id, self.tokens.max_length, self.tokens.truncated)
        return Data(tokens, {split: self.text[split].iloc[own] for split, own in rows.items()})

    def order(self) -> Tensor:
        """The order of the training pairs in the first epoch of seed 0."""
        return torch.randperm(len(self.tokens.splits["train"]), generator=torch.Generator().manual_seed(0))


def choose(pairs: TokenPairs, rows: np.ndarray) -> TokenPairs:
    first, second = ([side[row] for row in rows] for side in pairs.sides)
    return TokenPairs([pairs.pair_ids[row] for row in rows], (first, second), pairs.labels[rows])


class Contender(Protocol):
    """A way to fine-tune ``layer`` layers of the encoder in a folder, on a device in a precision."""

    def __init__(self, folder: Path, layer: int, data: Data, device: torch.device, precision: str) -> None: ...

    def train(self) -> None:
        """One epoch over the training pairs."""


class Pipeline:
    """This repository."""

    def __init__(self, folder: Path, layer: int, data: Data, device: torch.device, precision: str) -> None:
        keep_freed_memory()
        self.encoder, self.tokens = TruncatedEncoder.load(folder, layer).to(device), data.tokens
        self.device, self.precision = device, precision

    def train(self) -> None:
        finetune(
            self.encoder,
            self.tokens,
            SETTINGS | {"precision": self.precision, "dropout": "from_the_first_step"},
            0,
            self.device,
        )

    def evaluate(self) -> None:
        objective = make_objective(SETTINGS, self.encoder.hidden_size)
        for split in EVALUATED:
            evaluate(self.encoder, self.tokens, split, objective, self.precision, self.device)


class SentenceTransformers:
    """The trainer and the evaluator of sentence-transformers, over the encoder as it is in its folder."""

    def __init__(self, folder: Path, layer: int, data: Data, device: torch.device, precision: str) -> None:
        transformer = Transformer(str(folder), config_kwargs={"num_hidden_layers": layer})
        pooling = Pooling(transformer.get_embedding_dimension(), "mean")
        self.model = SentenceTransformer(modules=[transformer, pooling], device=device.type)
        self.data, self.device, self.precision = data, device, precision

    def train(self) -> None:
        table = self.data.text["train"].iloc[self.data.order().numpy()]
        columns = {"sentence1": table["sentence1"], "sentence2": table["sentence2"], "score": table["label"] / 5}
        with tempfile.TemporaryDirectory() as folder:
            arguments = SentenceTransformerTrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=BATCH,
                num_train_epochs=1,
                learning_rate=SETTINGS["learning_rate"],
                warmup_steps=SETTINGS["warmup"],
                weight_decay=SETTINGS["weight_decay"],
                batch_sampler=lambda dataset, **options: DefaultBatchSampler(SequentialSampler(dataset), **options),
                use_cpu=self.device.type == "cpu",
                bf16=self.precision == "bf16",
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
            )
            SentenceTransformerTrainer(
                model=self.model,
                args=arguments,
                train_dataset=Dataset.from_dict({key: value.tolist() for key, value in columns.items()}),
                loss=CosineSimilarityLoss(self.model),
            ).train()

    def evaluate(self) -> None:
        for split in EVALUATED:
            table = self.data.text[split]
            sides = table["sentence1"].tolist(), table["sentence2"].tolist()
            EmbeddingSimilarityEvaluator(*sides, (table["label"] / 5).tolist(), main_similarity="cosine")(self.model)


class Authors:
    """The authors' manner: all layers are computed, hidden_states[layer] is used, each side is padded for itself."""

    def __init__(self, folder: Path, layer: int, data: Data, device: torch.device, precision: str) -> None:
        self.model, self.layer, self.data = AutoModel.from_pretrained(folder).to(device), layer, data
        self.device, self.precision = device, precision

    def train(self) -> None:
        train = self.data.tokens.splits["train"]
        batches = self.data.order().split(BATCH)
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=SETTINGS["learning_rate"], weight_decay=0.01)
        schedule = get_linear_schedule_with_warmup(optimiser, int(0.1 * len(batches)), len(batches))
        self.model.train()
        for batch in batches:
            u, v = (self._vectors([side[row] for row in batch]) for side in train.sides)
            loss = F.mse_loss(
                F.cosine_similarity(u, v), (torch.from_numpy(train.labels)[batch].float() / 5).to(self.device)
            )
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimiser.step()
            schedule.step()

    def _vectors(self, sentences: list[np.ndarray]) -> Tensor:
        ids = nn.utils.rnn.pad_sequence([torch.from_numpy(ids).long() for ids in sentences], batch_first=True)
        mask = nn.utils.rnn.pad_sequence([torch.ones(len(ids)) for ids in sentences], batch_first=True)
        ids, mask = ids.to(self.device), mask.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            output = self.model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True)
        states = output.hidden_states[self.layer].float()
        return (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)


CONTENDERS: dict[str, type[Contender]] = {
    "pipeline": Pipeline,
    "sentence-transformers": SentenceTransformers,
    "authors": Authors,
}
