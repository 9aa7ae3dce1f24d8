"""Two results on the same test pairs: their difference, what its interval is made of, the lines of a table."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from tmft.experiment.compared import compared_layers, compared_runs
from tmft.experiment.configuration import Experiment, load
from tmft.experiment.sides import SIDE, Side, parse_side
from tmft.results.compare import COLUMNS, Predictions, ahead, comparison_lines, table_comparisons, to_markdown
from tmft.runtime.errors import InputError

PAIRS, SEEDS = 300, range(5)


@pytest.fixture
def labels() -> pd.Series:
    generator = np.random.default_rng(0)
    ids = [f"pair{number}" for number in range(PAIRS)]
    return pd.Series(generator.integers(0, 6, PAIRS).astype(float), index=ids, name="label")


def write(
    folder: Path, run: tuple, labels: pd.Series, predictions: np.ndarray | None, threshold: float | None = None
) -> Path:
    """A result and its predictions, pairs in another order than the labels."""
    recipe, encoder, layer, seed = run
    path = folder / "-".join(map(str, run)) / "seed.json"
    path.parent.mkdir(parents=True)
    record = {"format": 1, "run": {"task": "t", "recipe": recipe, "encoder": encoder, "layer": layer, "seed": seed}}
    record["metrics"] = None if predictions is None else {"test": {"threshold": threshold}}
    path.write_text(json.dumps(record))
    values = np.full(len(labels), np.nan) if predictions is None else predictions
    table = pd.DataFrame({"layer": layer, "pair_id": labels.index, "prediction": values.astype("float32")})
    table.sample(frac=1, random_state=0).to_parquet(path.with_suffix(".predictions.parquet"))
    return path


@pytest.fixture
def predicted(tmp_path, labels) -> tuple[Predictions, dict]:
    """An encoder that is good at layer 1 and worse at layer 2, another that is good at the last; five seeds each."""
    generator = np.random.default_rng(1)
    noise = {("d", 0): 9, ("d", 1): 2, ("d", 2): 4, ("b", 0): 9, ("b", 1): 3, ("b", 2): 2}
    cosines = {}
    for (encoder, layer), amount in noise.items():
        for seed in SEEDS:
            cosines["tmft", encoder, layer, seed] = labels.to_numpy() + generator.normal(0, amount, PAIRS)
    files = [write(tmp_path, run, labels, values) for run, values in cosines.items()]
    return Predictions(files, labels, "spearman"), cosines


def test_scores_are_those_of_the_predictions(predicted, labels):
    predictions, cosines = predicted
    found = predictions.compare(Side("tmft", "d", 1), Side("tmft", "b", 2))
    scores = [
        np.mean([stats.spearmanr(cosines["tmft", *at, seed].astype("float32"), labels).statistic for seed in SEEDS])
        for at in (("d", 1), ("b", 2))
    ]
    assert (found["first"], found["second"]) == (pytest.approx(100 * scores[0]), pytest.approx(100 * scores[1]))
    assert found["difference"] == pytest.approx(found["first"] - found["second"])
    assert found["low"] < found["difference"] < found["high"] and (found["first_n"], found["second_n"]) == (5, 5)
    assert list(found) == COLUMNS


def test_one_run_against_another_is_scipys_bootstrap(predicted, labels):
    predictions, cosines = predicted
    found = predictions.compare(Side("tmft", "d", 1, 0), Side("tmft", "b", 1, 1))

    def difference(first, second, gold):
        return 100 * (stats.spearmanr(first, gold).statistic - stats.spearmanr(second, gold).statistic)

    data = cosines["tmft", "d", 1, 0], cosines["tmft", "b", 1, 1], labels.to_numpy()
    options = {"paired": True, "vectorized": False, "method": "percentile", "rng": np.random.default_rng(0)}
    interval = stats.bootstrap(data, difference, n_resamples=2000, **options).confidence_interval
    width = interval.high - interval.low
    assert found["low"] == pytest.approx(interval.low, abs=0.1 * width)
    assert found["high"] == pytest.approx(interval.high, abs=0.1 * width)


def test_a_result_is_as_good_as_itself(predicted):
    found = predicted[0].compare(Side("tmft", "d", 1), Side("tmft", "d", 1))
    assert found["low"] == found["difference"] == found["high"] == 0 and ahead(found) == "neither"


def test_classes_are_decided_by_the_threshold_of_the_result(tmp_path):
    labels = pd.Series([0, 1] * 50, index=[f"p{number}" for number in range(100)]).astype(float)
    right = np.where(labels == 1, 0.8, 0.2)
    files = [
        write(tmp_path, ("tmft", "a", 0, 0), labels, right, threshold=0.5),
        write(tmp_path, ("tmft", "a", 0, 1), labels, right, threshold=0.1),
        write(tmp_path, ("tmft", "a", 1, 0), labels, None),
    ]
    predictions = Predictions(files, labels, "f1")
    sides = [Side("tmft", "a", 0, 0), Side("tmft", "a", 0, 1), Side("tmft", "a", 1, 0)]
    assert predictions.compare(*sides[:2])["first"] == 100
    assert predictions.compare(*sides[1:])["first"] == predictions.compare(*sides[1:])["second"]  # all are positive
    assert predictions.compare(*sides[:2])["second"] == pytest.approx(100 * 2 / 3)


@pytest.mark.parametrize(("metric", "score"), [("spearman", 0), ("pearson", 0), ("macro_f1", 100 * (2 / 3) / 2)])
def test_a_collapsed_run_scores_as_a_constant_answer(tmp_path, metric, score):
    labels = pd.Series([0.0, 1.0] * 10, index=[f"p{number}" for number in range(20)])
    file = write(tmp_path, ("tmft", "a", 0, 0), labels, None)
    found = Predictions([file], labels, metric).compare(Side("tmft", "a", 0), Side("tmft", "a", 0))
    assert found["first"] == pytest.approx(score)


TABLE = {
    "metrics": ["spearman", "pearson"],
    "recipes": {"tmft": "TMFT"},
    "encoders": {"b": "BERT", "d": "ELECTRA"},
    "depths": {"b": 2, "d": 2},
    "reference": "b",
}
ROWS = pd.DataFrame(
    [["tmft", "b", "best", 2], ["tmft", "d", "best", 1], ["tmft", "d", "last", 2]],
    columns=["recipe", "encoder", "row", "layer"],
)


def test_a_table_compares_best_and_last_layers_and_each_encoder_with_the_reference(predicted):
    comparisons = table_comparisons(ROWS, TABLE, predicted[0])
    kinds = comparisons[["encoder", "against", "first_layer", "second_layer"]].values.tolist()
    assert kinds == [["d", "d", 1, 2], ["d", "b", 0, 0], ["d", "b", 1, 1], ["d", "b", 2, 2]]
    lines = comparison_lines(comparisons, TABLE)
    gain = comparisons.iloc[0]
    interval = f"{gain['difference']:+.2f} ({gain['low']:+.2f} to {gain['high']:+.2f})"
    assert lines[2] == f"- TMFT: ELECTRA, layer 1 over its last, 2: {interval}"
    assert gain["low"] > 0
    assert lines[3] == "- TMFT: ELECTRA against BERT, by layer: above at 1, below at 2, neither shown at 0"
    assert len(lines) == 4


def test_a_table_without_differences_says_nothing(predicted):
    alone = ROWS[ROWS["encoder"] == "b"]
    assert comparison_lines(table_comparisons(alone, TABLE, predicted[0]), TABLE) == []


def test_the_page_says_what_the_interval_is_of(predicted):
    labels = {"task": "STS", "first": "ELECTRA", "second": "BERT"}
    several = [predicted[0].compare(Side("tmft", "d", layer), Side("tmft", "b", layer)) for layer in (1, 2)]
    text = to_markdown(several, labels, "spearman", PAIRS)
    assert text.startswith("# ELECTRA against BERT on STS\n")
    assert "300 test pairs, the same for both, and of the seeds" in text
    assert text.count("| 5/5 | first |") == 1 and text.count("| 5/5 | second |") == 1
    single = [predicted[0].compare(Side("tmft", "d", 1, 0), Side("tmft", "b", 2, 0))]
    text = to_markdown(single, labels, "spearman", PAIRS)
    assert "does not know of other seeds" in text and "| 1/2 |" in text


@pytest.fixture(scope="module")
def experiment(root) -> Experiment:
    return load(*(yaml.safe_load((root / name).read_text()) for name in ("config.yaml", "workflow/sources.yaml")))


@pytest.mark.parametrize(
    ("first", "second", "layers", "runs"),
    [
        ("tmft/bert-base", "tmft/electra-base-discriminator", [(layer, layer) for layer in range(13)], 2 * 13 * 5),
        ("tmft/bert-base", "tmft/bert-tiny", [(layer, layer) for layer in range(3)], 2 * 3 * 5),
        ("tmft/bert-tiny", "tmft/bert-tiny/layer2", [(0, 2), (1, 2), (2, 2)], 3 * 5 + 5),
        ("ws/bert-base/layer3", "dapt/bert-base/layer12", [(3, 12)], 10),
        ("ws/bert-base/layer3", "dapt/bert-base", [(3, 3)], 10),
        ("tmft/bert-base/layer3/seed0", "tmft/bert-base/layer3/seed4", [(3, 3)], 2),
        ("frozen/bert-base/layer3", "tmft/bert-base/layer3", [(3, 3)], 1 + 5),
    ],
)
def test_what_is_compared(experiment, first, second, layers, runs):
    assert re.fullmatch(SIDE, first) and re.fullmatch(SIDE, second)
    sides = parse_side(first), parse_side(second)
    assert compared_layers(experiment, *sides) == layers
    assert len(list(compared_runs(experiment, "stsb-en", *sides))) == runs


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ("tmft/bert-base/layer13", "layer 13 of encoder 'bert-base'"),
        ("tmft/bert-base/layer1/seed9", "seed 9 of tmft/bert-base"),
        ("tmtf/bert-base", "unknown recipe 'tmtf'"),
        ("tmft/bert", "unknown encoder 'bert'"),
        ("frozen/bert-base/layer1/seed0", "seed 0 of frozen/bert-base"),
    ],
)
def test_what_is_not_there_is_named(experiment, first, problem):
    with pytest.raises(InputError, match=problem):
        list(compared_runs(experiment, "stsb-en", parse_side(first), parse_side("tmft/bert-large")))
