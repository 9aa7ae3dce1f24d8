"""The kinds of recipes: what each makes of an encoder. A kind is one entry here, and the rule that makes its result."""

from typing import NamedTuple


class RecipeKind(NamedTuple):
    """What a kind of recipe does: whether it trains, and where its results lie below TASK/RECIPE/ENCODER."""

    trains: bool
    result: str


KINDS = {
    "finetune": RecipeKind(trains=True, result="layer{layer}/seed{seed}.json"),
    "frozen": RecipeKind(trains=False, result="all-layers.json"),
}
