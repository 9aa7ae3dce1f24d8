"""The memory of a process: what it keeps between steps, and the peak of a run.

The peak is on a GPU that of what torch allocated, on CPU that of what the process held.
"""

import ctypes
import resource
from contextlib import suppress
from pathlib import Path

import torch

LIBC = ctypes.CDLL(None)
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Names and numbers of glibc's settings (malloc.h)."""


def keep_freed_memory() -> None:
    """Let glibc keep freed blocks for the next step.

    By default it gives those of more than 32 MB, as the gradient of word embeddings, back to the system, which has to
    find and zero the pages anew each time. Another C library is left as it is.
    """
    if hasattr(LIBC, "mallopt"):
        LIBC.mallopt(M_MMAP_MAX, 0)
        LIBC.mallopt(M_TRIM_THRESHOLD, -1)


def reset_peak(device: torch.device) -> None:
    """Begin a new peak, so that runs in one process are told apart; without /proc the peak is the process's so far."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        if hasattr(LIBC, "malloc_trim"):
            LIBC.malloc_trim(0)
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def peak_mb(device: torch.device) -> float:
    """Millions of bytes at the peak since ``reset_peak``."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
