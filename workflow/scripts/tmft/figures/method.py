"""A drawing of truncated model fine-tuning (paper, Figure 1)."""

from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from tmft.experiment.looks import LOOKS

BLUE, ORANGE, GREEN = (LOOKS[family]["colour"] for family in ("bert", "discriminator", "generator"))
KEPT, CUT = ["embeddings", "layer 1", "···", "layer $l$"], ["layer $l + 1$", "···", "layer $L$"]
HEIGHT, STEP, GAP = 0.7, 1.0, 0.6  # of a box, from one box to the next, extra where the encoder is cut
ENCODER, MEAN, CENTRE = 2.6, 1.8, 3.0  # widths of the boxes, from the outside to the middle
TOTAL = 14.0


def points(files: Any, figure: dict[str, Any]) -> tuple[pd.DataFrame]:
    """The parts of the encoder, from below, and whether they are kept; nothing is read from ``files``."""
    parts = [(part, True) for part in KEPT] + [(part, False) for part in CUT]
    return (pd.DataFrame(parts, columns=["part", "kept"]),)


def draw(figure: dict[str, Any], points: pd.DataFrame) -> Figure:
    """Two sentences through one encoder, cut after layer l; mean over tokens; cosine against the gold score."""
    drawing, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    axes.set(xlim=(0, TOTAL), ylim=(0, 8.6), title=figure["title"])
    axes.axis("off")
    level = 1 + (len(KEPT) - 1) * STEP
    cosine = TOTAL / 2 - CENTRE / 2
    for side, encoder, mean, pooled in (
        ("u", 0.2, 3.3, cosine),
        ("v", TOTAL - 0.2 - ENCODER, TOTAL - 3.3 - MEAN, cosine + CENTRE),
    ):
        _draw_encoder(axes, encoder, "1" if side == "u" else "2")
        _box(axes, mean, level, MEAN, f"mean over\ntokens: ${side}$", ORANGE)
        outer, inner = (encoder + ENCODER, mean + MEAN) if side == "u" else (encoder, mean)
        _arrow(axes, (outer, level + HEIGHT / 2), (mean if side == "u" else mean + MEAN, level + HEIGHT / 2))
        _arrow(axes, (inner, level + HEIGHT / 2), (pooled, level + HEIGHT / 2))
    _box(axes, cosine, level, CENTRE, "cosine($u$, $v$)", GREEN)
    _box(axes, cosine, level - 2 * STEP, CENTRE, "squared error\nto score / 5", GREEN)
    _arrow(axes, (TOTAL / 2, level), (TOTAL / 2, level - 2 * STEP + HEIGHT))
    axes.text(TOTAL / 2, level + 2.6 * STEP, "layers above $l$\nare never built", ha="center", va="center", color="0.4")
    axes.text(TOTAL / 2, 0.35, "one encoder, both sentences", ha="center", va="center", color="0.4")
    return drawing


def _draw_encoder(axes: Axes, x: float, sentence: str) -> None:
    middle, y = x + ENCODER / 2, 1.0
    axes.text(middle, 0.35, f"sentence {sentence}", ha="center", va="center")
    _arrow(axes, (middle, 0.6), (middle, y))
    for label in KEPT:
        _box(axes, x, y, ENCODER, label, BLUE)
        if label != KEPT[-1]:
            _arrow(axes, (middle, y + HEIGHT), (middle, y + STEP))
        y += STEP
    cut = y - STEP + HEIGHT + (STEP - HEIGHT + GAP) / 2
    axes.plot([x - 0.1, x + ENCODER + 0.1], [cut, cut], color=ORANGE, linestyle="--")
    for label in CUT:
        _box(axes, x, y + GAP, ENCODER, label, "0.6", linestyle="--")
        y += STEP


def _box(axes: Axes, x: float, y: float, width: float, label: str, colour: str, linestyle: str = "-") -> None:
    style = {"boxstyle": "round,pad=0,rounding_size=0.12", "linewidth": 1.2, "linestyle": linestyle}
    axes.add_patch(FancyBboxPatch((x, y), width, HEIGHT, edgecolor=colour, facecolor="white", **style))
    axes.text(x + width / 2, y + HEIGHT / 2, label, ha="center", va="center", color=colour, fontsize="small")


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "0.3", "shrinkA": 0, "shrinkB": 0})
