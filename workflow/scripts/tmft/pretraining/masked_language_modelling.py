"""BERT from scratch: masked language modelling (Devlin et al. 2019, section 3.1), without next sentence prediction."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

from tmft.pretraining import encoders, loop
from tmft.pretraining.batches import Batch, Batches
from tmft.pretraining.corpus import tokenise
from tmft.pretraining.vocabulary import Vocabulary


def pretrain(
    corpus: Path, tokenizer: Path, output: Path, settings: dict[str, Any], seed: int, device: str | torch.device
) -> dict[str, Any]:
    """Train a BERT encoder on a text file, one sentence a line, and write it to ``output`` as an encoder folder.

    Returns the metrics: ``mlm_loss`` (cross-entropy in nats a masked token) and what loop.train adds.
    Raises InputError for a corpus without sentences, a tokenizer without mask or padding token, sizes that do not fit
    together, and a run that diverges.
    """
    loaded = AutoTokenizer.from_pretrained(tokenizer)
    vocabulary = Vocabulary.of(loaded)
    config = BertConfig(**encoders.architecture(settings, vocabulary))
    batches = Batches(tokenise(corpus, loaded, settings["max_length"]), vocabulary, settings, seed)

    torch.manual_seed(seed)
    model = BertForMaskedLM(config)
    metrics = loop.train(MaskedLanguageModelling(model), batches, settings, seed, device)
    encoders.save(model.bert, loaded, output, {"pretraining": "masked_language_modelling", "seed": seed})
    return metrics


class MaskedLanguageModelling(nn.Module):
    """Predict the masked tokens. The output layer sees their positions only."""

    def __init__(self, model: BertForMaskedLM):
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        vectors = encoders.vectors(self.model.bert, batch.masked_ids, batch, batch.masked)
        loss = encoders.cross_entropy(self.model.cls.predictions(vectors), batch)
        return loss, {"mlm_loss": loss}
