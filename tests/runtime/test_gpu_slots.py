"""GPU slots: real processes that compete for them, on a machine with or without GPUs."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from select import select

import pytest

from tmft.runtime.gpu_slots import visible_devices

JOB = """
import os, sys
from tmft.runtime.gpu_slots import take_slot, visible_devices
print(take_slot(visible_devices(os.environ, int), int(sys.argv[1])), flush=True)
sys.stdin.read()
"""


class Jobs:
    """Processes that take a slot, say which device it is on, and hold it until they are ended."""

    def __init__(self, scratch: Path, root: Path) -> None:
        self.environment = os.environ | {"TMPDIR": str(scratch), "PYTHONPATH": str(root / "workflow/scripts")}
        self.running: list[subprocess.Popen] = []

    def start(self, number: int, devices: str, slots: int) -> list[subprocess.Popen]:
        environment = self.environment | {"CUDA_VISIBLE_DEVICES": devices}
        command = [sys.executable, "-c", JOB, str(slots)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(number)]
        self.running += started
        return started


@pytest.fixture
def jobs(tmp_path, root):
    jobs = Jobs(tmp_path, root)
    yield jobs
    for job in jobs.running:
        job.kill()
        job.wait()
        job.stdin.close()
        job.stdout.close()


def device(job: subprocess.Popen) -> str:
    return job.stdout.readline().strip()


def test_jobs_that_start_together_fill_all_slots_evenly(jobs):
    assert Counter(map(device, jobs.start(4, "2,5", slots=2))) == {"2": 2, "5": 2}


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, None])
def test_a_job_waits_until_another_ends_however_that_ends(jobs, ending):
    holders = {device(job): job for job in jobs.start(2, "2,5", slots=1)}
    assert holders.keys() == {"2", "5"}
    [waiting] = jobs.start(1, "2,5", slots=1)
    printed, *_ = select([waiting.stdout], [], [], 1)
    assert not printed and waiting.poll() is None
    if ending is None:
        holders["5"].stdin.close()
    else:
        holders["5"].send_signal(ending)
    assert device(waiting) == "5"


def test_experiments_with_other_devices_do_not_wait_for_each_other(jobs):
    assert [device(job) for job in jobs.start(1, "0", slots=1) + jobs.start(1, "GPU-1b2c", slots=1)] == [
        "0",
        "GPU-1b2c",
    ]


@pytest.mark.parametrize(
    ("inherited", "expected"),
    [("2,5", ["2", "5"]), ("GPU-1b2c, 0", ["GPU-1b2c", "0"]), ("1,-1,0", ["1"]), ("-1", []), ("", [])],
)
def test_devices_are_those_inherited(inherited, expected):
    assert visible_devices({"CUDA_VISIBLE_DEVICES": inherited}, lambda: 4) == expected


def test_devices_are_all_where_none_are_named():
    assert visible_devices({}, lambda: 3) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, "2"), ({"SLURM_JOB_ID": "7"}, "2,5")],
)
def test_a_scheduler_s_choice_is_left_alone(environment, expected, tmp_path, root):
    script = "import os; from tmft.runtime.devices import choose_device; choose_device('auto', 1, 1); "
    environment |= {
        "CUDA_VISIBLE_DEVICES": "2,5",
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(root / "workflow/scripts"),
    }
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    command = [sys.executable, "-c", script + "print(os.environ['CUDA_VISIBLE_DEVICES'])"]
    run = subprocess.run(command, env=inherited | environment, text=True, capture_output=True, check=True)
    assert run.stdout.strip() == expected
