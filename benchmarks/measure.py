"""Measuring: contenders in turn, child processes, and the machine itself."""

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from statistics import median

import torch


def in_turn(
    works: dict[Hashable, Callable[[], object]], repetitions: int, clock: Callable[[], float] = time.perf_counter
) -> dict[Hashable, list[float]]:
    """Seconds of each work by repetition; after a warm-up the works take turns, so that a slow spell hits all."""
    seconds = {name: [] for name in works}
    for repetition in range(repetitions + 1):
        for name, work in works.items():
            started = clock()
            work()
            if repetition:
                seconds[name].append(clock() - started)
    return seconds


def ratio(fast: list[float], slow: list[float]) -> str:
    """How many times faster one work is than another: median and range over the repetitions."""
    ratios = [other / own for own, other in zip(fast, slow, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


MEASURED = """\
import resource, subprocess, sys, time
started = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def child(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds and peak memory (MiB) of a command that must succeed.

    A small process starts it: Linux counts the memory of the process that started a command as the command's own.
    """
    run = subprocess.run([sys.executable, "-c", MEASURED, *command], cwd=folder, check=True, stdout=subprocess.PIPE)
    seconds, peak = map(float, run.stdout.split())
    return seconds, peak


PRODUCTS, SIZE = 20, 1024
PRODUCT_FLOPS = PRODUCTS * 2 * SIZE**3


def multiply() -> None:
    """The yardstick of what the machine can do: products of two float32 matrices of 1024 x 1024."""
    matrix = torch.ones(SIZE, SIZE)
    for _ in range(PRODUCTS):
        _ = matrix @ matrix


def machine() -> str:
    """Processor, threads and versions, in a line."""
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (
        f"{processor[1]}, {len(os.sched_getaffinity(0))} cores, {torch.get_num_threads()} threads; "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )
