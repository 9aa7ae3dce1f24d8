"""The search for the best layer: its cost, its choice, and replays over the authors' published scores."""

import numpy as np
import pandas as pd
import pytest
import yaml
from authors import authors_records, authors_runs
from hypothesis import given
from hypothesis import strategies as st

from best_layer_regret import regret_markdown, regret_rows, replay
from tmft.experiment.configuration import load
from tmft.results.best_layer import ROUNDS, Plan, closest_layer, layer_before_fall, layers_between, plan, round_record
from tmft.results.best_layer import search as search_layers
from tmft.results.layer_tables import best_layers
from tmft.results.tables import summarise, tabulate_records
from tmft.runtime.errors import InputError
from tmft.training.records import FORMAT

BASE = ["bert-base", "electra-base-discriminator", "electra-base-generator"]


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("layers", [7, 9, 13, 25])
def test_a_search_costs_at_most_35_percent_of_the_sweep(layers, seeds):
    search = plan(layers, seeds)
    runs = len(search.grid) + search.between + search.finalists * (seeds - 1)
    assert runs <= 0.35 * layers * seeds
    assert search.finalists >= 1 and search.between >= search.finalists


@given(st.integers(1, 40), st.integers(1, 10))
def test_a_grid_has_both_ends_and_no_gap_twice_another(layers, seeds):
    search = plan(layers, seeds)
    gaps = np.diff(search.grid)
    assert {search.grid[0], search.grid[-1]} == {0, layers - 1}
    assert not len(gaps) or gaps.max() <= gaps.min() + 1
    assert len(search.grid) + search.between <= layers and search.finalists >= 1


def test_plans_of_common_searches():
    assert plan(13, 5) == Plan((0, 2, 4, 6, 8, 10, 12), 3, 3)
    assert plan(7, 3) == Plan((0, 2, 4, 6), 1, 1)
    assert plan(3, 5) == Plan((0, 2), 1, 1)


def test_layers_between_are_next_to_the_best():
    scores = {0: 0.1, 2: 0.5, 4: 0.9, 6: 0.7, 9: 0.6}
    assert layers_between(scores, 2) == [5, 3]
    assert layers_between(scores, 9) == [5, 3, 7, 8, 1]


def record(layer: int, seed: int, validation: float | None, test: float = 0.0, tokens: int = 100) -> dict:
    scores = {"validation": {"spearman": validation}, "test": {"spearman": test}}
    return {
        "format": FORMAT,
        "run": {"task": "sts", "recipe": "tmft", "encoder": "bert", "layer": layer, "seed": seed},
        "status": "complete" if validation is not None else "collapsed",
        "reason": None,
        "metrics": scores if validation is not None else None,
        "best_epoch": 1,
        "parameters": {"published": 10},
        "cost": {"seconds": 1.0, "training_tokens": tokens},
        "provenance": {"settings": {"objective": "cosine_regression"}},
    }


SEARCH = Plan((0, 2, 4, 6), 2, 2)


def test_a_grid_names_layers_between_and_takes_a_collapsed_one_as_the_worst():
    scores = {0: (0.4, 0.9), 2: (0.6, 0.1), 4: (None, 0.9), 6: (0.5, 0.2)}
    found = round_record("grid", SEARCH, [record(layer, 0, *score) for layer, score in scores.items()], "spearman")
    assert found["named"] == [1, 3] and found["seeds"] == [0]
    assert [one["layer"] for one in found["scores"]] == [2, 6, 0]


def test_finalists_are_the_best_on_validation_of_those_that_did_not_collapse():
    scores = {0: (0.4, 0.9), 1: (0.6, 0.1), 2: (None, 0.9), 4: (0.5, 0.2)}
    records = [record(layer, 0, *score) for layer, score in scores.items()]
    assert round_record("between", SEARCH, records, "spearman")["named"] == [1, 4]


def test_a_finalists_collapsed_seed_counts_as_no_relation():
    records = [record(0, 0, 0.6), record(0, 1, None), record(1, 0, 0.3), record(1, 1, 0.4)]
    assert round_record("final", SEARCH, records, "spearman")["named"] == [1]


def test_nothing_is_named_where_every_run_collapsed():
    records = [record(layer, 0, None) for layer in SEARCH.grid]
    assert all(round_record(name, SEARCH, records, "spearman")["named"] == [] for name in ROUNDS)


def test_a_search_asks_for_each_run_once_and_stops_where_all_collapsed():
    asked = []

    def find(layer: int, seed: int) -> dict:
        asked.append((layer, seed))
        return record(layer, seed, 0.1 * layer if seed == 0 else 0.5)

    sweep = [(layer, seed) for layer in range(7) for seed in range(3)]
    found = search_layers([0, 1, 2], "spearman", sweep, find)
    assert asked == [(0, 0), (2, 0), (4, 0), (6, 0), (5, 0), (6, 1), (6, 2)]
    assert [one["named"] for one in found.rounds] == [[5], [6], [6]]
    assert len(found.results) == 7 and found.sweep_runs == 21
    with pytest.raises(InputError, match="every run of the search collapsed"):
        search_layers([0, 1, 2], "spearman", sweep, lambda layer, seed: record(layer, seed, None) | {"reason": "x"})


def test_regret_is_against_the_choice_of_the_sweep():
    """The sweep chooses layer 1 by validation, though layer 2 is better on test."""
    tests = {0: (0.50, 0.52), 1: (0.60, 0.64), 2: (0.70, 0.70)}
    validation = {0: 0.5, 1: 0.8, 2: 0.7}
    sweep = [record(layer, seed, validation[layer], tests[layer][seed]) for layer in tests for seed in (0, 1)]
    search = {
        "layer": 1,
        "encoder": "BERT",
        "task": "STS",
        "recipe": "TMFT",
        "metric": "spearman",
        "rounds": [{"seeds": [0]}, {"seeds": [0]}, {"seeds": [0, 1]}],
        "cost": {"share": 0.3},
        "proposals": {"frozen curve": 0},
    }
    rows = regret_rows(search, sweep)
    assert [(row["method"], row["layer"], row["within"]) for row in rows] == [
        ("whole sweep", 1, True),
        ("search", 1, True),
        ("search, seed 1 first", 1, True),
        ("frozen curve", 0, False),
        ("last layer", 2, True),
    ]
    np.testing.assert_allclose([row["regret"] for row in rows], [0, 0, 0, 11, -8], atol=1e-9)
    np.testing.assert_allclose([row["share"] for row in rows], [1, 0.3, 0.3, 1 / 3, 1 / 3])
    text = regret_markdown(rows, search)
    assert "| frozen curve | 0 | 51.00 ± 1.41 (2 seeds) | 11.00 | no | 33.3% |" in text
    collapsed = [one if one["run"]["layer"] < 2 else record(2, one["run"]["seed"], None) for one in sweep]
    rows = regret_rows(search, collapsed)
    assert rows[-1]["regret"] is None and rows[-1]["within"] is None
    text = regret_markdown(rows, search)
    assert "| last layer | 2 | collapsed | - | - | 33.3% |" in text


def test_layers_that_similarities_single_out():
    values = [0.8, 0.9, None, 0.7, 0.6]
    similarities = [{"layer": layer, "biased": value} for layer, value in enumerate(values)]
    assert closest_layer(similarities) == 1 and layer_before_fall(similarities) == 1


@pytest.fixture(scope="module")
def curves(root, authors_scores) -> dict[tuple[str, str, str], pd.DataFrame]:
    """The runs of each published curve. Where there is no validation the test scores stand in."""
    config, sources = (yaml.safe_load((root / name).read_text()) for name in ("config.yaml", "workflow/sources.yaml"))
    runs = authors_runs(authors_records(authors_scores, load(config, sources).settings, {}))
    found = {}
    for key, own in runs[runs["metric"] == "spearman"].groupby(["task", "recipe", "encoder"]):
        stand_in = own.assign(split="validation") if set(own["split"]) == {"test"} else own[:0]
        found[key] = pd.concat([own, stand_in])
    return found


def test_a_replay_ends_where_the_first_seed_collapsed_everywhere():
    scores = [record(layer, seed, None if seed == 0 else 0.1 * layer) for layer in range(3) for seed in (0, 1)]
    runs = tabulate_records(scores)
    assert replay(runs, [0, 1], "spearman") is None
    assert replay(runs, [1, 0], "spearman") == 2


def within_one_sd(runs: pd.DataFrame, layer: int) -> bool:
    """Whether the layer's test score is at most one standard deviation below that of the sweep's choice."""
    summary = summarise(runs)
    test = summary[summary["split"] == "test"].set_index("layer")
    chosen = best_layers(summary, "spearman")["layer"].iloc[0]
    return test["mean"][layer] >= test["mean"][chosen] - test["sd"][chosen]


def rotations(runs: pd.DataFrame) -> list[list[int]]:
    """The seeds in order, each of them first once."""
    seeds = sorted(int(seed) for seed in runs["seed"].unique())
    return [seeds[first:] + seeds[:first] for first in range(len(seeds))]


def test_replays_of_the_published_runs_choose_as_well_as_the_sweep(curves):
    """Whatever seed comes first; the three base encoders by validation, the others by the test scores themselves."""
    assert len(curves) == 27
    hits = [
        within_one_sd(runs, replay(runs, seeds, "spearman")) for runs in curves.values() for seeds in rotations(runs)
    ]
    assert len(hits) == 135 and all(hits)
    layers = {key: replay(curves["stsb-en", "tmft", key], [0, 1, 2, 3, 4], "spearman") for key in BASE}
    assert list(layers.values()) == [12, 3, 12]
