"""What a layer costs: measured on tiny encoders, put beside scores, drawn."""

import numpy as np
import pandas as pd
import pytest
from looks import looks
from tiny import tiny_encoder

from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.truncation import TruncatedEncoder
from tmft.encoders.weights import save_encoder
from tmft.export.speed import measure_layers
from tmft.export.speed_tables import cost_rows, to_markdown
from tmft.figures.cost_curve import cost_points, draw
from tmft.runtime.errors import InputError

LABELS = {"encoder": "BERT", "recipe": "TMFT", "task": "STSB", "metric": "spearman"}


def cost(seconds: list[float], processor: str = "CPU 1") -> dict:
    layers = [{"layer": layer, "bytes": 1e6 * (layer + 1), "seconds": value} for layer, value in enumerate(seconds)]
    environment = {"threads": 1, "torch": "2.13.0"}
    return {
        "batch_size": 32,
        "tokens": 32,
        "repeats": 9,
        "processor": processor,
        "environment": environment,
        "layers": layers,
    }


def summary(scores: list[float]) -> pd.DataFrame:
    rows = [
        (layer, 500_000 * (layer + 1), split, "spearman", value, 0.01, 3, 0)
        for layer, score in enumerate(scores)
        for split, value in (("validation", score + 0.1), ("test", score))
    ]
    names = ["layer", "parameters", "split", "metric", "mean", "sd", "n", "collapsed"]
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_time_grows_with_the_layer_and_size_is_that_of_the_file(tmp_path, family):
    """ALBERT's layers share their weights: its time grows, its size does not."""
    folder = tiny_encoder(family, tmp_path / "encoder", 6, hidden_size=64)
    layers = measure_layers(folder)
    assert [layer["layer"] for layer in layers] == list(range(7))
    seconds = [layer["seconds"] for layer in layers]
    assert 0 < seconds[0] < seconds[3] < seconds[6]
    assert all(low <= layer["seconds"] <= high for layer in layers for low, high in [layer["quartiles"]])
    save_encoder(TruncatedEncoder.load(folder, 6).model, load_tokenizer(folder), tmp_path / "saved", {})
    assert layers[6]["bytes"] == pytest.approx((tmp_path / "saved" / "model.safetensors").stat().st_size, rel=0.1)
    assert (layers[1]["bytes"] == layers[6]["bytes"]) == (family == "albert")


def test_an_encoder_for_shorter_sentences_is_refused(tmp_path):
    folder = tiny_encoder("bert", tmp_path, 1, max_position_embeddings=16)
    with pytest.raises(InputError, match="at most 16 tokens, costs are measured at 32"):
        measure_layers(folder)


def test_rows_join_scores_sizes_and_speed():
    rows = cost_rows(summary([0.4, 0.6]), cost([0.032, 0.32]), "spearman")
    assert rows["layer"].tolist() == [0, 1] and rows["parameters"].tolist() == [500_000, 1_000_000]
    np.testing.assert_allclose(rows["sentences_per_second"], [1000, 100])
    np.testing.assert_allclose(rows["milliseconds"], [1, 10])
    np.testing.assert_allclose(rows["megabytes"], [1, 2])
    np.testing.assert_allclose(rows[["validation", "test", "test_sd"]], [[50, 40, 1], [70, 60, 1]])


def test_markdown_shows_a_row_a_layer_and_how_it_was_measured():
    rows = cost_rows(summary([0.4, 0.6]), cost([0.032, 0.32]), "spearman").assign(collapsed=[0, 2])
    rows.loc[1, ["test", "test_sd"]] = np.nan
    text = to_markdown(rows, cost([0.032, 0.32]), LABELS)
    assert "| 0 | 0.50 | 1.0 | 1,000 | 50.00 ± 1.00 | 40.00 ± 1.00 | 3 |" in text.splitlines()
    assert "| 1 | 1.00 | 2.0 | 100 | 70.00 ± 1.00 | - | 3 (2 collapsed) |" in text.splitlines()
    assert "one thread of CPU 1, PyTorch 2.13.0, batches of 32 sentences of 32 tokens, median of 9" in text


@pytest.fixture
def points() -> pd.DataFrame:
    """Two encoders; of the slower one only the last layer is better than all of the faster one."""
    return cost_points(
        {
            "fast": cost_rows(summary([0.4, 0.6, 0.5]), cost([0.01, 0.1, 0.2]), "spearman"),
            "slow": cost_rows(summary([0.3, 0.5, 0.7]), cost([0.02, 0.2, 0.4]), "spearman"),
        }
    )


def test_front_has_the_layers_that_no_other_beats(points):
    assert points[points["front"]][["line", "layer"]].values.tolist() == [["fast", 0], ["fast", 1], ["slow", 2]]


def test_drawing_has_a_line_an_encoder_and_a_number_a_layer(points):
    shown = {"title": "Title", "task": "STSB", "metrics": ["spearman"], "seeded": True}
    axes = draw(shown | {"looks": looks(fast="bert", slow="generator")}, points).axes[0]
    assert axes.get_xscale() == "log"
    front, *lines = axes.lines
    np.testing.assert_allclose(front.get_ydata(), [40, 60, 70])
    np.testing.assert_allclose(lines[1].get_xydata(), [[0.625, 30], [6.25, 50], [12.5, 70]])
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"] * 2


def test_times_of_two_machines_are_not_drawn_together():
    tables = {name: cost_rows(summary([0.4]), cost([0.01], name), "spearman") for name in ("CPU 1", "CPU 2")}
    with pytest.raises(InputError, match="CPU 1 and on CPU 2; measure all on one"):
        cost_points(tables)
