"""Tables: means and deviations over seeds, and nothing averaged away."""

import numpy as np
import pandas as pd
import pytest

from tmft.results.tables import curve_table, summarise, tabulate_runs, version_note
from tmft.runtime.errors import InputError

SCORES = {(0, 0): 0.50, (0, 1): 0.60, (0, 2): 0.61, (1, 0): 0.7, (1, 1): None, (1, 2): 0.8, (2, 0): None, (2, 1): None}
RUNS = [["sts", "tmft", "nan", layer, seed] for layer, seed in SCORES]


def record(run: list, score: float | None) -> dict:
    metrics = None if score is None else {s: {"spearman": score, "pearson": score / 2} for s in ("validation", "test")}
    return {
        "run": dict(zip(["task", "recipe", "encoder", "layer", "seed"], run, strict=True)),
        "status": "collapsed" if score is None else "complete",
        "reason": "constant" if score is None else None,
        "metrics": metrics,
        "baseline": {"spearman": 0.4},
        "best_epoch": None if score is None else 2,
        "parameters": {"published": 10 * run[3], "total": 11 * run[3]},
        "cost": {"seconds": 1.5},
        "environment": {"device": "cpu", "torch": "2.13.0", "transformers": "5.24.0"},
    }


@pytest.fixture
def records() -> list[dict]:
    return [record(run, score) for run, score in zip(RUNS, SCORES.values(), strict=True)]


def test_summary_counts_collapsed_seeds(records):
    summary = summarise(tabulate_runs(records, RUNS))
    chosen = summary[(summary["split"] == "test") & (summary["metric"] == "spearman")].set_index("layer")
    np.testing.assert_allclose(chosen.loc[0, "mean"], np.mean([0.50, 0.60, 0.61]))
    np.testing.assert_allclose(chosen.loc[0, "sd"], np.std([0.50, 0.60, 0.61], ddof=1))
    assert chosen.loc[0, ["n", "collapsed"]].tolist() == [3, 0]
    np.testing.assert_allclose(chosen.loc[1, "mean"], 0.75)
    assert chosen.loc[1, ["n", "collapsed"]].tolist() == [2, 1]
    assert chosen.loc[2, ["n", "collapsed"]].tolist() == [0, 2]
    assert np.isnan(chosen.loc[2, "mean"]) and np.isnan(chosen.loc[2, "sd"])


def test_order_of_results_does_not_matter(records):
    pd.testing.assert_frame_equal(tabulate_runs(records[::-1], RUNS), tabulate_runs(records, RUNS))


def test_baseline_is_that_of_the_test_split_for_collapsed_runs_too(records):
    runs = tabulate_runs(records, RUNS)
    test = (runs["split"] == "test") & (runs["metric"] == "spearman")
    assert (runs.loc[test, "baseline"] == 0.4).all() and len(runs[test]) == len(RUNS)
    assert runs.loc[~test, "baseline"].isna().all()
    assert len(summarise(runs)) == 3 * 4


def test_mixed_versions_are_counted_by_run(records):
    assert version_note(tabulate_runs(records, RUNS)) == ""
    for record in records[:2]:
        record["environment"]["torch"] = "2.14.0"
    runs = tabulate_runs(records, RUNS)
    assert set(runs["versions"]) == {"torch 2.14.0, transformers 5.24.0", "torch 2.13.0, transformers 5.24.0"}
    counts = "2 with torch 2.14.0, transformers 5.24.0; 6 with torch 2.13.0, transformers 5.24.0."
    assert version_note(runs).endswith(counts)
    assert version_note(runs[runs["layer"] == 2]) == ""


def test_missing_run_is_named(records):
    with pytest.raises(InputError, match="task sts, recipe tmft, encoder nan, layer 1, seed 0"):
        tabulate_runs(records[:3], RUNS)


def test_round_trip_keeps_names_that_look_like_missing_values(records, tmp_path):
    table = tabulate_runs(records, RUNS)
    table.to_csv(tmp_path / "runs.csv", index=False)
    again = pd.read_csv(tmp_path / "runs.csv", keep_default_na=False, na_values={"value": ""})
    assert (again["encoder"] == "nan").all()
    np.testing.assert_array_equal(again["value"], table["value"])


def test_curve_table_shows_collapses():
    points = pd.DataFrame(
        {
            "line": ["A", "A", "B"],
            "layer": [0, 1, 0],
            "mean": [50.04, 70.0, np.nan],
            "sd": [1.26, np.nan, np.nan],
            "n": [3, 1, 0],
            "collapsed": [1, 0, 2],
        }
    )
    lines = curve_table(points).splitlines()
    assert "50.0 ± 1.3 (1 collapsed)" in lines[1] and lines[1].rstrip().endswith("collapsed")
    assert "70.0" in lines[2] and "±" not in lines[2]
