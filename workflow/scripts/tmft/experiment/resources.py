"""What a job asks its scheduler for: memory and time, from the size of its encoder, more at each attempt."""

import os
from collections.abc import Callable
from typing import Any

from tmft.experiment.configuration import Experiment

COPIES = 10  # of the weights: gradients, AdamW's two moments, the best so far and activations are the others
LIBRARIES_MB = 3000  # Snakemake, torch and the host's side of CUDA
START_MINUTES = 60  # of any job: a queue's slow disk, loading, evaluation
GPU_MINUTES = 0.1  # for each MB of weights and FINETUNING_SENTENCES sentences
CPU_MINUTES = 1.0  # the same on two cores
FINETUNING_SENTENCES = 115_000  # two times 5,749 pairs in ten epochs: the STS benchmark as published
DAY = 1440  # minutes: no more is asked for, as partitions mostly allow no more and long jobs go on where they were


def folder_mb(folder: str) -> float:
    """Size of an encoder folder in MB, nearly all float32 weights. Raises FileNotFoundError before it is made."""
    return sum(file.stat().st_size for file in os.scandir(folder)) / 1e6


def pretraining_mb(settings: dict[str, Any], vocabulary: int) -> float:
    """Size in MB of the float32 weights that a pre-training from scratch trains, generator and discriminator alike."""
    encoders = [settings]
    if settings["objective"] == "replaced_token_detection":
        encoders.append(settings["generator"])
    layers = sum(
        sizes["layers"] * sizes["hidden_size"] * (4 * sizes["hidden_size"] + 2 * sizes["intermediate_size"])
        for sizes in encoders
    )
    return 4 * (layers + vocabulary * max(settings["hidden_size"], settings["embedding_size"])) / 1e6


def memory_mb(weights_mb: float, attempt: int) -> int:
    """Memory of a job that trains weights of this size, or only reads them."""
    return attempt * round(LIBRARIES_MB + COPIES * weights_mb)


def minutes(weights_mb: float, sentences: float, gpu: bool, attempt: int) -> int:
    """Time of a job that trains weights of this size on so many sentences, counted at each pass."""
    rate = GPU_MINUTES if gpu else CPU_MINUTES
    return min(DAY, attempt * round(START_MINUTES + rate * weights_mb * sentences / FINETUNING_SENTENCES))


def growing(amount: int) -> Callable[..., int]:
    """Memory or time that grows with each attempt."""
    return lambda wildcards, attempt: attempt * amount


def encoder_memory(folders: list[str], attempt: int) -> int:
    """Memory of a job that has one of these encoders at a time."""
    return memory_mb(max(map(folder_mb, folders)), attempt)


def training_time(folders: list[str], gpu: bool, attempt: int) -> int:
    """Time of a job that fine-tunes these encoders in turn."""
    return minutes(max(map(folder_mb, folders)), len(folders) * FINETUNING_SENTENCES, gpu, attempt)


def pretraining_memory(experiment: Experiment, key: str) -> Callable[..., int]:
    """Memory of a pre-training, as a function of the attempt."""
    weights_mb = _pretrained_mb(experiment, key)
    return lambda wildcards, attempt: memory_mb(weights_mb, attempt)


def pretraining_time(experiment: Experiment, key: str, gpu: bool) -> Callable[..., int]:
    """Time of a pre-training, as a function of the attempt."""
    weights_mb, settings = _pretrained_mb(experiment, key), experiment.pretraining(key)
    sentences = settings["steps"] * settings["batch_size"]
    return lambda wildcards, attempt: minutes(weights_mb, sentences, gpu, attempt)


def _pretrained_mb(experiment: Experiment, key: str) -> float:
    """Size of the weights that a pre-training trains; an encoder's own vocabulary is taken as BERT's."""
    settings = experiment.pretraining(key)
    tokenizer = experiment.settings["tokenizers"].get(settings["tokenizer"], {"size": 30522})
    return pretraining_mb(settings, tokenizer["size"])
