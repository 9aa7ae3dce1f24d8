"""The weights of a transformers model in a folder: which files hold them, and writing them."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_folder, files_sha256, write_json

SAFETENSORS = "model.safetensors"
PICKLE = "pytorch_model.bin"
INDEX = ".index.json"  # beside shards, it names them


def weight_files(folder: Path) -> list[Path]:
    """The files that loading takes the weights from: one, or the index of shards and all that it names; else none."""
    for name in (SAFETENSORS, PICKLE):
        index = folder / f"{name}{INDEX}"
        if (folder / name).exists():
            return [folder / name]
        if index.exists():
            return [index, *(folder / shard for shard in shards(index))]
    return []


def shards(index: Path) -> list[str]:
    """The names of the shards that an index names. Raises InputError for a damaged one."""
    try:
        return sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{index}: not the index of a checkpoint in shards; fetch the encoder again") from error


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """Write config.json and weights; through Python, where a full disk is an OSError."""
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    (folder / SAFETENSORS).write_bytes(save(tensors, {"format": "pt"}))


def save_encoder(
    encoder: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path, origin: dict[str, Any]
) -> None:
    """Write an encoder folder: configuration, weights without heads, tokenizer, and provenance.json with ``origin``."""
    with atomic_folder(folder) as partial:
        save_model(encoder, partial)
        tokenizer.save_pretrained(partial)
        provenance = {"source": origin, "commit": None, "sha256": files_sha256(partial.iterdir())}
        write_json(partial / "provenance.json", provenance)
