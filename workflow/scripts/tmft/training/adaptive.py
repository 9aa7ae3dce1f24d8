"""One training that serves every layer, in the manner of 2D Matryoshka sentence embeddings (Li et al. 2024)."""

import math
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import get_linear_schedule_with_warmup

from tmft.datasets.tokens import Tokens
from tmft.encoders.packing import distinct, encode
from tmft.encoders.truncation import TruncatedEncoder
from tmft.runtime.memory import peak_mb, reset_peak
from tmft.runtime.progress import progress
from tmft.runtime.resuming import Checkpoint
from tmft.training.loop import (
    EVALUATED,
    Outcome,
    State,
    backward,
    distinct_tokens,
    make_objective,
    make_optimiser,
    score,
)


def train_adaptive(
    encoder: TruncatedEncoder,
    tokens: Tokens,
    settings: dict[str, Any],
    seed: int,
    device: torch.device,
    checkpoint: Checkpoint | None = None,
) -> list[Outcome]:
    """Fine-tune a whole encoder on the losses of all its layers together; one outcome a layer 0..L.

    The loss is the last layer's and the mean of the others', each with an objective of its own. Each layer's scores are
    from the epoch with its own best validation score, so that they need not be of one set of weights. The cost of an
    outcome is its share of the one training's: that divided by the number of layers. Seeds, collapses, ``checkpoint``
    and the lack of GPU memory are as in ``tmft.training.loop.finetune``.
    """
    started = time.perf_counter()
    reset_peak(device)
    torch.manual_seed(seed)
    shuffling = torch.Generator().manual_seed(seed)
    layers = encoder.layer + 1
    objectives = nn.ModuleList(make_objective(settings, encoder.hidden_size) for _ in range(layers))
    model = nn.ModuleList([encoder, objectives]).to(device)
    train = tokens.splits["train"]
    targets = torch.from_numpy(objectives[0].targets(train.labels))
    optimiser = make_optimiser(model, settings)
    steps_an_epoch = math.ceil(len(train) / settings["batch_size"])
    steps = settings["epochs"] * steps_an_epoch
    schedule = get_linear_schedule_with_warmup(optimiser, int(settings["warmup"] * steps), steps)
    shares = torch.tensor([1 / encoder.layer] * encoder.layer + [1.0], device=device)

    def losses_of(rows: Tensor) -> Tensor:
        sequences = [side[row] for side in train.sides for row in rows.tolist()]
        vectors = encode(encoder, sequences, tokens.pad_id, settings["precision"], device, layerwise=True)
        return shares * layer_losses(vectors, objectives, targets[rows].to(device))

    constant = "the predictions on validation are constant in every epoch"
    baseline = objectives[0].baseline(tokens.splits["test"].labels)
    micro_batch_size = settings["batch_size"]
    outcomes = [Outcome(baseline, reason=constant, micro_batch_size=micro_batch_size) for _ in range(layers)]
    state = State(model, optimiser, schedule, shuffling, outcomes, [-math.inf] * layers)
    if checkpoint and (stopped := checkpoint.load()):
        state.load_state_dict(stopped, device)
        started -= sum(epoch["seconds"] for epoch in outcomes[0].history)
        micro_batch_size = outcomes[0].micro_batch_size
    epochs = range(len(outcomes[0].history) + 1, settings["epochs"] + 1)
    for epoch in progress(epochs, f"all layers seed {seed}, epochs"):
        epoch_started = time.perf_counter()
        model.train()
        losses = torch.zeros(layers, device=device)
        order = torch.randperm(len(train), generator=shuffling)
        for batch in progress(order.split(settings["batch_size"]), "steps"):
            shared, micro_batch_size = backward(losses_of, batch, micro_batch_size, optimiser)
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip_norm"])
            optimiser.step()
            schedule.step()
            losses += shared / shares
        mean_losses = (losses / steps_an_epoch).tolist()
        if not np.isfinite(mean_losses).all():
            for outcome in outcomes:
                outcome.metrics, outcome.reason = None, f"a training loss of epoch {epoch} is not finite"
            break
        trained = time.perf_counter()
        predictions = {
            split: predict_layers(encoder, objectives, tokens, split, settings["precision"], device)
            for split in EVALUATED
        }
        evaluated = time.perf_counter()
        seconds = {"seconds": evaluated - epoch_started, "evaluation_seconds": evaluated - trained}
        for layer, (outcome, objective) in enumerate(zip(outcomes, objectives, strict=True)):
            metrics = {
                split: score(objective, split, predictions[split][layer], tokens.splits[split].labels)
                for split in EVALUATED
            }
            validation = metrics["validation"]
            outcome.micro_batch_size = micro_batch_size
            outcome.history.append({"epoch": epoch, "loss": mean_losses[layer], "validation": validation} | seconds)
            if validation is not None and validation[objective.selection] > state.best_scores[layer]:
                state.best_scores[layer], outcome.best_epoch = validation[objective.selection], epoch
                outcome.predictions = predictions["test"][layer]
                outcome.metrics, outcome.reason = metrics, None
                if metrics["test"] is None:
                    outcome.metrics, outcome.reason = None, "the predictions on test are constant"
        if checkpoint and checkpoint.due and epoch < settings["epochs"]:
            checkpoint.save(state.state_dict(device))
    seconds = time.perf_counter() - started
    evaluation_seconds = sum(epoch["evaluation_seconds"] for epoch in outcomes[0].history)
    evaluated_tokens = len(outcomes[0].history) * sum(distinct_tokens(tokens, split) for split in EVALUATED)
    cost = {
        "seconds": seconds / layers,
        "training_seconds": (seconds - evaluation_seconds) / layers,
        "evaluation_seconds": evaluation_seconds / layers,
        "steps": epoch * steps_an_epoch,
        "training_tokens": epoch * sum(len(ids) for side in train.sides for ids in side) // layers,
        "evaluated_tokens": evaluated_tokens // layers,
        "peak_memory_mb": peak_mb(device),
    }
    for outcome in outcomes:
        outcome.cost = cost
    return outcomes


def layer_losses(vectors: Tensor, objectives: nn.ModuleList, targets: Tensor) -> Tensor:
    """The loss of each layer, (layers,), of n pairs: ``vectors`` (layers, 2n, hidden) has all first sides before."""
    return torch.stack(
        [objective.loss(*layer.chunk(2), targets) for objective, layer in zip(objectives, vectors, strict=True)]
    )


def predict_layers(
    encoder: TruncatedEncoder,
    objectives: nn.ModuleList,
    tokens: Tokens,
    split: str,
    precision: str,
    device: torch.device,
) -> list[np.ndarray]:
    """Predictions (n,) of each layer on a split, without dropout, from one pass over its sentences."""
    encoder.eval()
    with torch.inference_mode():
        sequences, first, second = distinct(tokens.splits[split].sides)
        vectors = encode(encoder, sequences, tokens.pad_id, precision, device, layerwise=True)
        return [
            objective.predict(layer[first], layer[second]).cpu().numpy()
            for objective, layer in zip(objectives, vectors, strict=True)
        ]
