"""A small experiment, Snakemake as a process that can be killed, and what two experiments have to have in common."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIG = """
device: auto
threads: {finetune: 1, pretrain: 1}
seeds: [0, 1]
training: {epochs: 2, learning_rate: 1e-3}
tasks:
  scenes: {scenes: {train: 60, validation: 30, test: 30}, objective: cosine_regression}
corpora:
  scenes: {scenes: {sentences: 300, exclude: [scenes]}}
tokenizers:
  scenes: {corpus: scenes, size: 300, max_length: 32}
pretraining:
  electra: &tiny
    objective: replaced_token_detection
    corpus: scenes
    tokenizer: scenes
    layers: 2
    hidden_size: 16
    attention_heads: 2
    intermediate_size: 32
    embedding_size: 16
    generator: {layers: 2, hidden_size: 8, attention_heads: 1, intermediate_size: 16}
    max_length: 32
    batch_size: 8
    steps: 20
encoders:
  discriminator: {pretraining: electra, part: discriminator}
recipes:
  tmft: {kind: finetune}
  frozen: {kind: frozen}
figures:
  curve: {kind: layer_curve, task: scenes, recipes: [tmft, frozen], encoders: [discriminator], layers: [0, 2]}
"""
FIGURE = "figures/curve.pdf"
FILES = ("data/**/*", "results/**/*", "figures/*.csv")
CLOCK = ("cost", "seconds", "evaluation_seconds", "environment")


def snakemake(folder: Path, *arguments: str, root: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run Snakemake on the experiment in ``folder``."""
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]
    env = os.environ | environment
    return subprocess.run(command, cwd=root, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


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


def without_cost(record: dict) -> dict:
    """A result without what depends on the clock."""
    history = [{key: value for key, value in epoch.items() if "seconds" not in key} for epoch in record["history"]]
    return {key: value for key, value in record.items() if key != "cost"} | {"history": history}


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
