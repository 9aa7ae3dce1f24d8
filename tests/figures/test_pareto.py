"""The Pareto plot: its points and its front, and labels that are legible."""

import numpy as np
import pandas as pd
import pytest
from looks import looks
from matplotlib import pyplot as plt
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tmft.figures.labels import place_labels
from tmft.figures.pareto import draw, pareto_points
from tmft.figures.style import save

LOOKS = looks(A="bert", B="discriminator")
FIGURE = {"title": "Title", "task": "STS", "metrics": ["spearman"], "looks": LOOKS, "seeded": True}
FAMILIES = {"A": {"a1": "A small", "a2": "A large"}, "B": {"b1": "B small", "b2": "B large"}}
# encoder: (parameters of a layer in millions, validation and test score by layer)
SCORES = {
    "a1": (2, [0.3, 0.5, 0.6], [0.4, 0.5, 0.60]),
    "a2": (9, [0.3, 0.6, 0.7], [0.4, 0.6, 0.80]),
    "b1": (3, [0.4, 0.7, 0.2], [0.4, 0.65, 0.1]),
    "b2": (9, [0.4, 0.8, 0.3], [0.4, 0.59, 0.58]),
}


@pytest.fixture
def points() -> pd.DataFrame:
    rows = [
        ["sts", "tmft", encoder, layer, 1_000_000 * size * (layer + 1), split, "spearman", score, 0.01, 3, 0]
        for encoder, (size, validation, test) in SCORES.items()
        for split, scores in (("validation", validation), ("test", test))
        for layer, score in enumerate(scores)
    ]
    names = ["task", "recipe", "encoder", "layer", "parameters", "split", "metric", "mean", "sd", "n", "collapsed"]
    summary = pd.DataFrame(rows, columns=names)
    return pareto_points(
        summary.assign(baseline=np.nan, mean_all=summary["mean"], sd_all=summary["sd"]), FAMILIES, "spearman"
    )


def test_points_are_the_layers_best_on_validation_and_other_last_ones(points):
    found = points[["family", "encoder", "row", "layer", "parameters"]].values.tolist()
    assert found == [
        ["A", "a1", "best", 2, 6_000_000],
        ["A", "a2", "best", 2, 27_000_000],
        ["B", "b1", "best", 1, 6_000_000],
        ["B", "b1", "last", 2, 9_000_000],
        ["B", "b2", "best", 1, 18_000_000],
        ["B", "b2", "last", 2, 27_000_000],
    ]
    np.testing.assert_allclose(points["mean"], [60, 80, 65, 10, 59, 58])


def test_front_has_the_points_that_no_other_beats(points):
    """Of the two with 6 million parameters the better one; the one with 18 million is worse than both."""
    assert points[points["front"]]["encoder"].tolist() == ["a2", "b1"]


def test_drawing_shows_best_and_last_layers_and_keeps_low_ones_in_sight(points):
    axes = draw(FIGURE, points).axes[0]
    assert axes.get_xscale() == "log"
    front, *lines = axes.lines
    np.testing.assert_allclose(front.get_xydata(), [[6, 65], [27, 80]])
    hollow = [line for line in lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    np.testing.assert_allclose(hollow[0].get_xydata(), [[9, 54], [27, 58]])
    texts = [text.get_text() for text in axes.texts]
    assert "B small, last: 10.0" in texts and "B large, last" in texts and "A large, 2" in texts


def test_two_builds_are_equal_byte_for_byte(points, tmp_path):
    for build in ("one", "two"):
        save(draw(FIGURE, points), *(tmp_path / f"{build}.{ending}" for ending in ("png", "pdf")))
    for ending in ("png", "pdf"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_labels_keep_clear_of_each_other_points_lines_and_edges(seed):
    generator = np.random.default_rng(seed)
    points = np.round(generator.uniform(1, 9, (12, 2)), 2)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.set(xlim=(0, 10), ylim=(0, 10))
    axes.plot(*points[np.argsort(points[:, 0])][:3].T)
    placed = place_labels(axes, points.tolist(), [f"encoder {number}" for number in range(12)], ["black"] * 12)
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in placed]
    marks = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(points)]
    line = axes.lines[0].get_path().interpolated(200).transformed(axes.transData)
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        assert not any(box.overlaps(mark) for mark in marks)
        assert not any(box.contains(*corner) for corner in line.vertices)
        assert axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1
    assert len(axes.texts) == 12
    plt.close(figure)
