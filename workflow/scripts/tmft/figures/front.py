"""The Pareto front, by one criterion for all figures."""

import pandas as pd
from matplotlib.axes import Axes

FRONT = "grey: Pareto front (no other point has at most its cost and at least its score)"


def on_front(points: pd.DataFrame, cost: str, score: str) -> list[bool]:
    """Whether no other point has at most its ``cost`` and at least its ``score``, and is better in one of them.

    A point without a score is not on the front.
    """
    values = list(zip(points[cost], points[score], strict=True))
    return [
        pd.notna(own)
        and not any(less <= own_cost and more >= own and (less, more) != (own_cost, own) for less, more in values)
        for own_cost, own in values
    ]


def draw_front(axes: Axes, points: pd.DataFrame, cost: str, score: str) -> None:
    """The Pareto front of the ``points`` on it: at each cost the best score that is to be had for at most that."""
    front = points[points["front"]].sort_values(cost)
    axes.plot(front[cost], front[score], color="0.85", linewidth=7, drawstyle="steps-post", zorder=0)
