"""Snakemake as a process that can be killed, and what two experiments have to have in common."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FILES = ("data/**/*", "results/**/*", "figures/*.csv")
CLOCK = ("cost", "seconds", "evaluation_seconds", "environment")


def start(folder: Path, *arguments: str, root: Path) -> subprocess.Popen:
    """Start Snakemake on the experiment in ``folder``, in a process group of its own."""
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]
    with (folder / "printed").open("a") as printed:
        return subprocess.Popen(command, cwd=root, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)


def wait_for(process: subprocess.Popen, folder: Path, pattern: str, seconds: float = 300) -> bool:
    """Wait until a file in ``folder`` matches ``pattern``; False where the process ended before."""
    end = time.monotonic() + seconds
    while process.poll() is None:
        if any(folder.glob(pattern)):
            return True
        assert time.monotonic() < end, f"no {pattern} after {seconds} seconds"
        time.sleep(0.005)
    return False


def kill_group(process: subprocess.Popen) -> None:
    """Kill Snakemake and all its jobs at once, as a power cut would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def comparable(folder: Path) -> dict[str, object]:
    """The content of all files of an experiment by name, without what depends on the clock.

    Provenance of downloads and what a kill leaves beside the files (``*.partial``) are no part of it.
    """
    paths = {path for pattern in FILES for path in folder.glob(pattern) if path.is_file()}
    return {str(path.relative_to(folder)): _content(path) for path in paths if ".partial" not in str(path)}


def _content(path: Path) -> object:
    if path.name.endswith("_runs.csv"):
        return [line.count(",") for line in path.read_text().splitlines()]  # has seconds
    return _timeless(json.loads(path.read_text())) if path.suffix == ".json" else path.read_bytes()


def _timeless(value: object) -> object:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in CLOCK}
    return [_timeless(item) for item in value] if isinstance(value, list) else value
