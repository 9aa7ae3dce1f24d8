"""Labels beside their marks that cover nothing else."""

from itertools import pairwise, product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

# Where a label may stand, in points from its mark, the first that is free: beside it, above and below it, further away.
OFFSETS = [
    (x * distance, y * distance)
    for distance in (6, 12, 20, 30, 45, 60)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
]
NEAR = 12  # points; labels further away get a thin line to their mark
THIN = 5  # points; what is thicker may lie behind a label
ALIGNMENT = {-1: "right", 0: "center", 1: "left"}
VERTICAL = {-1: "top", 0: "center", 1: "bottom"}


def place_labels(
    axes: Axes, points: list[tuple[float, float]], labels: list[str], colours: list[str]
) -> list[Annotation]:
    """Label each point where the label covers neither a line, a point nor another label, nor leaves the axes.

    The nearest free place wins, in a fixed order; a label without any free place gets the one that covers least. Call
    it when limits, legend and titles are there: they no longer move then.
    """
    axes.figure.draw_without_rendering()
    axes.figure.set_layout_engine("none")
    at = axes.transData.transform(points)
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in at] + _line_boxes(axes)
    placed = []
    for point, mark, label, colour in zip(points, at, labels, colours, strict=True):
        boxes = [_box(axes, mark, label, offset) for offset in OFFSETS]
        best = min(range(len(boxes)), key=lambda place: (_covered(boxes[place], taken, axes.bbox), place))
        placed.append(_label(axes, point, label, colour, OFFSETS[best]))
        taken.append(boxes[best])
    return placed


def _label(axes: Axes, point: tuple[float, float], label: str, colour: str, offset: tuple[float, float]) -> Annotation:
    x, y = np.sign(offset).astype(int)
    look = {"textcoords": "offset points", "ha": ALIGNMENT[x], "va": VERTICAL[y], "fontsize": "xx-small"}
    if max(map(abs, offset)) > NEAR:
        look["arrowprops"] = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
    return axes.annotate(label, point, xytext=offset, color=colour, **look)


def _box(axes: Axes, mark: np.ndarray, label: str, offset: tuple[float, float]) -> Bbox:
    """Where a label would stand, in pixels."""
    width, height = _size(axes, label)
    x, y = mark + np.asarray(offset) * axes.figure.dpi / 72
    left, low = x - width * (1 - np.sign(offset[0])) / 2, y - height * (1 - np.sign(offset[1])) / 2
    return Bbox.from_bounds(left, low, width, height)


def _size(axes: Axes, label: str) -> tuple[float, float]:
    text = Text(0, 0, label, fontsize="xx-small", figure=axes.figure)
    extent = text.get_window_extent(axes.figure.canvas.get_renderer())
    return extent.width, extent.height


def _line_boxes(axes: Axes) -> list[Bbox]:
    """Small boxes along each thin line of the axes, and along bars."""
    lines = [line for line in axes.lines if line.get_linestyle() != "None" and line.get_linewidth() <= THIN]
    paths = [line.get_transform().transform(line.get_xydata()) for line in lines]
    bars = [bar for bar in axes.collections if isinstance(bar, LineCollection)]
    paths += [axes.transData.transform(segment) for bar in bars for segment in bar.get_segments()]
    boxes = []
    for corners in paths:
        for start, end in pairwise(corners[np.isfinite(corners).all(axis=1)]):
            steps = np.linspace(0, 1, 1 + int(np.hypot(*(end - start)) / 3))[:, None]
            boxes += [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in start + steps * (end - start)]
    return boxes


def _covered(box: Bbox, taken: list[Bbox], area: Bbox) -> int:
    """How many boxes it overlaps; many more where it leaves the area."""
    inside = all(area.contains(x, y) for x, y in product(box.intervalx, box.intervaly))
    return sum(box.overlaps(other) for other in taken) + (0 if inside else 10_000)
