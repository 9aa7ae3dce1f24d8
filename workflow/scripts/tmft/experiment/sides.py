"""How a side of a comparison is written: results/compare/TASK/FIRST/vs/SECOND."""

import re
from typing import NamedTuple

SIDE = r"[^/]+/[^/]+(?:/layer\d+(?:/seed\d+)?)?"


class Side(NamedTuple):
    """A recipe of an encoder, at all layers or one, with all seeds or one."""

    recipe: str
    encoder: str
    layer: int | None = None
    seed: int | None = None


def parse_side(text: str) -> Side:
    """RECIPE/ENCODER, RECIPE/ENCODER/layerN or RECIPE/ENCODER/layerN/seedS."""
    recipe, encoder, *rest = text.split("/")
    return Side(recipe, encoder, *(int(re.sub(r"\D", "", part)) for part in rest))
