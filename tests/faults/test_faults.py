"""Real faults on a real experiment in small: after each, the documented command ends in the undisturbed results."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pipeline_runs import comparable, kill_group, start, wait_for

CONFIG = """
device: cpu
threads: {finetune: 1, pretrain: 1}
checkpoint_minutes: {pretrain: 0}
units_per_job: 3
seeds: [0]
training: {epochs: 20, learning_rate: 1e-3}
tasks:
  scenes: {scenes: {train: 120, validation: 40, test: 40}, objective: cosine_regression}
corpora:
  scenes: {scenes: {sentences: 600, exclude: [scenes]}}
tokenizers:
  scenes: {corpus: scenes, size: 300, max_length: 32}
pretraining:
  electra:
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
    steps: 100
    snapshots: [20, 60]
adaptation:
  more: {corpus: scenes, epochs: 1}
encoders:
  discriminator: {pretraining: electra, part: discriminator}
  early: {pretraining: electra, part: discriminator, step: 20}
recipes:
  tmft: {kind: finetune}
  dapt: {kind: finetune, start: {adaptation: more}}
figures:
  curve: {kind: layer_curve, task: scenes, recipes: [tmft, dapt], encoders: [discriminator], layers: [0, 2]}
"""
FIGURE = "figures/curve.pdf"
RESULT = "results/scenes/tmft/discriminator/layer2/seed0.json"


def finished(folder: Path, *arguments: str, root: Path) -> tuple[int, str]:
    """Run Snakemake to its end; its exit status and what it printed."""
    (folder / "printed").unlink(missing_ok=True)
    status = start(folder, "--cores", "2", *arguments, root=root).wait()
    return status, (folder / "printed").read_text()


def go_on(folder: Path, root: Path, target: str = FIGURE) -> None:
    """What docs/reliability.md tells to do after a kill."""
    finished(folder, "--unlock", root=root)
    status, printed = finished(folder, target, root=root)
    assert status == 0, printed


def forget(folder: Path, made: str) -> None:
    """Remove some results, and what was made of them."""
    for path in (made, "results/tables", "figures"):
        shutil.rmtree(folder / path)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, root) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "config.yaml").write_text(CONFIG)
    status, printed = finished(folder, FIGURE, root=root)
    assert status == 0, printed
    return folder


@pytest.fixture
def copied(undisturbed, tmp_path) -> Path:
    return Path(shutil.copytree(undisturbed, tmp_path / "copied"))


def test_all_is_killed_at_every_stage(undisturbed, tmp_path, root):
    """In pre-training, in adaptation, in fine-tuning, between two runs of a job, and at random moments."""
    folder, draw = tmp_path, random.Random(0)
    (folder / "config.yaml").write_text(CONFIG)
    moments = [
        "results/pretraining/*.checkpoint",
        "data/pretrained/electra/discriminator-step60.finished",
        "results/adaptation/more/*.checkpoint",
        "results/scenes/*/*/*/seed0.json.checkpoint",
        "results/scenes/*/*/*/seed0.json.finished",
    ]
    resumed = 0
    for moment in [*moments, None, None]:
        process = start(folder, "--cores", "2", FIGURE, root=root)
        if moment:
            assert wait_for(process, folder, moment), f"{moment}: {(folder / 'printed').read_text()}"
        else:
            time.sleep(draw.uniform(3, 10))
        kill_group(process)
        resumed += sum("the run goes on from here" in log.read_text() for log in folder.glob("logs/**/*.log"))
        finished(folder, "--unlock", root=root)
    go_on(folder, root)
    assert resumed >= 3
    assert comparable(folder) == comparable(undisturbed)
    assert not [path for path in folder.glob("results/**/*") if path.suffix in (".checkpoint", ".finished")]


def test_snakemake_alone_is_killed(copied, undisturbed, root):
    """Its jobs go on while the next Snakemake starts them again: two processes write the same files."""
    forget(copied, "results/scenes/tmft")
    process = start(copied, "--cores", "2", FIGURE, root=root)
    assert wait_for(process, copied, "results/scenes/tmft/**/*.checkpoint")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    go_on(copied, root)
    assert comparable(copied) == comparable(undisturbed)


def test_a_damaged_result_is_named_before_any_work_and_recomputed_once_removed(copied, undisturbed, root):
    """One cut short and one of an older format; their predictions are recomputed with them."""
    (copied / RESULT).write_bytes((copied / RESULT).read_bytes()[:200])
    old = Path(RESULT).parents[1] / "layer0" / "seed0.json"
    (copied / old).write_text('{"format": 0}')
    remedy = "remove it and run the same command again"
    for file, problem in ((old, "not a result of format 1"), (RESULT, "not a whole JSON file")):
        for arguments in (["-n"], []):
            status, printed = finished(copied, FIGURE, *arguments, root=root)
            assert status != 0 and f"{file}: {problem}; {remedy}" in printed and "rule finetune" not in printed
        (copied / file).unlink()
    assert finished(copied, FIGURE, root=root)[0] == 0
    assert comparable(copied) == comparable(undisturbed)
    assert "Nothing to be done" in finished(copied, FIGURE, root=root)[1]


def test_job_fails_under_keep_incomplete(copied, undisturbed, root):
    """Its half result has no final name, so that nothing passes for complete."""
    weights = copied / "data/pretrained/electra/discriminator/model.safetensors"
    whole = weights.read_bytes()
    forget(copied, "results/scenes/tmft")
    weights.write_bytes(whole[:1000])
    status, printed = finished(copied, "--keep-incomplete", FIGURE, root=root)
    assert status and "Error in rule finetune" in printed and not (copied / RESULT).exists()
    weights.write_bytes(whole)
    go_on(copied, root)
    assert comparable(copied) == comparable(undisturbed)


@pytest.fixture
def on_disk(undisturbed, tmp_path) -> Iterator[tuple[Path, Path]]:
    """The experiment without the results of one job, and the small disk that holds its results."""
    disk, folder = tmp_path / "disk", tmp_path / "copied"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]).returncode:
        pytest.skip("only an administrator can mount a disk")
    shutil.copytree(undisturbed, folder, ignore=shutil.ignore_patterns("results"))
    shutil.copytree(undisturbed / "results", disk / "results")
    (folder / "results").symlink_to(disk / "results")
    forget(folder, "results/scenes/tmft")
    yield folder, disk
    subprocess.run(["umount", disk], check=True)


def test_full_disk(on_disk, undisturbed, root):
    folder, disk = on_disk
    kept = comparable(folder)
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    status, printed = finished(folder, FIGURE, root=root)
    assert status and comparable(folder) == kept
    problem = r"Error in rule finetune\w*: .*: no space left on device; free some and run the same command again"
    assert re.search(problem + r".* \(log: logs/finetune/", printed), printed
    (disk / "filler").unlink()
    go_on(folder, root)
    assert comparable(folder) == comparable(undisturbed)


def test_read_only_disk(on_disk, undisturbed, root):
    folder, disk = on_disk
    kept = comparable(folder)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    status, printed = finished(folder, FIGURE, root=root)
    assert status and comparable(folder) == kept
    assert re.search(r"[Rr]ead-only file system: '?results/scenes", printed), printed
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    go_on(folder, root)
    assert comparable(folder) == comparable(undisturbed)
