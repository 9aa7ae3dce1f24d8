"""How long a run takes: the time of the most similar one that is known, scaled by the work in both.

The work on n tokens in an encoder of width h, cut after layer l, is taken to be n (l + 1) h^2: each layer multiplies
every token by 12 h^2 weights, and the embeddings, the optimiser and the loss cost about as much as one more layer.
A token of evaluation has a third of the work of a token of training, because it goes forward only.
This need not hold far, because it only leads from one run to a similar one. Known are the runs that are done and the
calibration: a few steps on random encoders of this experiment's widths, for the time before any run is done.
"""

import math
import statistics
from dataclasses import dataclass

EVALUATION = 1 / 3  # the work of an evaluated token, in trained ones


@dataclass(frozen=True)
class Load:
    """Tokens of training (those of evaluation count by ``EVALUATION``) in an encoder's first ``layer`` layers."""

    encoder: str | None  # the key; none in the calibration
    width: int
    layer: int
    tokens: float

    @property
    def work(self) -> float:
        """In an arbitrary unit."""
        return self.tokens * (self.layer + 1) * self.width**2


@dataclass(frozen=True)
class Timing:
    """The seconds that a load took."""

    load: Load
    seconds: float


def estimate(load: Load, timings: list[Timing]) -> float:
    """Seconds that a load will take.

    The nearest timings are those of the same encoder if there are any, then of the nearest width, then of the nearest
    layer; of several equally near the median speed counts.
    """

    def distance(timing: Timing) -> tuple[bool, float, int]:
        known = timing.load
        return known.encoder != load.encoder, abs(math.log(known.width / load.width)), abs(known.layer - load.layer)

    nearest = min(map(distance, timings))
    speeds = [timing.load.work / timing.seconds for timing in timings if distance(timing) == nearest]
    return load.work / statistics.median(speeds)
