"""Real faults on a real experiment in small: after each, the documented command ends in the undisturbed results."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
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
        status, printed = finished(folder, FIGURE, root=root)
        assert status and "--unlock" in printed
        finished(folder, "--unlock", root=root)
    go_on(folder, root)
    assert resumed >= 3
    assert comparable(folder) == comparable(undisturbed)
    assert not [path for path in folder.glob("results/**/*") if path.suffix in (".checkpoint", ".finished")]


def test_snakemake_alone_is_killed(copied, undisturbed, root):
    """Its jobs go on while the next Snakemake starts them again: two processes write the same files."""
    for path in copied.glob("results/scenes/tmft/**/*.json"):
        path.unlink()
    process = start(copied, "--cores", "2", FIGURE, root=root)
    assert wait_for(process, copied, "results/scenes/tmft/**/*.checkpoint")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    go_on(copied, root)
    assert comparable(copied) == comparable(undisturbed)


def test_a_damaged_result_is_named_and_made_again(copied, undisturbed, root):
    for content in (b"", b'{"format": 0}', (copied / RESULT).read_bytes()[:200]):
        (copied / RESULT).write_bytes(content)
        status, printed = finished(copied, FIGURE, root=root)
        assert status == 0 and f"{RESULT}: not a " in printed and "it is made again" in printed
        assert comparable(copied) == comparable(undisturbed)
    assert "Nothing to be done" in finished(copied, FIGURE, root=root)[1]


def test_job_fails_under_keep_incomplete(copied, undisturbed, root):
    """Its half result has no final name, so that nothing passes for complete."""
    weights = copied / "data/pretrained/electra/discriminator/model.safetensors"
    whole = weights.read_bytes()
    shutil.rmtree(copied / "results/scenes/tmft")
    weights.write_bytes(whole[:1000])
    status, printed = finished(copied, "--keep-incomplete", FIGURE, root=root)
    assert status and "Error in rule finetune" in printed and not (copied / RESULT).exists()
    weights.write_bytes(whole)
    go_on(copied, root)
    assert comparable(copied) == comparable(undisturbed)


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """A disk for one experiment."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]).returncode:
        pytest.skip("only an administrator can mount a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_full_disk(disk, undisturbed, root):
    results = disk / "results"
    shutil.copytree(undisturbed / "results", results)
    folder = disk.parent / "copied"
    shutil.copytree(undisturbed, folder, ignore=shutil.ignore_patterns("results"))
    (folder / "results").symlink_to(results)
    kept = (results / "scenes/dapt/discriminator/layer2/seed0.json").read_bytes()
    shutil.rmtree(results / "scenes/tmft")
    filler = disk / "filler"
    with filler.open("wb") as stream:
        try:
            while True:
                stream.write(bytes(4096))
                stream.flush()
        except OSError:
            pass
    status, printed = finished(folder, FIGURE, root=root)
    assert status
    assert "no space left on device; free some and run the same command again (log: " in printed
    assert (results / "scenes/dapt/discriminator/layer2/seed0.json").read_bytes() == kept
    filler.unlink()
    go_on(folder, root)
    assert comparable(folder) == comparable(undisturbed)


def test_read_only_disk(disk, undisturbed, root):
    results = disk / "results"
    shutil.copytree(undisturbed / "results", results)
    folder = disk.parent / "copied"
    shutil.copytree(undisturbed, folder, ignore=shutil.ignore_patterns("results"))
    (folder / "results").symlink_to(results)
    shutil.rmtree(results / "scenes/tmft/discriminator/layer2")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    status, printed = finished(folder, FIGURE, root=root)
    print(printed)
    assert status
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    go_on(folder, root)
    assert comparable(folder) == comparable(undisturbed)
