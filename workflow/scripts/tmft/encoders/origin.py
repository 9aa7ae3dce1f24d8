"""Where the weights in an encoder folder are from."""

from pathlib import Path
from typing import Any

from tmft.runtime.files import read_json


def encoder_origin(folder: Path) -> dict[str, Any]:
    """Source, commit and sha256 of the weights in an encoder folder; a source may name its own start."""
    provenance = read_json(folder / "provenance.json")
    return {key: provenance[key] for key in ("source", "commit", "sha256")}
