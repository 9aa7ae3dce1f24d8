"""Domain-adaptive pre-training (DAPT): masked language modelling that goes on from an encoder (docs/protocol.md)."""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import PreTrainedModel

from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.origin import encoder_origin
from tmft.encoders.truncation import TruncatedEncoder, read_config, usable_length
from tmft.encoders.weights import save_encoder
from tmft.pretraining import encoders, loop
from tmft.pretraining.batches import Batch, Batches
from tmft.pretraining.corpus import tokenise
from tmft.pretraining.vocabulary import Vocabulary
from tmft.runtime.devices import device_of
from tmft.runtime.environment import environment
from tmft.runtime.files import file_sha256, write_json
from tmft.runtime.job import Job
from tmft.runtime.resuming import Checkpoint


def adapt_encoder(work: Job) -> None:
    """Do a rule's job: an encoder that is adapted to a corpus, and the metrics of the adaptation."""
    settings, device = work.params.settings, device_of(work)
    start = encoder_origin(work.input.encoder)
    origin = {"adaptation": work.wildcards["adaptation"], "settings": settings, "start": start}
    identity = origin | {"corpus": file_sha256(work.input.corpus), "code": work.params.code, "device": device.type}
    checkpoint = Checkpoint(work.output.metrics, identity, work.config["checkpoint_minutes"]["pretrain"])
    metrics = adapt(work.input.corpus, work.input.encoder, work.output.encoder, settings, origin, device, checkpoint)
    write_json(work.output.metrics, metrics | {"environment": environment(device)})
    checkpoint.remove()


def adapt(
    corpus: Path,
    folder: Path,
    output: Path,
    settings: dict[str, Any],
    origin: dict[str, Any],
    device: torch.device,
    checkpoint: Checkpoint | None = None,
) -> dict[str, Any]:
    """Train the encoder in ``folder`` on a text file, one sentence a line, and write it to ``output`` in the same form.

    ``origin`` is the source that its provenance.json names. One step of the optimiser sees ``accumulation`` batches;
    the last step of an epoch what is left of it.

    Returns the metrics: ``mlm_loss`` (cross-entropy in nats a masked token), ``newly_initialised`` (the tensors that no
    checkpoint had) and what loop.train adds.
    Raises InputError for a corpus without sentences, a tokenizer without mask or padding token, an encoder that cannot
    be loaded, and a run that diverges.
    """
    seed, config = settings["seed"], read_config(folder)
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers).model
    tokenizer = load_tokenizer(folder)
    text = tokenise(corpus, tokenizer, usable_length(config, tokenizer))
    step = {"batch_size": settings["batch_size"] * settings["accumulation"]}
    batches = Batches(text, Vocabulary.of(tokenizer), settings | step, seed)

    torch.manual_seed(seed)
    objective = Adaptation(encoder)
    objective.head.requires_grad_(settings["train_head"])
    steps = settings["epochs"] * len(batches)
    laid_out = {"steps": steps, "batches": settings["epochs"] * -(-len(text.lengths) // settings["batch_size"])}
    metrics = loop.train(
        objective,
        batches,
        settings | {"steps": steps},
        seed,
        device,
        scheduled=laid_out[settings["schedule"]],
        checkpoint=checkpoint,
        dropout=settings["dropout"] == "from_the_first_step",
    )
    save_encoder(encoder, tokenizer, output, origin)
    new = [f"head.{name}" for name, _ in objective.head.named_parameters()]
    return metrics | {"newly_initialised": new, "masked_unit": "subword"}


class Adaptation(nn.Module):
    """An encoder and a new output layer that predicts the masked tokens from its last hidden states."""

    def __init__(self, encoder: PreTrainedModel) -> None:
        super().__init__()
        self.encoder = encoder
        embedding_size = encoder.get_input_embeddings().embedding_dim
        self.head = Head(encoder.config.hidden_size, embedding_size, len(self.word_embeddings))
        self.head.apply(self._initialise)

    @property
    def word_embeddings(self) -> Tensor:
        """The encoder's own, (vocabulary, embedding size): the output layer has no copy of them."""
        return self.encoder.get_input_embeddings().weight

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        vectors = encoders.vectors(self.encoder, batch.masked_ids, batch, batch.masked)
        loss = encoders.cross_entropy(self.head(vectors, self.word_embeddings), batch)
        return loss, {"mlm_loss": loss}

    def _initialise(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=self.encoder.config.initializer_range)
            nn.init.zeros_(module.bias)


class Head(nn.Module):
    """BERT's output layer (Devlin et al. 2019): a transformation to the embedding size, then the tied embeddings."""

    def __init__(self, hidden_size: int, embedding_size: int, vocabulary: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, embedding_size)
        self.norm = nn.LayerNorm(embedding_size, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, vectors: Tensor, word_embeddings: Tensor) -> Tensor:
        """Scores (n, vocabulary) of vectors (n, hidden size)."""
        return F.linear(self.norm(F.gelu(self.dense(vectors))), word_embeddings, self.bias)
