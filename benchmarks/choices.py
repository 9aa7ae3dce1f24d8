"""What the choices in docs/performance.md cost, in CPU seconds of one thread, MiniLM on STSB: `choices.py [LAYER ...]`.

A step of 32 pairs by length of the rows and in sorted chunks, and its costs in the order of their size.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch.profiler import profile

from bench import CPU, FEW, MINILM, stsb
from contenders import BATCH, SETTINGS
from measure import in_turn
from tmft import batching
from tmft.encoder import TruncatedEncoder
from tmft.training import finetune

STEPS = 4
SHOWN = 8


class Chunked(TruncatedEncoder):
    """An encoder that does not pack: its sentences go through in chunks of about the same length."""

    packs = False


def epoch(kind: type[TruncatedEncoder], layer: int, row_tokens: int) -> Callable[[], None]:
    encoder, tokens = kind.load(MINILM, layer), stsb(train=STEPS * BATCH, **FEW).tokens

    def run() -> None:
        batching.ROW_TOKENS = row_tokens
        finetune(encoder, tokens, SETTINGS | {"precision": "float32"}, 0, CPU)

    return run


def main() -> None:
    torch.set_num_threads(1)
    for layer in map(int, sys.argv[1:]):
        works = {f"rows of {tokens}": epoch(TruncatedEncoder, layer, tokens) for tokens in (32, 64, 128)}
        works["sorted chunks"] = epoch(Chunked, layer, 0)
        for name, seconds in in_turn(works, 3, time.process_time).items():
            print(f"layer {layer}, {name}: {1000 * median(seconds) / STEPS:.0f} ms a step")
        with profile() as profiled:
            works["rows of 64"]()
        spent = sorted(profiled.key_averages(), key=lambda event: -event.self_cpu_time_total)
        total = sum(event.self_cpu_time_total for event in spent)
        print(", ".join(f"{event.key} {event.self_cpu_time_total / total:.0%}" for event in spent[:SHOWN]), flush=True)


if __name__ == "__main__":
    main()
