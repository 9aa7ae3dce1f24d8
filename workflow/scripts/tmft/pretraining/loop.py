"""The training loop that all of pre-training shares."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from tmft.pretraining.batches import Batch, Batches, derived_seed
from tmft.pretraining.snapshots import Snapshots
from tmft.runtime.errors import InputError
from tmft.runtime.progress import progress
from tmft.runtime.resuming import Checkpoint

POINTS = 20  # of the history
CHECK = 100  # steps between two looks at the loss: each makes an accelerator wait


@dataclass
class Progress:
    """What a run has seen and measured after some steps; ``records`` are the measures since the last of ``history``."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    maskable: int = 0
    masked: int = 0
    records: list[Tensor] = field(default_factory=list)
    history: list[dict[str, float | None]] = field(default_factory=list)


def train(
    objective: nn.Module,
    batches: Batches,
    settings: dict[str, Any],
    seed: int,
    device: str | torch.device,
    scheduled: int | None = None,
    snapshots: Snapshots | None = None,
    checkpoint: Checkpoint | None = None,
    dropout: bool = True,
) -> dict[str, Any]:
    """Train ``objective`` for ``steps`` batches with AdamW, linear warm-up and linear decay to 0.

    Batches of more than ``batch_size`` sentences are taken in parts. ``scheduled`` is the number of steps that warm-up
    and decay are laid out for, if it is not ``steps``. Without ``dropout`` that of the model does not act.

    ``objective(batch)`` returns the loss and a dict of named measures, all scalar tensors. From one step to the next
    only the objective, the optimiser, the snapshots and what Progress holds change; all else, random numbers too,
    follows from seed and step. So a run goes on from its ``checkpoint`` as if it had never been stopped.

    Returns the means of the measures over the last 5 % of the steps; as ``history`` those over each 5 %; the tokens
    seen, without padding; the share of maskable tokens that were masked; and the seconds taken. A measure that a batch
    leaves undefined (NaN) is averaged over the other batches, and None if there are none.
    Raises InputError when the loss or its gradient is not finite.
    """
    steps, started = settings["steps"], time.perf_counter()
    clip_norm = math.inf if settings["clip_norm"] is None else settings["clip_norm"]
    objective.to(device).train(dropout)
    optimiser = adamw(objective, settings)
    run, stateful = Progress(), {"objective": objective, "optimiser": optimiser}
    if snapshots:
        stateful["snapshots"] = snapshots
    if checkpoint and (stopped := checkpoint.load()):
        run = Progress(**stopped["run"])
        run.records = [record.to(device) for record in run.records]
        started -= run.seconds
        for name, part in stateful.items():
            part.load_state_dict(stopped[name])
    for step in progress(range(run.steps, steps), "Pre-training"):
        batch = batches[step]
        torch.manual_seed(derived_seed(seed, "model", step))
        loss, measures = accumulate(objective, batch, settings["batch_size"], device)
        norm = nn.utils.clip_grad_norm_(objective.parameters(), clip_norm)
        for group in optimiser.param_groups:
            group["lr"] = settings["learning_rate"] * schedule(step, scheduled or steps, settings["warmup"])
        optimiser.step()
        optimiser.zero_grad()
        run.steps = step + 1
        if snapshots:
            snapshots(run.steps, batch)

        run.tokens += len(batch.tokens)
        run.maskable += len(batch.maskable)
        run.masked += len(batch.masked)
        run.records.append(torch.stack(list(measures.values())).detach())
        part_ends = (step + 1) * POINTS // steps > step * POINTS // steps
        if part_ends or step % CHECK == 0:
            stop_if_diverged(step, loss, norm)
        if part_ends:
            means = torch.stack(run.records).nanmean(0).tolist()
            run.history.append(
                {"steps": step + 1} | {name: number_or_none(mean) for name, mean in zip(measures, means, strict=True)}
            )
            run.records.clear()
        run.seconds = time.perf_counter() - started
        if checkpoint and checkpoint.due and run.steps < steps:
            checkpoint.save({"run": vars(run)} | {name: part.state_dict() for name, part in stateful.items()})
    return run.history[-1] | {
        "sentences": len(batches.corpus.lengths),
        "sentences_truncated": batches.corpus.truncated,
        "newly_initialised": "all",
        "seed": seed,
        "settings": settings,
        "tokens_seen": run.tokens,
        "masked_share": run.masked / max(1, run.maskable),
        "seconds": run.seconds,
        "history": run.history,
    }


def accumulate(
    objective: nn.Module, batch: Batch, size: int, device: str | torch.device
) -> tuple[Tensor, dict[str, Tensor]]:
    """Add the gradient of a batch's loss, ``size`` sentences at a time; return the batch's loss and measures.

    Each part counts by its masked tokens, so that a mean over these is the same as from the whole batch at once.
    """
    parts = batch.split(size)
    losses, measures = [], []
    for part in parts:
        share = len(part.masked) / len(batch.masked) if len(batch.masked) else 1 / len(parts)
        loss, own = objective(part.to(device))
        (share * loss).backward()
        losses.append(share * loss.detach())
        measures.append({name: share * measure.detach() for name, measure in own.items()})
    return sum(losses), {name: sum(own[name] for own in measures) for name in measures[0]}


def adamw(objective: nn.Module, settings: dict[str, Any]) -> torch.optim.AdamW:
    """AdamW over each trained parameter once, also shared ones, without decay on biases and normalisation weights."""
    parameters = [parameter for parameter in objective.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings["weight_decay"]},
        {"params": [p for p in parameters if p.ndim == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=tuple(settings["betas"]), eps=settings["epsilon"], fused=True)


def schedule(step: int, steps: int, warmup: float) -> float:
    """The factor on the learning rate: linear to 1 over the first ``warmup`` share of the steps, then linear to 0."""
    rising = round(warmup * steps)
    return min((step + 1) / max(1, rising), (steps - step) / max(1, steps - rising))


def stop_if_diverged(step: int, loss: Tensor, norm: Tensor) -> None:
    if not (math.isfinite(loss.item()) and math.isfinite(norm.item())):
        raise InputError(
            f"pre-training diverged by step {step + 1}: loss {loss.item()}, norm of its gradient {norm.item()}; "
            "lower learning_rate or lengthen warmup"
        )


def number_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
