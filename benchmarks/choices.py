"""What the choices in docs/performance.md cost, in CPU seconds of one thread, MiniLM on STSB: `choices.py [LAYER ...]`.

A step of 32 pairs by length of the rows, in sorted chunks and compiled, and the costs of a step and of an evaluation
in the order of their size.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch.profiler import profile

from bench import CPU, FEW, MINILM, stsb
from contenders import BATCH, SETTINGS, Pipeline
from measure import in_turn
from tmft.encoders import packing as batching
from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.loop import finetune

STEPS = 4
SHOWN = 8


class Chunked(TruncatedEncoder):
    """An encoder that does not pack: its sentences go through in chunks of about the same length."""

    packs = property(lambda _: False)


def epoch(
    kind: type[TruncatedEncoder], layer: int, row_tokens: int = batching.ROW_TOKENS, compiled: bool = False
) -> Callable[[], None]:
    encoder, tokens = kind.load(MINILM, layer), stsb(train=STEPS * BATCH, **FEW).tokens
    if compiled:
        encoder.model.compile(dynamic=True)

    def run() -> None:
        batching.ROW_TOKENS = row_tokens
        finetune(encoder, tokens, SETTINGS | {"precision": "float32", "dropout": "from_the_first_step"}, 0, CPU)

    return run


def costs(work: Callable[[], None]) -> str:
    """The largest shares of the CPU time that a work spends, by operation."""
    with profile() as profiled:
        work()
    spent = sorted(profiled.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in spent)
    return ", ".join(f"{event.key} {event.self_cpu_time_total / total:.0%}" for event in spent[:SHOWN])


def main() -> None:
    torch.set_num_threads(1)
    evaluated = stsb(train=1, validation=1500, test=1379)
    for layer in map(int, sys.argv[1:]):
        works = {f"rows of {tokens}": epoch(TruncatedEncoder, layer, tokens) for tokens in (32, 64, 128)}
        works["sorted chunks"] = epoch(Chunked, layer)
        if layer:
            works["compiled"] = epoch(TruncatedEncoder, layer, compiled=True)
            started = time.perf_counter()
            works["compiled"]()
            print(f"layer {layer}, compiling and an epoch: {time.perf_counter() - started:.0f} s")
        for name, seconds in in_turn(works, 3, time.process_time).items():
            print(f"layer {layer}, {name}: {1000 * median(seconds) / STEPS:.0f} ms a step")
        print(f"layer {layer}, a step: {costs(works['rows of 64'])}")
        evaluation = Pipeline(MINILM, layer, evaluated, CPU, "float32").evaluate
        print(f"layer {layer}, evaluation: {costs(evaluation)}", flush=True)


if __name__ == "__main__":
    main()
