"""Which jobs are at work: each keeps a file beside its log, whose time stamp says when it last was alive.

It needs nothing but the shared folder, so that it holds for jobs on other nodes and under any scheduler.
"""

import time
from contextlib import suppress
from pathlib import Path

INTERVAL = 30.0  # seconds between two beats
SILENCE = 4 * INTERVAL  # after which a job is taken for dead: killed, or its machine lost


def running_file(log: Path) -> Path:
    """The file of the job with this log; it holds the job's outputs, one a line."""
    return log.with_suffix(".running")


def files_under_way(logs: Path) -> set[str]:
    """The outputs of all jobs that are at work, from the folder of all logs."""
    outputs: set[str] = set()
    for file in logs.rglob("*.running"):
        with suppress(FileNotFoundError):  # its job has ended in the meantime
            if time.time() - file.stat().st_mtime < SILENCE:
                outputs.update(file.read_text().splitlines())
    return outputs
