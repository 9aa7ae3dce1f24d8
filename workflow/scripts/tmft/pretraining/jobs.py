"""The job of a pre-training: what identifies it, its checkpoint, and what it leaves."""

from collections.abc import Callable
from typing import Any

from tmft.runtime.devices import device_of
from tmft.runtime.environment import environment
from tmft.runtime.files import file_sha256, files_sha256, release, write_json
from tmft.runtime.job import Job
from tmft.runtime.resuming import Checkpoint


def pretrain_by(pretrain: Callable[..., dict[str, Any]], work: Job) -> None:
    """Do a rule's job by an objective's ``pretrain``: encoders, snapshots, and the metrics of the pre-training."""
    settings, device = work.params.settings, device_of(work)
    identity = {
        "settings": settings,
        "corpus": file_sha256(work.input.corpus),
        "tokenizer": files_sha256(work.input.tokenizer.iterdir()),
        "code": work.params.code,
        "device": device.type,
    }
    checkpoint = Checkpoint(work.output.metrics, identity, work.config["checkpoint_minutes"]["pretrain"])
    inputs = work.input.corpus, work.input.tokenizer
    metrics = pretrain(*inputs, *work.output.parts, settings, settings["seed"], device, checkpoint)
    write_json(work.output.metrics, metrics | {"environment": environment(device)})
    checkpoint.remove()
    release(work.output.snapshots)
