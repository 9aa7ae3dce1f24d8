"""The weights of a transformers model in a folder."""

from pathlib import Path

from safetensors.torch import save
from transformers import PreTrainedModel

SAFETENSORS = "model.safetensors"


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """Write config.json and weights; through Python, where a full disk is an OSError."""
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    (folder / SAFETENSORS).write_bytes(save(tensors, {"format": "pt"}))
