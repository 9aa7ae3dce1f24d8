"""Truncated model fine-tuning (paper, section 3): one run, read top to bottom."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from transformers import get_linear_schedule_with_warmup

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders.packing import distinct, encode
from tmft.encoders.truncation import TruncatedEncoder
from tmft.runtime.memory import peak_mb, reset_peak
from tmft.runtime.progress import progress
from tmft.runtime.resuming import Checkpoint
from tmft.training.metrics import is_constant
from tmft.training.objectives import OBJECTIVES, Objective

EVALUATED = ("validation", "test")


@dataclass
class Outcome:
    """What a run found: metrics by split (None where it collapsed), the history by epoch, sizes and costs.

    ``baseline`` is what a constant answer scores on the test split; ``predictions`` are those of its pairs, (n,), None
    where no epoch gave anything to keep. ``micro_batch_size`` is how many pairs of a batch were trained on at once:
    all, or as many as GPU memory held; None without training.
    """

    baseline: dict[str, float]
    metrics: dict[str, dict[str, float]] | None = None
    predictions: np.ndarray | None = None
    reason: str | None = None
    best_epoch: int | None = None
    micro_batch_size: int | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> str:
        return "complete" if self.reason is None else "collapsed"


class Collapse(Exception):
    """Training or evaluation gave nothing that can be scored."""


@dataclass
class State:
    """All that an epoch changes: what is trained, what was found, and the best validation score.

    ``best`` are the weights to go back to at the end.
    """

    model: nn.Module
    optimiser: torch.optim.Optimizer
    schedule: LambdaLR
    shuffling: torch.Generator
    outcome: Outcome
    best_score: float = -math.inf
    best: dict[str, Tensor] | None = None

    def state_dict(self, device: torch.device) -> dict[str, Any]:
        """What a checkpoint holds: this, and the random numbers that dropout is drawn from."""
        return {
            "stateful": {name: getattr(self, name).state_dict() for name in ("model", "optimiser", "schedule")},
            "outcome": vars(self.outcome),
            "best": self.best,
            "best_score": self.best_score,
            "shuffling": self.shuffling.get_state(),
            "cpu": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
        }

    def load_state_dict(self, state: dict[str, Any], device: torch.device) -> None:
        """Go back to what ``state_dict`` returned on a device of the same type."""
        for name, value in state["stateful"].items():
            getattr(self, name).load_state_dict(value)
        vars(self.outcome).update(state["outcome"])
        self.best, self.best_score = state["best"], state["best_score"]
        self.shuffling.set_state(state["shuffling"])
        torch.set_rng_state(state["cpu"])
        if device.type == "cuda":
            torch.cuda.set_rng_state(state["cuda"], device)


def finetune(
    encoder: TruncatedEncoder,
    tokens: Tokens,
    settings: dict[str, Any],
    seed: int,
    device: torch.device,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Fine-tune a truncated encoder on the training pairs; the epoch with the best validation score is kept and scored.

    Dropout acts from the second epoch on, or ``from_the_first_step``, as ``settings["dropout"]`` says
    (docs/protocol.md). Every random choice (weights of the objective, order of the pairs, dropout) follows from
    ``seed``. Non-finite losses and constant predictions end as an outcome with status ``collapsed`` and a reason. The
    encoder is left with the kept weights, a collapsed one with the last.

    A run goes on from its ``checkpoint`` and writes it at the end of epochs. On CPU, with the same number of threads,
    what comes out does not depend on where it was stopped. Batches that do not fit into GPU memory are taken in parts.
    """
    started, final_seconds = time.perf_counter(), 0.0
    reset_peak(device)
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

    def loss_of(rows: Tensor) -> Tensor:
        u, v = encode_pairs(encoder, train, rows.tolist(), tokens.pad_id, settings["precision"], device)
        return objective.loss(u, v, targets[rows].to(device))

    outcome = Outcome(objective.baseline(tokens.splits["test"].labels), micro_batch_size=settings["batch_size"])
    state = State(model, optimiser, schedule, shuffling, outcome)
    if checkpoint and (stopped := checkpoint.load()):
        state.load_state_dict(stopped, device)
        started -= sum(epoch["seconds"] for epoch in outcome.history)
    epochs = range(len(outcome.history) + 1, settings["epochs"] + 1)
    try:
        for epoch in progress(epochs, f"layer {encoder.layer} seed {seed}, epochs"):
            epoch_started = time.perf_counter()
            model.train(epoch > 1 or settings["dropout"] == "from_the_first_step")
            losses = torch.zeros((), device=device)
            order = torch.randperm(len(train), generator=shuffling)
            for batch in progress(order.split(settings["batch_size"]), "steps"):
                loss, outcome.micro_batch_size = backward(loss_of, batch, outcome.micro_batch_size, optimiser)
                torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip_norm"])
                optimiser.step()
                schedule.step()
                losses += loss
            mean_loss = losses.item() / steps_an_epoch
            if not math.isfinite(mean_loss):
                raise Collapse(f"the training loss of epoch {epoch} is {mean_loss}")
            trained = time.perf_counter()
            _, validation = evaluate(encoder, tokens, "validation", objective, settings["precision"], device)
            evaluated = time.perf_counter()
            seconds = {"seconds": evaluated - epoch_started, "evaluation_seconds": evaluated - trained}
            outcome.history.append({"epoch": epoch, "loss": mean_loss, "validation": validation} | seconds)
            if validation is not None and validation[objective.selection] > state.best_score:
                state.best_score, outcome.best_epoch = validation[objective.selection], epoch
                state.best = {name: value.detach().clone() for name, value in model.state_dict().items()}
            if checkpoint and checkpoint.due and epoch < settings["epochs"]:
                checkpoint.save(state.state_dict(device))
        if state.best is None:
            raise Collapse("the predictions on validation are constant in every epoch")
        model.load_state_dict(state.best)
        trained = time.perf_counter()
        outcome.metrics = {}
        for split in EVALUATED:
            outcome.predictions, outcome.metrics[split] = evaluate(
                encoder, tokens, split, objective, settings["precision"], device
            )
        final_seconds = time.perf_counter() - trained
        constant = [split for split in EVALUATED if outcome.metrics[split] is None]
        if constant:
            raise Collapse(f"the predictions on {constant[0]} are constant")
    except Collapse as collapse:
        outcome.metrics, outcome.reason = None, str(collapse)
    seconds = time.perf_counter() - started
    evaluation_seconds = final_seconds + sum(epoch["evaluation_seconds"] for epoch in outcome.history)
    evaluations = ["validation"] * len(outcome.history) + list(EVALUATED if outcome.predictions is not None else ())
    outcome.cost = {
        "seconds": seconds,
        "training_seconds": seconds - evaluation_seconds,
        "evaluation_seconds": evaluation_seconds,
        "steps": epoch * steps_an_epoch,
        "training_tokens": epoch * sum(len(ids) for side in train.sides for ids in side),
        "evaluated_tokens": sum(distinct_tokens(tokens, split) for split in evaluations),
        "peak_memory_mb": peak_mb(device),
    }
    return outcome


def backward(
    loss_of: Callable[[Tensor], Tensor], rows: Tensor, size: int, optimiser: torch.optim.Optimizer
) -> tuple[Tensor, int]:
    """Leave the gradient of the mean loss over ``rows``, ``size`` of them at a time, half as many if memory runs out.

    ``loss_of`` gives the mean over some rows; each part counts by its share. Returns the mean over all, and the size
    that fitted.
    Raises torch.OutOfMemoryError where GPU memory does not hold a single one.
    """
    while True:
        optimiser.zero_grad()
        try:
            return sum(_add_gradient(len(part) / len(rows) * loss_of(part)) for part in rows.split(size)), size
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        size = math.ceil(size / 2)
        print(f"GPU memory does not hold the batch: {size} pairs at a time from here on")


def _add_gradient(loss: Tensor) -> Tensor:
    loss.backward()
    return loss.detach()


def evaluate_layers(
    encoder: TruncatedEncoder, tokens: Tokens, settings: dict[str, Any], device: torch.device
) -> list[Outcome]:
    """Score every layer 0..L of a pre-trained encoder, in one pass; one outcome per layer, each of the whole cost."""
    started = time.perf_counter()
    reset_peak(device)
    objective = make_objective(settings, encoder.hidden_size)
    encoder.to(device).eval()
    predictions = {}
    with torch.inference_mode():
        for split in EVALUATED:
            sequences, first, second = distinct(tokens.splits[split].sides)
            vectors = encode(encoder, sequences, tokens.pad_id, settings["precision"], device, layerwise=True)
            predictions[split] = [objective.predict(layer[first], layer[second]).cpu().numpy() for layer in vectors]
    seconds = time.perf_counter() - started
    cost = {
        "seconds": seconds,
        "training_seconds": 0.0,
        "evaluation_seconds": seconds,
        "steps": 0,
        "training_tokens": 0,
        "evaluated_tokens": sum(distinct_tokens(tokens, split) for split in EVALUATED),
        "peak_memory_mb": peak_mb(device),
    }
    outcomes = []
    for layer in range(encoder.layer + 1):
        outcome = Outcome(objective.baseline(tokens.splits["test"].labels), cost=cost)
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


def distinct_tokens(tokens: Tokens, split: str) -> int:
    """The number of tokens that one evaluation on a split computes."""
    return sum(map(len, distinct(tokens.splits[split].sides)[0]))


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
