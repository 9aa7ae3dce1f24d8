"""The peak memory of a run: of the GPU's memory what torch allocated, on CPU what the process held."""

import resource
from contextlib import suppress
from pathlib import Path

import torch


def reset_peak(device: torch.device) -> None:
    """Begin a new peak, so that runs in one process are told apart; without /proc the peak is the process's so far."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def peak_mb(device: torch.device) -> float:
    """Millions of bytes at the peak since ``reset_peak``."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
