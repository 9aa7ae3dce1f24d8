"""Figures: the same numbers give the same bytes, and the drawing shows what the table says."""

import numpy as np
import pandas as pd
import pytest
from looks import looks

from tmft.figures import cka_curve, layer_curve, method
from tmft.figures.cka_curve import cka_points
from tmft.figures.curves import curve_points
from tmft.figures.style import metric_label, save
from tmft.results.tables import summarise, tabulate_runs

LINES = [{"encoder": "b", "recipe": "tmft", "label": "BERT"}, {"encoder": "e", "recipe": "tmft", "label": "ELECTRA"}]
FIGURE = {
    "title": "Title",
    "task": "STS",
    "metrics": ["spearman"],
    "looks": looks(BERT="bert", ELECTRA="discriminator"),
}


@pytest.fixture
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    generator = np.random.default_rng(0)
    runs, records = [], []
    for encoder in "be":
        for layer in range(4):
            for seed in range(3):
                run = ["sts", "tmft", encoder, layer, seed]
                collapsed = (encoder, layer, seed) == ("e", 3, 2)
                score = 0.5 + 0.05 * layer + 0.01 * generator.standard_normal()
                runs.append(run)
                records.append(
                    {
                        "run": dict(zip(["task", "recipe", "encoder", "layer", "seed"], run, strict=True)),
                        "status": "complete",
                        "reason": None,
                        "metrics": None if collapsed else {"test": {"spearman": score}},
                        "best_epoch": 1,
                        "parameters": {"published": layer},
                        "cost": {"seconds": 1.0},
                    }
                )
    table = tabulate_runs(records, runs)
    return table, summarise(table)


def test_where_every_run_collapsed_figure_and_table_say_so(tmp_path):
    runs = [["sts", "tmft", encoder, layer, seed] for encoder in "be" for layer in range(3) for seed in range(2)]
    records = [
        {
            "run": dict(zip(["task", "recipe", "encoder", "layer", "seed"], run, strict=True)),
            "status": "collapsed",
            "reason": "the predictions on validation are constant in every epoch",
            "metrics": None,
            "best_epoch": None,
            "parameters": {"published": 1},
            "cost": {"seconds": 1.0},
            "provenance": {"settings": {"objective": "cosine_regression"}},
        }
        for run in runs
    ]
    table = tabulate_runs(records, runs)
    points, single = curve_points(table, summarise(table), LINES, "spearman")
    assert points[["line", "layer", "n", "collapsed"]].to_numpy().tolist() == [
        [line, layer, 0, 2] for line in ("BERT", "ELECTRA") for layer in range(3)
    ]
    drawing = layer_curve.draw(FIGURE, points, single)
    texts = [text.get_text() for text in drawing.axes[0].texts]
    assert "every run collapsed" in texts and texts.count("2 collapsed") == 6
    save(drawing, tmp_path / "figure.png")


def test_points_are_the_summary_times_100(tables):
    points, single = curve_points(*tables, LINES, "spearman")
    values = tables[0].query("encoder == 'b' and layer == 2")["value"] * 100
    point = points.query("line == 'BERT' and layer == 2").iloc[0]
    np.testing.assert_allclose([point["mean"], point["sd"]], [values.mean(), values.std(ddof=1)])
    assert len(points) == 8 and len(single) == 24


def test_two_builds_are_equal_byte_for_byte(tables, tmp_path):
    for build in ("one", "two"):
        figure = layer_curve.draw(FIGURE, *curve_points(*tables, LINES, "spearman"))
        save(figure, *(tmp_path / f"{build}.{ending}" for ending in ("png", "pdf")))
    for ending in ("png", "pdf"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_drawing_has_labels_means_and_collapses(tables):
    points, single = curve_points(*tables, LINES, "spearman")
    axes = layer_curve.draw(FIGURE, points, single).axes[0]
    assert axes.get_xlabel() == "Layer" and axes.get_ylabel() == "STS test Spearman × 100"
    means = [line.get_ydata() for line in axes.lines]
    np.testing.assert_allclose(means[1], points.query("line == 'ELECTRA'")["mean"])
    assert [text.get_text() for text in axes.texts] == ["1 collapsed"]
    looks = {(line.get_marker(), line.get_linestyle()) for line in axes.lines}
    assert len(looks) == 2, "lines must differ without colour"


def test_every_single_run_is_a_dot(tables):
    points, single = curve_points(*tables, LINES, "spearman")
    axes = layer_curve.draw(FIGURE, points, single).axes[0]
    dots = np.concatenate(
        [collection.get_offsets() for collection in axes.collections if len(collection.get_offsets()) > 1]
    )
    scores = single.dropna(subset="value")[["layer", "value"]].to_numpy(float)
    assert {tuple(dot) for dot in dots.round(9)} >= {tuple(score) for score in scores.round(9)}


def test_main_metric_is_the_one_asked_for(tables):
    runs, summary = (table.replace({"metric": {"spearman": "pearson"}}) for table in tables)
    assert curve_points(runs, summary, LINES, "pearson")[0]["mean"].notna().all()
    assert metric_label("STS", "pearson") == "STS test Pearson × 100"


def compared(values: list[float | None]) -> list[dict]:
    return [
        {"layer": layer, "n": 60, "biased": value, "unbiased": value, "reason": None if value else "constant"}
        for layer, value in enumerate(values)
    ]


def test_cka_curves_have_the_published_axis_and_a_gap_where_there_is_no_value():
    points = cka_points({"pre trained": compared([1.0, 0.5, 0.2]), "after TMFT": compared([0.9, None, 0.4])})
    curves = {"pretrained": "pre trained", "finetuned": "after TMFT"}
    shown = {"title": "Title", "curves": curves, "looks": looks(pre_trained="generator", after_TMFT="generator")}
    axes = cka_curve.draw(shown, points).axes[0]
    assert axes.get_ylim() == (-0.05, 1.05)
    np.testing.assert_array_equal([line.get_ydata() for line in axes.lines], [[1.0, 0.5, 0.2], [0.9, np.nan, 0.4]])
    assert "60 sentences" in axes.figure.legends[0].get_title().get_text()


def test_method_drawing_names_its_parts_and_has_the_same_bytes_each_time(tmp_path):
    for build in ("one", "two"):
        figure = method.draw(FIGURE, *method.points(None, FIGURE))
        save(figure, tmp_path / f"{build}.pdf")
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"embeddings", "layer $l$", "layer $L$", "mean over\ntokens: $u$", "cosine($u$, $v$)"} <= texts
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_baseline_is_a_labelled_grey_line(tables):
    runs, summary = (table.assign(baseline=0.799) for table in tables)
    points, single = curve_points(runs, summary, LINES, "spearman")
    figure = layer_curve.draw(FIGURE | {"metrics": ["f1"]}, points, single)
    baseline = next(line for line in figure.axes[0].lines if line.get_label() == "all positive")
    np.testing.assert_allclose(baseline.get_ydata(), 79.9)
    assert baseline.get_color() == "grey"
    assert "all positive" in [text.get_text() for text in figure.legends[0].get_texts()]
    without = layer_curve.draw(FIGURE, *curve_points(*tables, LINES, "spearman"))
    assert len(without.axes[0].lines) == len(figure.axes[0].lines) - 1


def test_a_layer_without_any_score_is_on_the_axis():
    points = pd.DataFrame({"line": "encoder", "layer": [0, 4, 6], "baseline": [20.0] * 3, "mean": [None, 50.0, 60.0]})
    points = points.assign(half_width=float("nan"), n=[0, 1, 1], collapsed=[1, 0, 0]).astype({"mean": float})
    figure = layer_curve.draw(
        FIGURE | {"looks": looks(encoder="other")}, points, pd.DataFrame(columns=["line", "layer", "seed", "value"])
    )
    figure.draw_without_rendering()
    (axes,) = figure.axes
    (note,) = (text for text in axes.texts if text.get_text() == "1 collapsed")
    low, high = axes.get_xlim()
    assert low < 0 < high
    box, place = note.get_window_extent(), axes.get_window_extent()
    assert place.y0 - 1 <= box.y0 and box.y1 <= place.y1
    assert place.x0 <= box.x0 and box.x1 <= place.x1
