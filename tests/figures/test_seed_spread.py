"""The box plot of seeds: its numbers against numpy's, its boxes where its numbers are, and the pipeline's wiring."""

import numpy as np
import pandas as pd
import pytest
from looks import looks
from matplotlib.collections import PathCollection

from tmft.experiment.configuration import load
from tmft.experiment.figures import figure_files, figure_parameters, figure_runs
from tmft.figures.seed_spread import QUANTILES, draw, spread_points
from tmft.figures.style import save

LOOKS = looks(BERT="bert", ELECTRA="discriminator")
FIGURE = {"title": "Title", "task": "STS", "metrics": ["spearman"], "looks": LOOKS}
SEEDS = 5


@pytest.fixture
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Points and single runs of a layer curve: two lines, three layers; one layer has collapsed, another in part."""
    generator = np.random.default_rng(0)
    rows = [
        {"line": line, "layer": layer, "seed": seed, "value": 60 + 5 * layer + generator.standard_normal()}
        for line in ("BERT", "ELECTRA")
        for layer in range(3)
        for seed in range(SEEDS)
    ]
    single = pd.DataFrame(rows)
    single.loc[(single["line"] == "ELECTRA") & (single["layer"] == 2), "value"] = np.nan
    single.loc[0, "value"] = np.nan
    points = single.groupby(["line", "layer"])["value"].agg(["mean", "count"]).reset_index()
    points = points.rename(columns={"count": "n"})
    return points.assign(baseline=np.nan, collapsed=SEEDS - points["n"]), single


def test_boxes_are_the_quantiles_of_the_seeds_with_a_score(tables):
    boxes, single = spread_points(*tables)
    assert boxes[list(tables[0])].equals(tables[0])
    for box in boxes[boxes["n"] > 0].to_dict("records"):
        own = single[(single["line"] == box["line"]) & (single["layer"] == box["layer"])]["value"].dropna()
        np.testing.assert_allclose([box[name] for name in QUANTILES], np.quantile(own, list(QUANTILES.values())))
    assert boxes.iloc[-1][list(QUANTILES)].isna().all()


def test_every_seed_is_a_mark_and_every_layer_with_a_score_a_box(tables, tmp_path):
    figure = draw(FIGURE, *spread_points(*tables))
    (axes,) = figure.axes
    marks = [item.get_offsets() for item in axes.collections if isinstance(item, PathCollection)]
    assert sum(np.isfinite(own[:, 1]).sum() for own in marks) == tables[1]["value"].notna().sum()
    medians = [line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1]
    assert set(spread_points(*tables)[0]["median"].dropna().round(9)) <= set(np.round(medians, 9))
    assert {0, 1, 2} <= set(axes.get_xticks()) and all(tick.is_integer() for tick in axes.get_xticks())
    for build in ("one", "two"):
        save(draw(FIGURE, *spread_points(*tables)), *(tmp_path / f"{build}.{ending}" for ending in ("png", "pdf")))
    for ending in ("png", "pdf"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_box_plot_is_declared_as_a_layer_curve_is():
    scenes = {"scenes": {"train": 9, "validation": 9, "test": 9}, "objective": "cosine_regression"}
    shown = {"kind": "seed_spread", "task": "scenes", "recipes": ["tmft"], "encoders": ["bert"], "layers": [0, 2]}
    config = {"encoders": {"bert": {"hub": "a/b", "depth": 3}}, "tasks": {"scenes": scenes}, "figures": {"box": shown}}
    experiment = load(config, {})
    assert [(run.layer, run.seed) for run in figure_runs(experiment, "box")] == [
        (layer, seed) for layer in (0, 2) for seed in range(SEEDS)
    ]
    assert figure_files(experiment, "box") == {
        table: f"results/tables/box_{table}.csv" for table in ("runs", "summary")
    }
    assert figure_parameters(experiment, "box")["kind"] == "seed_spread"
