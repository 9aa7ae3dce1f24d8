"""Encoders kept on the way through one pre-training, and what they cost up to there."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmft.pretraining.batches import Batch


def snapshot_folder(folder: Path, step: int) -> Path:
    """Where an encoder that ends in ``folder`` is kept as it was after ``step`` steps."""
    return folder.with_name(f"{folder.name}-step{step}")


class Snapshots:
    """Called after each step of a run: adds up its FLOPs, and calls ``save(step)`` after each of ``steps``.

    ``count(batch)`` are the FLOPs of a step on a batch. Saving must not touch weights or random numbers.

    What is saved waits for the end of the run (files.waiting), so that it is still there when a stopped run goes on.
    """

    def __init__(self, steps: Collection[int], count: Callable[["Batch"], int], save: Callable[[int], None]):
        self.steps, self.count, self.save = steps, count, save
        self.flops = 0
        self.taken = []

    def __call__(self, step: int, batch: "Batch") -> None:
        self.flops += self.count(batch)
        if step in self.steps:
            self.save(step)
            self.taken.append({"steps": step, "flops": self.flops})

    @property
    def metrics(self) -> dict[str, Any]:
        """The FLOPs of the whole run, and of each snapshot up to its step."""
        return {"flops": self.flops, "snapshots": self.taken}

    def state_dict(self) -> dict[str, Any]:
        return self.metrics

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.flops, self.taken = state["flops"], state["snapshots"]
