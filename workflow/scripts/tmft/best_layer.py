"""The best layer of an encoder without the whole sweep: successive halving (Jamieson and Talwalkar 2016)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

BUDGET = 0.34  # the largest share of the sweep's training tokens that a search may take


class Round(NamedTuple):
    """A round of a search: so many layers compete, each by the mean over these seeds of its validation scores.

    A ``shared`` round has one training for all layers (``tmft.adaptive``); the others take the sweep's own runs.
    """

    layers: int
    seeds: tuple[int, ...]
    shared: bool


def plan(layers: int, seeds: Sequence[int]) -> list[Round]:
    """The rounds of a search among so many layers where the sweep would run all of these seeds at each.

    All layers share a training with the first seed, which takes the tokens of one run; then at most half of them run
    alone with that seed, and at most half of those with all seeds. The halves shrink until the search costs at most
    ``BUDGET`` of the sweep. In an encoder of two layers (three with layer 0) or fewer one layer's runs alone cost more.
    """
    first = (seeds[0],)
    for kept in range(layers // 2, 0, -1):
        finalists = max(kept // 2, 1)
        rounds = [Round(layers, first, True), Round(kept, first, False), Round(finalists, tuple(seeds), False)]
        if 1 + kept + finalists * (len(seeds) - 1) <= BUDGET * layers * len(seeds):
            break
    return rounds


def survivors(summary: "pd.DataFrame", metric: str, keep: int) -> list[int]:
    """The ``keep`` layers with the highest mean of a validation metric in a round, best first.

    ``summary`` is that of ``tmft.tables`` over the round's runs. Test scores play no part; layers without a score do
    not survive.
    """
    from tmft.layer_tables import rank_layers

    return rank_layers(summary, metric)["layer"].tolist()[:keep]


def closest_layer(similarities: Sequence[dict[str, Any]]) -> int:
    """The layer most like the same layer of another encoder, from the CKA of each (``tmft.similarity``)."""
    return max(_defined(similarities), key=lambda one: one["biased"])["layer"]


def layer_before_fall(similarities: Sequence[dict[str, Any]]) -> int:
    """The layer after which the CKA with the same layer of another encoder falls most."""
    return max(pairwise(_defined(similarities)), key=lambda pair: pair[0]["biased"] - pair[1]["biased"])[0]["layer"]


def _defined(similarities: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in similarities if one["biased"] is not None]
