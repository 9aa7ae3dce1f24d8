"""What a layer costs: the CPU time of a sentence on one thread, and the size of the weights."""

import statistics
import time
from pathlib import Path
from typing import Any

import torch

from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.origin import encoder_origin
from tmft.encoders.truncation import TruncatedEncoder, read_config, usable_length
from tmft.runtime.devices import choose_device
from tmft.runtime.environment import environment
from tmft.runtime.errors import InputError

BATCH_SIZE, TOKENS = 32, 32
WARM_UP, REPEATS = 2, 9


def measure(folder: Path, threads: int) -> dict[str, Any]:
    """What a sentence costs at each layer of the encoder in ``folder``, and what it was measured with."""
    device = choose_device("cpu", threads)
    return {
        "encoder": encoder_origin(folder),
        "batch_size": BATCH_SIZE,
        "tokens": TOKENS,
        "warm_up": WARM_UP,
        "repeats": REPEATS,
        "processor": processor(),
        "environment": environment(device),
        "layers": measure_layers(folder),
    }


def measure_layers(folder: Path) -> list[dict[str, Any]]:
    """For each layer of the encoder in ``folder``: bytes of the weights, seconds of CPU time for a batch.

    ``seconds`` is the median of REPEATS passes over BATCH_SIZE random sentences of TOKENS tokens, after WARM_UP others,
    ``quartiles`` the first and the third; on one thread, CPU time is that of the clock, without what other processes
    take. Training changes neither time nor size, so that the pre-trained encoder stands for what is fine-tuned from it.
    Raises InputError for an encoder that takes fewer than TOKENS tokens.
    """
    config = read_config(folder)
    longest = usable_length(config, load_tokenizer(folder))
    if longest < TOKENS:
        raise InputError(f"{folder}: takes at most {longest} tokens, costs are measured at {TOKENS}; leave it out")
    return [_measure(TruncatedEncoder.load(folder, layer)) for layer in range(config.num_hidden_layers + 1)]


def _measure(encoder: TruncatedEncoder) -> dict[str, Any]:
    ids = torch.randint(encoder.model.config.vocab_size, (BATCH_SIZE, TOKENS))
    mask = torch.ones_like(ids)
    seconds = []
    with torch.inference_mode():
        for _ in range(WARM_UP + REPEATS):
            started = time.process_time()
            encoder(ids, mask)
            seconds.append(time.process_time() - started)
    first, median, third = statistics.quantiles(seconds[WARM_UP:], n=4)
    return {
        "layer": encoder.layer,
        "bytes": sum(tensor.nbytes for tensor in encoder.state_dict().values()),
        "seconds": median,
        "quartiles": [first, third],
    }


def processor() -> str:
    """The name of the CPU, as Linux gives it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown CPU")
