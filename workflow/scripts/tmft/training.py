"""Truncated model fine-tuning (paper, section 3): one run, read top to bottom."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import get_linear_schedule_with_warmup

from tmft.batching import distinct, encode
from tmft.encoder import TruncatedEncoder
from tmft.metrics import is_constant
from tmft.objectives import OBJECTIVES, Objective
from tmft.progress import progress
from tmft.tokens import TokenPairs, Tokens

EVALUATED = ("validation", "test")


@dataclass
class Outcome:
    """What a run found: metrics by split (None where it collapsed), the history by epoch, sizes and costs.

    ``baseline`` is what a constant answer scores on the test split; ``predictions`` are those of its pairs, (n,), None
    where no epoch gave anything to keep.
    """

    baseline: dict[str, float]
    metrics: dict[str, dict[str, float]] | None = None
    predictions: np.ndarray | None = None
    reason: str | None = None
    best_epoch: int | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> str:
        return "complete" if self.reason is None else "collapsed"


class Collapse(Exception):
    """Training or evaluation gave nothing that can be scored."""


def finetune(
    encoder: TruncatedEncoder, tokens: Tokens, settings: dict[str, Any], seed: int, device: torch.device
) -> Outcome:
    """Fine-tune a truncated encoder on the training pairs; the epoch with the best validation score is kept and scored.

    Every random choice (weights of the objective, order of the pairs, dropout) follows from ``seed``. Non-finite losses
    and constant predictions end as an outcome with status ``collapsed`` and a reason. The encoder is left with the kept
    weights, a collapsed one with the last.
    """
    started = time.perf_counter()
    torch.manual_seed(seed)
    shuffling = torch.Generator().manual_seed(seed)
    objective = make_objective(settings, encoder.hidden_size)
    model = nn.ModuleList([encoder, objective]).to(device)
    train = tokens.splits["train"]
    targets = torch.from_numpy(objective.targets(train.labels))
    optimiser = make_optimiser(model, settings)
    steps_an_epoch = math.ceil(len(train) / settings["batch_size"])
    steps = settings["epochs"] * steps_an_epoch
    schedule = get_linear_schedule_with_warmup(optimiser, int(settings["warmup"] * steps), steps)

    outcome = Outcome(objective.baseline(tokens.splits["test"].labels))
    best_score, best_state = -math.inf, None
    try:
        for epoch in progress(range(1, settings["epochs"] + 1), f"layer {encoder.layer} seed {seed}, epochs"):
            epoch_started = time.perf_counter()
            model.train()
            losses = torch.zeros((), device=device)
            order = torch.randperm(len(train), generator=shuffling)
            for batch in progress(order.split(settings["batch_size"]), "steps"):
                u, v = encode_pairs(encoder, train, batch.tolist(), tokens.pad_id, settings["precision"], device)
                loss = objective.loss(u, v, targets[batch].to(device))
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip_norm"])
                optimiser.step()
                schedule.step()
                losses += loss.detach()
            mean_loss = losses.item() / steps_an_epoch
            if not math.isfinite(mean_loss):
                raise Collapse(f"the training loss of epoch {epoch} is {mean_loss}")
            _, validation = evaluate(encoder, tokens, "validation", objective, settings["precision"], device)
            seconds = time.perf_counter() - epoch_started
            outcome.history.append({"epoch": epoch, "loss": mean_loss, "validation": validation, "seconds": seconds})
            if validation is not None and validation[objective.selection] > best_score:
                best_score, outcome.best_epoch = validation[objective.selection], epoch
                best_state = {name: value.detach().clone() for name, value in model.state_dict().items()}
        if best_state is None:
            raise Collapse("the predictions on validation are constant in every epoch")
        model.load_state_dict(best_state)
        outcome.metrics = {}
        for split in EVALUATED:
            outcome.predictions, outcome.metrics[split] = evaluate(
                encoder, tokens, split, objective, settings["precision"], device
            )
        constant = [split for split in EVALUATED if outcome.metrics[split] is None]
        if constant:
            raise Collapse(f"the predictions on {constant[0]} are constant")
    except Collapse as collapse:
        outcome.metrics, outcome.reason = None, str(collapse)
    outcome.cost = {
        "seconds": time.perf_counter() - started,
        "steps": steps,
        "training_tokens": settings["epochs"] * sum(len(ids) for side in train.sides for ids in side),
    }
    return outcome


def evaluate_layers(
    encoder: TruncatedEncoder, tokens: Tokens, settings: dict[str, Any], device: torch.device
) -> list[Outcome]:
    """Score every layer 0..L of an untouched encoder, from one pass over it; one outcome a layer."""
    started = time.perf_counter()
    objective = make_objective(settings, encoder.hidden_size)
    encoder.to(device).eval()
    predictions = {}
    with torch.inference_mode():
        for split in EVALUATED:
            sequences, first, second = distinct(tokens.splits[split].sides)
            vectors = encode(encoder, sequences, tokens.pad_id, settings["precision"], device, layerwise=True)
            predictions[split] = [objective.predict(layer[first], layer[second]).cpu().numpy() for layer in vectors]
    seconds = time.perf_counter() - started
    outcomes = []
    for layer in range(encoder.layer + 1):
        outcome = Outcome(objective.baseline(tokens.splits["test"].labels), cost={"seconds": seconds})
        outcome.predictions = predictions["test"][layer]
        outcome.metrics = {
            split: score(objective, split, predictions[split][layer], tokens.splits[split].labels)
            for split in EVALUATED
        }
        constant = [split for split in EVALUATED if outcome.metrics[split] is None]
        if constant:
            outcome.metrics, outcome.reason = None, f"the predictions on {constant[0]} are constant"
        outcomes.append(outcome)
    return outcomes


def evaluate(
    encoder: TruncatedEncoder,
    tokens: Tokens,
    split: str,
    objective: Objective,
    precision: str,
    device: torch.device,
) -> tuple[np.ndarray, dict[str, float] | None]:
    """Predictions (n,) of the encoder on a split, without dropout, and what ``score`` says of them."""
    pairs = tokens.splits[split]
    encoder.eval()
    with torch.inference_mode():
        sequences, first, second = distinct(pairs.sides)
        vectors = encode(encoder, sequences, tokens.pad_id, precision, device)
        predictions = objective.predict(vectors[first], vectors[second]).cpu().numpy()
    return predictions, score(objective, split, predictions, pairs.labels)


def score(objective: Objective, split: str, predictions: np.ndarray, labels: np.ndarray) -> dict[str, float] | None:
    """Metrics of the predictions (n,); None where they are not finite or come to the same for all pairs.

    On the validation split the objective is calibrated first, and stays so for the test split.
    """
    if not np.isfinite(predictions).all():
        return None
    if split == "validation":
        objective.calibrate(predictions, labels)
    return None if is_constant(objective.decide(predictions)) else objective.metrics(predictions, labels)


def encode_pairs(
    encoder: TruncatedEncoder, pairs: TokenPairs, rows: list[int], pad_id: int, precision: str, device: torch.device
) -> tuple[Tensor, Tensor]:
    """The vectors (n, hidden) of both sides of n pairs, from one pass over all 2n sentences."""
    sequences = [side[row] for side in pairs.sides for row in rows]
    return encode(encoder, sequences, pad_id, precision, device).split(len(rows))


def make_objective(settings: dict[str, Any], hidden_size: int) -> Objective:
    """The objective that the settings name, for vectors of this size."""
    return OBJECTIVES[settings["objective"]](tuple(settings["label_range"]), hidden_size)


def make_optimiser(model: nn.Module, settings: dict[str, Any]) -> torch.optim.AdamW:
    """AdamW without decay on biases and layer norms, that is on parameters with one dimension."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": settings["weight_decay"]},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings["learning_rate"], fused=True)
