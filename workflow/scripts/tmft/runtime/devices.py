"""Where a job computes."""

import os

import torch

from tmft.runtime.errors import InputError
from tmft.runtime.gpu_slots import take_slot, visible_devices
from tmft.runtime.job import Job
from tmft.runtime.memory import keep_freed_memory


def device_of(job: Job, precision: str = "float32") -> torch.device:
    """The device that the configuration gives a rule's job (``choose_device``)."""
    return choose_device(job.config["device"], job.threads, job.config["gpu_slots"], precision)


def choose_device(configured: str, threads: int, gpu_slots: int = 1, precision: str = "float32") -> torch.device:
    """The device of the config key ``device``: ``auto`` is a GPU where there is one.

    Of several GPUs the process gets one with a free slot of ``gpu_slots``, and waits for it; a scheduler's choice
    (SLURM) is left alone. Sets torch's CPU threads to the rule's, so that jobs side by side do not fight, lets the
    process keep the memory it frees, and lets a GPU multiply float32 matrices in TF32 where ``precision`` is tf32.
    Raises InputError where a GPU is asked for and none is there.
    """
    torch.set_num_threads(threads)
    keep_freed_memory()
    if configured == "cpu":
        return torch.device("cpu")
    if "SLURM_JOB_ID" not in os.environ:
        # device_count asks the driver's library, and leaves CUDA free to see another choice of devices
        devices = visible_devices(os.environ, torch.cuda.device_count)
        if devices:
            os.environ["CUDA_VISIBLE_DEVICES"] = take_slot(devices, gpu_slots)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    available = torch.cuda.is_available()
    if configured == "cuda" and not available:
        raise InputError("config: device is 'cuda', but torch finds no GPU; set it to 'auto' or 'cpu'")
    return torch.device("cuda" if available else "cpu")
