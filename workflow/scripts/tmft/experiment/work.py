"""A run that the experiment needs, as the rules describe it to the status."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Work:
    """A run that the experiment needs, and what decides its result and its length.

    ``file`` is its result; ``code`` is None for a pre-training or an adaptation. It trains encoders of some ``widths``
    (None where unknown), cut after some ``layers``, each on as many ``sentences`` (None where unknown; evaluated ones
    count by ``tmft.results.hours.EVALUATION``); ``tokens`` is the file of a task's tokens. The runs with the results
    ``followers`` start from its ``weights``.
    """

    file: str
    settings: dict[str, Any]
    code: str | None
    encoder: str
    widths: list[int | None]
    layers: list[int]
    sentences: float | None
    tokens: str | None
    weights: list[str]
    followers: list[str]
