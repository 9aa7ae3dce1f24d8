"""One of a machine's GPU slots for each job, by lock, so that jobs side by side spread over the devices."""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path

WAIT_SECONDS = 1.0


def visible_devices(environment: Mapping[str, str], count: Callable[[], int]) -> list[str]:
    """The devices that a process may use: those that CUDA_VISIBLE_DEVICES names, else all ``count()`` of the machine.

    As for CUDA itself the names end at the first that is no device; so "" and "-1" leave none.
    """
    inherited = environment.get("CUDA_VISIBLE_DEVICES")
    if inherited is None:
        return [str(device) for device in range(count())]
    names = (name.strip() for name in inherited.split(","))
    return list(takewhile(lambda name: name not in ("", "-1"), names))


def take_slot(devices: list[str], slots: int) -> str:
    """Wait for a free one of ``slots`` slots on each of the devices, and return its device.

    The slot stays this process's until it ends, however it ends: it is a lock of the kernel on a file in the folder
    for temporary files, one a user, device and slot. Devices are filled evenly.
    """
    folder = Path(tempfile.gettempdir(), f"tmft-gpu-slots-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        for slot in range(slots):
            for device in devices:
                if _lock(folder / f"{device}.slot{slot}"):
                    return device
        time.sleep(WAIT_SECONDS)


def _lock(path: Path) -> bool:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True  # the file stays open: closing it would give the lock back
