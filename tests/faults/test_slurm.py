"""The SLURM profile on a real cluster: the results of a local run, and again after each fault.

TMFT_TEST_SLURM=ACCOUNT:PARTITION:GPU_PARTITION says where jobs may go; without it nothing here runs.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pandas as pd
import psutil
import pytest
import yaml
from pipeline_runs import CONFIG, FIGURE, without_cost

from tmft.training.records import predictions_file

CLUSTER = os.environ.get("TMFT_TEST_SLURM")
TARGET = "results/scenes/tmft/discriminator/layer2/seed1.json"
PATIENCE = 3600  # seconds

pytestmark = pytest.mark.skipif(CLUSTER is None, reason="TMFT_TEST_SLURM names no account and partitions")
Found = TypeVar("Found")


def until(condition: Callable[[], Found]) -> Found:
    """What the condition says as soon as it says anything."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


class Run:
    """Snakemake with the SLURM profile, in the background."""

    def __init__(self, folder: Path, profile: Path, root: Path, *arguments: str) -> None:
        self.folder, self.profile, self.root = folder, profile, root
        self.printed = folder / "printed.txt"
        self.process = self._start(self.printed, *arguments)

    def _start(self, printed: Path, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "snakemake", "--workflow-profile", self.profile, "--directory", self.folder]
        quick = ["--slurm-init-seconds-before-status-checks", "2"]
        with printed.open("w") as out:
            return subprocess.Popen(
                [*map(str, command), *arguments, *quick], cwd=self.root, stdout=out, stderr=subprocess.STDOUT
            )

    @property
    def output(self) -> str:
        return self.printed.read_text()

    def again(self, *arguments: str) -> tuple[int, str]:
        """The exit status and output of a second Snakemake in the same folder."""
        printed = self.folder / "again.txt"
        status = self._start(printed, *arguments).wait(PATIENCE)
        return status, printed.read_text()

    def end(self) -> None:
        assert self.process.wait(PATIENCE) == 0, self.output

    def job(self) -> str:
        """The SLURM id of the first job."""
        return re.search(r"SLURM jobid (\d+)", self.output)[1]

    def _named(self) -> str:
        run_id = re.search(r"SLURM run ID: (\S+)", self.output)
        return f"--name={run_id[1]}"

    def queue(self) -> str:
        """The jobs that have not ended."""
        command = ["squeue", "--noheader", self._named()]
        return subprocess.run(command, text=True, capture_output=True, check=True).stdout

    def cancel(self) -> None:
        """Cancel all jobs."""
        subprocess.run(["scancel", self._named()], check=True)

    def training(self) -> psutil.Process:
        """The process that trains, stopped on the way."""

        def found() -> psutil.Process | None:
            for process in psutil.process_iter(["cmdline"]):
                match process.info["cmdline"]:
                    case [_, script] if script.startswith(str(self.folder)) and script.endswith(".finetune.py"):
                        return process

        process = until(found)
        process.suspend()
        return process

    def requests(self) -> list[tuple[int, int]]:
        """Memory (MB) and time (minutes) that each attempt asked for."""
        found = re.findall(r"resources: .*\bmem_mb=(\d+),.*\bruntime=(\d+)", self.output)
        return [(int(memory), int(minutes)) for memory, minutes in found]


@pytest.fixture(scope="module")
def profile(root, tmp_path_factory) -> Path:
    """The profile with the account and the partitions of this cluster."""
    account, partition, gpu_partition = CLUSTER.split(":")
    folder = tmp_path_factory.mktemp("profile") / "slurm"
    shutil.copytree(root / "profiles/slurm", folder)
    settings = folder / "config.yaml"
    settings.write_text(settings.read_text().replace("slurm_account: ACCOUNT", f"slurm_account: {account}"))
    partitions = {"partitions": {partition: {}, gpu_partition: {"max_gpu": 1}}}
    (folder / "partitions.yaml").write_text(yaml.safe_dump(partitions))
    return folder


@pytest.fixture
def start(profile, root) -> Iterator[Callable[..., Run]]:
    """What starts runs; those that a failed test leaves behind are ended, with their jobs."""
    runs = []

    def start(folder: Path, *arguments: str) -> Run:
        runs.append(Run(folder, profile, root, *arguments))
        return runs[-1]

    yield start
    for run in runs:
        run.process.kill()
        run.process.wait()
        run.cancel()


@pytest.fixture
def unfinished(experiment, tmp_path) -> Path:  # noqa: F811
    """A copy of the finished experiment that lacks one result."""
    shutil.copytree(experiment[0], tmp_path / "experiment")
    (tmp_path / "experiment" / TARGET).unlink()
    return tmp_path / "experiment"


def assert_same_results(made: Path, expected: Path, names: list[str]) -> None:
    assert names
    for name in names:
        own, other = (json.loads((folder / name).read_text()) for folder in (made, expected))
        pairs = zip(*([one] if isinstance(one, dict) else one for one in (own, other)), strict=True)
        assert all(without_cost(one) == without_cost(two) for one, two in pairs)
        pd.testing.assert_frame_equal(*(pd.read_parquet(predictions_file(f / name)) for f in (made, expected)))


def test_results_are_those_of_a_local_run(start, experiment, tmp_path):  # noqa: F811
    local, _ = experiment
    (tmp_path / "config.yaml").write_text("units_per_job: 3\n" + CONFIG)
    run = start(tmp_path, FIGURE)
    run.end()
    results = [str(path.relative_to(local)) for path in local.glob("results/scenes/**/*.json")]
    assert_same_results(tmp_path, local, results)
    for name in ("data/pretrained/electra/discriminator/model.safetensors", "figures/curve.csv"):
        assert (tmp_path / name).read_bytes() == (local / name).read_bytes()
    chosen = {job: partition for partition, job in re.findall(r"partition '(\S+)' for job (\S+)", run.output)}
    assert [chosen["tokenise"], chosen["finetune_depth2_batch0"]] == CLUSTER.split(":")[1:]
    assert len(re.findall(r"submitted with SLURM jobid", run.output)) == 10
    assert run.again("-n", FIGURE)[1].count("Nothing to be done") == 1


def test_a_cancelled_job_is_made_again_with_more_memory_and_time(start, unfinished, experiment):  # noqa: F811
    run = start(unfinished, TARGET)
    run.training()
    subprocess.run(["scancel", run.job()], check=True)
    run.end()
    assert_same_results(run.folder, experiment[0], [TARGET])
    first, second = run.requests()
    assert second == (2 * first[0], 2 * first[1])


def test_a_job_over_its_time_is_made_again(start, unfinished, experiment):  # noqa: F811
    run = start(unfinished, TARGET, "--set-resources", "finetune:runtime=2 if attempt == 1 else 30")
    run.training()
    run.end()
    assert "TIMEOUT" in run.output
    assert [minutes for _, minutes in run.requests()] == [2, 30]
    assert_same_results(run.folder, experiment[0], [TARGET])


def test_a_job_out_of_memory_is_made_again(start, unfinished, experiment):  # noqa: F811
    run = start(unfinished, TARGET, "--set-resources", "finetune:mem_mb=400 * 10 ** (attempt - 1)")
    run.end()
    assert [memory for memory, _ in run.requests()] == [400, 4000]
    assert_same_results(run.folder, experiment[0], [TARGET])


def test_a_killed_snakemake_goes_on_after_unlock(start, unfinished, experiment):  # noqa: F811
    run = start(unfinished, TARGET)
    run.training()
    run.process.send_signal(signal.SIGKILL)
    run.process.wait()
    assert run.queue()
    status, printed = run.again(TARGET)
    assert status != 0 and "--unlock" in printed
    run.cancel()
    until(lambda: not run.queue())
    assert not (run.folder / TARGET).exists()
    assert run.again(TARGET, "--unlock")[0] == 0
    status, printed = run.again(TARGET)
    assert status == 0, printed
    assert_same_results(run.folder, experiment[0], [TARGET])


def test_a_second_snakemake_is_refused_and_harms_nothing(start, unfinished, experiment):  # noqa: F811
    run = start(unfinished, TARGET)
    training = run.training()
    status, printed = run.again(TARGET)
    assert status != 0 and "cannot be locked" in printed
    training.resume()
    run.end()
    assert run.requests() == run.requests()[:1]
    assert_same_results(run.folder, experiment[0], [TARGET])
