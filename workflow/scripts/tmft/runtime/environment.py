"""What a result was computed with: device, threads and versions."""

import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy")


def environment(device: "torch.device") -> dict[str, Any]:
    """Device, threads and versions of the main libraries."""
    import torch

    return {
        "device": device.type,
        "device_name": _device_name(device),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }


def _device_name(device: "torch.device") -> str:
    """The name of the GPU, or of the processor, where Linux knows it, or else its architecture."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.machine()
