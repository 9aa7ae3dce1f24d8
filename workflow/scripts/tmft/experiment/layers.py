"""What is kept of an encoder's layers: the first l of them, or a subset; and the one way in which either is written."""

import re
from collections.abc import Sequence

from tmft.runtime.errors import InputError

Layer = int | str
"""Layer l, that is the first l layers, as a number; or a subset as in ``layers1-3-6``: the numbers of what is kept."""

SUBSET = re.compile(r"layers(\d+(?:-\d+)*)")


def kept(layer: Layer) -> tuple[int, ...]:
    """The numbers of the layers that are kept, from 1, in order.

    Raises InputError for a text that names no subset, or names one in another way than the only one.
    """
    if isinstance(layer, int):
        return tuple(range(1, layer + 1))
    match = SUBSET.fullmatch(layer)
    if not match:
        raise InputError(f"'{layer}' is not a layer; write a number, or the layers that are kept, as in layers1-3-6")
    numbers = tuple(map(int, match[1].split("-")))
    proper = written(sorted({number for number in numbers if number > 0}))
    if layer != proper:
        raise InputError(f"'{layer}' is written {proper if isinstance(proper, str) else f'layer{proper}'}; write it so")
    return numbers


def written(numbers: Sequence[int]) -> Layer:
    """The layer that keeps those of these numbers, which rise from 1: a prefix is a number."""
    prefix = list(numbers) == list(range(1, len(numbers) + 1))
    return len(numbers) if prefix else f"layers{'-'.join(map(str, numbers))}"


def check(layer: Layer, depth: int) -> None:
    """Raise InputError where an encoder of ``depth`` layers has no such layer, or not all of a subset."""
    if not 0 <= (layer if isinstance(layer, int) else kept(layer)[-1]) <= depth:
        raise InputError(f"no {'layer ' if isinstance(layer, int) else ''}{layer}; choose one of 0..{depth}")


def count(layer: Layer) -> int:
    """How many layers are kept."""
    return len(kept(layer))
