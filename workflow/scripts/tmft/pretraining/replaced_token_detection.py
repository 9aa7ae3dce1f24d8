"""ELECTRA from scratch: replaced token detection (Clark et al. 2020, section 2).

As in the authors' code, and beyond the paper: generator and discriminator also share the normalisation of their
embeddings, the generator's output layer is tied to the token embeddings, a masked token that the generator sees as it
is can be replaced all the same, and the discriminator scores [CLS] and [SEP]. Unlike it: Adam corrects its bias,
special tokens are never drawn as replacements, and the number of masked tokens varies from sentence to sentence.
"""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoTokenizer, ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining

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
    generator: Path,
    discriminator: Path,
    settings: dict[str, Any],
    seed: int,
    device: str | torch.device,
    checkpoint: Checkpoint | None = None,
) -> dict[str, Any]:
    """Train an ELECTRA pair on a text file, one sentence a line, and write both encoders to their folders.

    The generator differs from the discriminator in the sizes that ``settings["generator"]`` names.
    The encoders after each of the ``snapshots`` (steps) of the settings wait beside them (files.waiting).
    Returns the metrics: those of ReplacedTokenDetection and what loop.train and Snapshots add.
    Raises InputError for a corpus without sentences, a tokenizer without mask or padding token, sizes that do not fit
    together, and a run that diverges.
    """
    loaded = AutoTokenizer.from_pretrained(tokenizer)
    vocabulary = Vocabulary.of(loaded)
    configs = [
        ElectraConfig(embedding_size=settings["embedding_size"], **encoders.architecture(sizes, vocabulary))
        for sizes in (settings | settings["generator"], settings)
    ]
    batches = Batches(tokenise(corpus, loaded, settings["max_length"]), vocabulary, settings, seed)

    torch.manual_seed(seed)
    pair = ReplacedTokenDetection(
        ElectraForMaskedLM(configs[0]),
        ElectraForPreTraining(configs[1]),
        vocabulary.ordinary,
        settings["discriminator_weight"],
    )
    parts = ((pair.generator.electra, generator), (pair.discriminator.electra, discriminator))
    origin = {"pretraining": "replaced_token_detection", "seed": seed}

    def save(step: int) -> None:
        for encoder, folder in parts:
            save_encoder(encoder, loaded, waiting(snapshot_folder(folder, step)), origin | {"step": step})

    snapshots = Snapshots(settings["snapshots"], pair.flops, save)
    metrics = loop.train(pair, batches, settings, seed, device, snapshots=snapshots, checkpoint=checkpoint)
    for encoder, folder in parts:
        save_encoder(encoder, loaded, folder, origin)
    return metrics | snapshots.metrics


class ReplacedTokenDetection(nn.Module):
    """A generator fills in masked tokens; a discriminator tells which tokens of the result are not the original ones.

    Both use one embedding module: token, position and type embeddings with their normalisation. ``candidates`` are the
    ids that a masked token may be replaced by.
    """

    def __init__(
        self,
        generator: ElectraForMaskedLM,
        discriminator: ElectraForPreTraining,
        candidates: Tensor,
        discriminator_weight: float,
    ):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        self.discriminator.electra.embeddings = self.generator.electra.embeddings
        self.register_buffer("candidates", candidates)
        self.discriminator_weight = discriminator_weight

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss, generator_loss + discriminator_weight * discriminator_loss (nats a token), and the measures.

        Each measure is taken over the batch; ``replaced_share``, ``recall`` of replaced tokens and ``auc`` over the
        tokens that the discriminator scores: all but padding.
        """
        logits = self.generator_logits(batch)
        generator_loss = encoders.cross_entropy(logits, batch)
        corrupted = batch.ids.flatten().index_copy(0, batch.masked, sample(logits, self.candidates)).view_as(batch.ids)
        replaced = (corrupted != batch.ids).flatten().index_select(0, batch.tokens)
        scores = self.discriminator_scores(corrupted, batch)
        discriminator_loss = F.binary_cross_entropy_with_logits(scores, replaced.float())
        loss = generator_loss + self.discriminator_weight * discriminator_loss
        return loss, {
            "loss": loss,
            "generator_loss": generator_loss,
            "discriminator_loss": discriminator_loss,
            "replaced_share": replaced.float().mean(),
            "recall": (replaced & (scores > 0)).sum() / replaced.sum(),
            "auc": auc(scores, replaced),
        }

    def generator_logits(self, batch: Batch) -> Tensor:
        """Scores (masked, vocabulary) of the generator at the masked positions."""
        vectors = forward.vectors(self.generator.electra, batch.masked_ids, batch, batch.masked)
        return self.generator.generator_lm_head(self.generator.generator_predictions(vectors))

    def discriminator_scores(self, corrupted: Tensor, batch: Batch) -> Tensor:
        """Scores (tokens,) of all tokens but padding, positive where the discriminator takes them for replaced."""
        vectors = forward.vectors(self.discriminator.electra, corrupted, batch, batch.tokens)
        return self.discriminator.discriminator_predictions(vectors)

    def flops(self, batch: Batch) -> int:
        """The FLOPs of a training step on this batch, the generator's included."""
        generator, discriminator = self.generator.config, self.discriminator.config
        return flops.PASSES * (
            flops.encoder(generator, *batch.ids.shape)
            + flops.prediction_head(generator, len(batch.masked))
            + flops.encoder(discriminator, *batch.ids.shape)
            + flops.detection_head(discriminator, len(batch.tokens))
        )


@torch.no_grad()
def sample(logits: Tensor, candidates: Tensor) -> Tensor:
    """Draw one of ``candidates`` for each row of ``logits`` (rows, vocabulary) from its softmax over these."""
    cumulative = logits.float().index_select(1, candidates).softmax(1).cumsum(1)
    drawn = cumulative[:, -1:] * torch.rand(len(cumulative), 1, device=logits.device)
    places = torch.searchsorted(cumulative, drawn, right=True).squeeze(1)
    return candidates[places.clamp(max=len(candidates) - 1)]


@torch.no_grad()
def auc(scores: Tensor, positive: Tensor) -> Tensor:
    """The chance that a positive scores above a negative, ties counting half (Mann and Whitney 1947); or NaN."""
    ordered = scores.sort().values
    below = torch.searchsorted(ordered, scores)
    not_above = torch.searchsorted(ordered, scores, right=True)
    ranks = (below + not_above + 1).double() / 2
    positives, negatives = positive.sum(), (~positive).sum()
    return ((ranks * positive).sum() - positives * (positives + 1) / 2) / (positives * negatives)
