"""BERT from scratch: masked language modelling (Devlin et al. 2019, section 3.1), without next sentence prediction."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

from tmft.encoders.weights import save_encoder
from tmft.pretraining import encoders, flops, forward, loop
from tmft.pretraining.batches import Batch, Batches
from tmft.pretraining.corpus import tokenise
from tmft.pretraining.snapshots import Snapshots, snapshot_folder
from tmft.pretraining.vocabulary import Vocabulary
from tmft.runtime.files import waiting
from tmft.runtime.resuming import Checkpoint


def pretrain(
    corpus: Path,
    tokenizer: Path,
    output: Path,
    settings: dict[str, Any],
    seed: int,
    device: str | torch.device,
    checkpoint: Checkpoint | None = None,
) -> dict[str, Any]:
    """Train a BERT encoder on a text file, one sentence a line, and write it to ``output`` as an encoder folder.

    The encoders after each of the ``snapshots`` (steps) of the settings wait beside ``output`` (files.waiting).
    Returns the metrics: ``mlm_loss`` (cross-entropy in nats a masked token) and what loop.train and Snapshots add.
    Raises InputError for a corpus without sentences, a tokenizer without mask or padding token, sizes that do not fit
    together, and a run that diverges.
    """
    loaded = AutoTokenizer.from_pretrained(tokenizer)
    vocabulary = Vocabulary.of(loaded)
    config = BertConfig(**encoders.architecture(settings, vocabulary))
    batches = Batches(tokenise(corpus, loaded, settings["max_length"]), vocabulary, settings, seed)

    torch.manual_seed(seed)
    model = BertForMaskedLM(config)
    objective = MaskedLanguageModelling(model)
    origin = {"pretraining": "masked_language_modelling", "seed": seed}

    def save(step: int) -> None:
        save_encoder(model.bert, loaded, waiting(snapshot_folder(output, step)), origin | {"step": step})

    snapshots = Snapshots(settings["snapshots"], objective.flops, save)
    metrics = loop.train(objective, batches, settings, seed, device, snapshots=snapshots, checkpoint=checkpoint)
    save_encoder(model.bert, loaded, output, origin)
    return metrics | snapshots.metrics


class MaskedLanguageModelling(nn.Module):
    """Predict the masked tokens. The output layer sees their positions only."""

    def __init__(self, model: BertForMaskedLM):
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        vectors = forward.vectors(self.model.bert, batch.masked_ids, batch, batch.masked)
        loss = encoders.cross_entropy(self.model.cls.predictions(vectors), batch)
        return loss, {"mlm_loss": loss}

    def flops(self, batch: Batch) -> int:
        """The FLOPs of a training step on this batch."""
        config = self.model.config
        return flops.PASSES * (
            flops.encoder(config, *batch.ids.shape) + flops.prediction_head(config, len(batch.masked))
        )
