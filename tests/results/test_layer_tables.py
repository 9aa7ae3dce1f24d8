"""Tables of chosen layers: the choice, its rows, and the paper's own tables from its authors' published scores."""

import numpy as np
import pandas as pd
import pytest
import yaml
from authors import authors_records, authors_runs, table2_parameters

from tmft.experiment.configuration import load
from tmft.results.layer_tables import best_layers, layer_rows, to_latex, to_markdown
from tmft.results.tables import summarise

TABLE = {
    "title": "Small",
    "task": "STS",
    "metrics": ["spearman", "pearson"],
    "rows": ["best", "last"],
    "recipes": {"tmft": "TMFT"},
    "encoders": {"b": "BERT", "e": "ELECTRA"},
}
# encoder, layer: validation, test (each Spearman, Pearson), collapsed seeds
SCORES = {
    ("b", 0): ((0.30, 0.31), (0.40, 0.41), 0),
    ("b", 1): ((0.50, 0.51), (0.60, 0.61), 0),
    ("e", 0): ((0.45, 0.40), (0.55, 0.50), 0),
    ("e", 1): ((0.40, 0.60), (0.70, 0.71), 0),
    ("e", 2): ((0.90, 0.90), (0.90, 0.90), 2),
}


def summary(scores: dict) -> pd.DataFrame:
    rows = [
        ["sts", "tmft", encoder, layer, 1_000_000 * (layer + 1), split, metric, value, 0.01, 3 - collapsed, collapsed]
        + [0 if value is None else value * (3 - collapsed) / 3, 0.02]
        for (encoder, layer), (validation, test, collapsed) in scores.items()
        for split, values in (("validation", validation), ("test", test))
        for metric, value in zip(TABLE["metrics"], values, strict=True)
    ]
    names = ["task", "recipe", "encoder", "layer", "parameters", "split", "metric", "mean", "sd", "n", "collapsed"]
    return pd.DataFrame(rows, columns=[*names, "mean_all", "sd_all"])


def test_the_layer_is_chosen_by_validation():
    """ELECTRA's layer 1 is better on test and by Pearson, its layer 2 the mean of one lucky seed."""
    chosen = best_layers(summary(SCORES), "spearman").set_index("encoder")["layer"]
    assert chosen.to_dict() == {"b": 1, "e": 0}


def test_the_choice_does_not_see_test_scores():
    shuffled = {key: (validation, (1 - test[0], 0), collapsed) for key, (validation, test, collapsed) in SCORES.items()}
    pd.testing.assert_frame_equal(*(best_layers(summary(scores), "spearman") for scores in (SCORES, shuffled)))


def test_the_metric_decides():
    assert best_layers(summary(SCORES), "pearson").set_index("encoder")["layer"].to_dict() == {"b": 1, "e": 1}


def test_last_rows_stand_beside_another_best_layer_only():
    rows = layer_rows(summary(SCORES), TABLE)
    assert rows[["encoder", "row", "layer"]].values.tolist() == [["b", "best", 1], ["e", "best", 0], ["e", "last", 2]]
    np.testing.assert_allclose(rows["test_spearman"], [60, 55, 30])
    np.testing.assert_allclose(rows["test_spearman_sound"], [60, 55, 90])
    assert rows["n"].tolist() == [3, 3, 1] and rows["collapsed"].tolist() == [0, 0, 2]


def test_markdown_shows_scores_maxima_and_collapsed_seeds():
    lines = to_markdown(layer_rows(summary(SCORES), TABLE), TABLE).splitlines()
    assert lines[-3:] == [
        "| BERT | 1 | 2.00 | **50.00**/**51.00** | **60.00**/**61.00** | 3 |",
        "| ELECTRA | 0 | 1.00 | 45.00/40.00 | 55.00/50.00 | 3 |",
        "| ELECTRA, last | 2 | 3.00 | 30.00/30.00 | 30.00/30.00 | 3, 2 collapsed (test without them 90.00/90.00) |",
    ]


def test_a_note_ends_the_caption():
    rows = layer_rows(summary(SCORES), TABLE)
    for text in (to_markdown(rows, TABLE, "Mixed."), to_latex(rows, TABLE, "Mixed.")):
        assert text.splitlines()[0].endswith("on validation. Mixed.")


def test_latex_has_the_same_cells():
    rows = layer_rows(summary(SCORES), TABLE)
    table = TABLE | {"encoders": {"b": "BERT_base", "e": "50 % & more"}}
    lines = to_latex(rows, table).splitlines()
    bold = " & ".join(f"\\textbf{{{one}}}/\\textbf{{{two}}}" for one, two in (("50.00", "51.00"), ("60.00", "61.00")))
    assert rf"BERT\_base & 1 & 2.00 & {bold} & 3 \\" in lines
    assert r"50 \% \& more & 0 & 1.00 & 45.00/40.00 & 55.00/50.00 & 3 \\" in lines


def test_every_special_character_of_latex_is_escaped():
    table = TABLE | {"encoders": {"b": r"a~b^c\d", "e": "50 % & $1_{x} #2"}}
    found = to_latex(layer_rows(summary(SCORES), TABLE), table)
    assert r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d" in found
    assert r"50 \% \& \$1\_\{x\} \#2" in found


def test_each_recipe_has_its_own_maxima():
    first = summary(SCORES)
    both = pd.concat([first, first.assign(recipe="ws", mean_all=first["mean_all"] / 2)])
    table = TABLE | {"recipes": {"tmft": "TMFT", "ws": "WS"}}
    text = to_markdown(layer_rows(both, table), table)
    assert text.count("**60.00**") == 1 and text.count("**30.00**") == 1


def test_a_layer_without_any_score_is_a_constant_answers():
    scores = SCORES | {("b", 2): ((None, None), (None, None), 3)}
    rows = layer_rows(summary(scores), TABLE)
    text = to_markdown(rows, TABLE)
    assert "| BERT, last | 2 | 3.00 | 0.00/0.00 | 0.00/0.00 | 3, 3 collapsed |" in text


@pytest.fixture(scope="module")
def published(root, authors_scores) -> tuple:
    """The experiment and the summary of the authors' published scores on the English STSB."""
    config, sources = (yaml.safe_load((root / name).read_text()) for name in ("config.yaml", "workflow/sources.yaml"))
    experiment = load(config, sources)
    records = authors_records(
        authors_scores, experiment.settings, table2_parameters(root / "tests/helpers/data/table2.yaml")
    )
    summary = summarise(authors_runs(records))
    return experiment, summary[summary["task"] == "stsb-en"]


def test_table_1_is_the_papers(published):
    experiment, summary = published
    keys = [key for key in experiment.table("table1")["encoders"] if key in set(summary["encoder"])]
    encoders = {key: experiment.encoder(key)["label"] for key in keys}
    table = TABLE | {"encoders": encoders}
    assert to_markdown(layer_rows(summary, table), table).splitlines()[-4:] == [
        "| BERT base | 12 | 107.72 | 86.04/85.94 | **82.76**/**83.01** | 5 |",
        "| ELECTRA base discriminator | 3 | 45.10 | 82.14/82.18 | 75.29/76.96 | 5 |",
        "| ELECTRA base discriminator, last | 12 | 108.89 | 72.32/71.56 | 66.93/67.35 | 5 |",
        "| ELECTRA base generator | 12 | 33.31 | **86.60**/**86.36** | 82.54/82.48 | 5 |",
    ]
