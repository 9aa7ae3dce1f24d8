"""Where a job computes."""

import torch

from tmft.errors import InputError


def choose_device(configured: str, threads: int, precision: str = "float32") -> torch.device:
    """The device of the config key ``device``: ``auto`` is a GPU where there is one.

    Sets torch's CPU threads to the rule's, so that jobs side by side do not fight, and lets a GPU multiply float32
    matrices in TF32 where ``precision`` is tf32. Raises InputError where a GPU is asked for and none is there.
    """
    torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    available = torch.cuda.is_available()
    if configured == "cuda" and not available:
        raise InputError("config: device is 'cuda', but torch finds no GPU; set it to 'auto' or 'cpu'")
    return torch.device("cuda" if available and configured != "cpu" else "cpu")
