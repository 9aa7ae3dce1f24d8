"""Tables, comparisons, figures and the report of a whole small experiment, from outside."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from pipeline_runs import CONFIG, snakemake

ANALYSIS = """
units_per_job: 4
encoders:
  discriminator: {pretraining: electra, part: discriminator}
  generator: {pretraining: electra, part: generator}
figures:
  method: {kind: method}
  sizes: {kind: pareto, task: scenes, recipe: tmft, families: {D: [discriminator], G: [generator]}}
  alike: {kind: cka_curve, task: scenes, encoders: [generator, discriminator], recipe: tmft, seed: 1}
  moved: {kind: cka_curve, task: scenes, encoders: [generator], recipe: tmft}
tables:
  table: {task: scenes, recipes: [tmft], encoders: [discriminator, generator], reference: discriminator}
"""


@pytest.fixture(scope="module")
def analysis(tmp_path_factory, root) -> Path:
    """The folder of an experiment with encoders of one layer, of which everything has been made."""
    folder = tmp_path_factory.mktemp("analysis")
    config = yaml.safe_load(CONFIG) | yaml.safe_load(ANALYSIS) | {"device": "cpu"}
    sizes = config["pretraining"]["electra"]
    sizes["layers"] = sizes["generator"]["layers"] = 1
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    run = snakemake(folder, "--cores", "2", root=root)
    assert run.returncode == 0, run.stdout
    return folder


def test_everything_has_been_made_and_nothing_is_left_to_do(analysis, root):
    for name in ("method", "sizes", "alike", "moved"):
        assert all((analysis / f"figures/{name}.{ending}").stat().st_size > 5000 for ending in ("pdf", "png"))
    assert "Nothing to be done" in snakemake(analysis, "-n", "--cores", "1", root=root).stdout
    assert (
        "Nothing to be done" in snakemake(analysis, "-n", "--cores", "1", "results/reproduction.md", root=root).stdout
    )


def test_comparison_has_a_value_a_layer_before_and_after_fine_tuning(analysis):
    for name in ("results/cka/scenes", "results/cka/scenes/tmft/seed1"):
        comparison = json.loads((analysis / name / "generator-vs-discriminator.json").read_text())
        assert [(layer["layer"], layer["n"], layer["reason"]) for layer in comparison["layers"]] == [
            (0, 60, None),
            (1, 60, None),
        ]
        assert all(0 < layer["biased"] <= 1 and layer["unbiased"] <= 1 for layer in comparison["layers"])
        assert len(comparison["provenance"]) == (2 if name.endswith("scenes") else 4)
    points = pd.read_csv(analysis / "figures/alike.csv")
    assert points["line"].unique().tolist() == ["pre-trained, not fine-tuned", "after tmft, seed 1"]
    before, after = (group["biased"].to_numpy() for _, group in points.groupby("line", sort=False))
    assert (np.abs(before - after) > 1e-6).all()


def test_an_encoder_is_compared_with_itself_after_fine_tuning(analysis):
    comparison = json.loads((analysis / "results/cka/scenes/tmft/seed0/generator.json").read_text())
    assert [layer["layer"] for layer in comparison["layers"]] == [0, 1]
    assert all(0.5 < layer["biased"] < 1 - 1e-9 for layer in comparison["layers"])
    assert pd.read_csv(analysis / "figures/moved.csv")["line"].unique().tolist() == ["before and after tmft, seed 0"]


def test_fine_tuned_weights_are_not_kept(analysis):
    assert not list((analysis / "data").glob("finetuned/**/*.safetensors"))


def test_table_has_the_scores_of_the_results(analysis):
    rows = pd.read_csv(analysis / "results/tables/table.csv")
    for row in rows.itertuples():
        paths = analysis.glob(f"results/scenes/tmft/{row.encoder}/layer{row.layer}/seed*.json")
        scores = [100 * json.loads(path.read_text())["metrics"]["test"]["pearson"] for path in paths]
        assert row.test_pearson == pytest.approx(np.mean(scores)) and row.n == len(scores) == 2
    best = rows[rows["row"] == "best"]
    assert best["encoder"].tolist() == ["discriminator", "generator"]
    for ending, mark in (("md", f"{best['test_spearman'].iloc[0]:.2f}"), ("tex", r"\toprule")):
        assert mark in (analysis / f"results/tables/table.{ending}").read_text()


def test_table_says_how_sure_its_differences_are(analysis):
    comparisons = pd.read_csv(analysis / "results/tables/table_comparisons.csv")
    own = comparisons[comparisons["against"] == "discriminator"]
    assert own[own["encoder"] == "generator"]["first_layer"].tolist() == [0, 1]
    assert (comparisons["low"] < comparisons["difference"]).all() and (own["first_n"] == 2).all()
    assert "generator against discriminator, by layer: " in (analysis / "results/tables/table.md").read_text()


def test_two_results_are_compared_from_what_is_there(analysis, root):
    name = "results/compare/scenes/tmft/discriminator/vs/tmft/generator"
    run = snakemake(analysis, "--cores", "1", f"{name}.md", root=root)
    assert run.returncode == 0 and "1 of 1 steps" in run.stdout, run.stdout
    comparison = json.loads((analysis / f"{name}.json").read_text())
    assert comparison["pairs"] == 30 and [row["first_layer"] for row in comparison["layers"]] == [0, 1]
    for row in comparison["layers"]:
        files = analysis.glob(f"results/scenes/tmft/discriminator/layer{row['first_layer']}/seed*.json")
        scores = [100 * json.loads(file.read_text())["metrics"]["test"]["spearman"] for file in files]
        assert row["first"] == pytest.approx(np.mean(scores), abs=1e-4) and row["first_n"] == 2


def test_report_says_that_this_is_another_experiment(analysis):
    assert set(pd.read_csv(analysis / "results/reproduction.csv")["verdict"]) == {"not comparable"}
    text = (analysis / "results/reproduction.md").read_text()
    assert re.search(r"numbers and claims of the paper: \d+ not comparable", text)


def test_report_of_the_published_experiment_needs_nothing_that_is_not_there(root, tmp_path):
    (tmp_path / "config.yaml").write_text((root / "config.yaml").read_text())
    run = snakemake(tmp_path, "results/so_far/reproduction.md", "--cores", "1", root=root)
    assert run.returncode == 0, run.stdout
    verdicts = pd.read_csv(tmp_path / "results/so_far/reproduction.csv")["verdict"]
    assert len(verdicts) > 100 and set(verdicts) == {"not run"}
