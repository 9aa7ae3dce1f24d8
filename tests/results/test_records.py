"""Results: several runs in one job, failures among them, and files that are no results."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tmft.datasets.tokens import TokenPairs
from tmft.results.records import FORMAT, Provenance, make_in_turn, predictions_file, read_records, write_predictions
from tmft.runtime.errors import InputError

PROVENANCE = Provenance({"epochs": 1}, {"source": {"path": "x"}, "commit": None, "sha256": "0"}, "1", "code")
UNITS = [(0, 0), (1, 0), (2, 0)]
PAIRS = TokenPairs(["a", "b"], ([], []), np.zeros(2))


class Maker:
    """Makes results, counts them, and fails where it is told to."""

    def __init__(self, failing: set[int] = frozenset(), provenance: Provenance = PROVENANCE):
        self.made, self.failing, self.provenance = [], failing, provenance

    def __call__(self, layer: int, seed: int, predictions: Path) -> dict:
        self.made.append(layer)
        write_predictions(predictions, PAIRS, {layer: np.array([0.25, -1.0], dtype=np.float32)})
        if layer in self.failing:
            raise RuntimeError(f"layer {layer}\nbroke")
        return {"format": FORMAT, "run": {"layer": layer, "seed": seed}, "provenance": vars(self.provenance)}


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    return [tmp_path / f"layer{layer}" / f"seed{seed}.json" for layer, seed in UNITS]


def test_each_unit_has_its_own_files(outputs):
    make_in_turn(Maker(), dict.fromkeys(UNITS, PROVENANCE), outputs)
    assert [read_records(path)[0]["run"]["layer"] for path in outputs] == [0, 1, 2]
    assert sorted(path.name for path in outputs[2].parent.iterdir()) == ["seed0.json", "seed0.predictions.parquet"]
    predictions = pd.read_parquet(predictions_file(outputs[2]))
    assert predictions.to_dict("list") == {"layer": [2, 2], "pair_id": ["a", "b"], "prediction": [0.25, -1.0]}


def test_a_run_without_predictions_has_empty_ones(tmp_path):
    write_predictions(tmp_path / "p.parquet", PAIRS, {0: np.array([1, 2]), 1: None})
    predictions = pd.read_parquet(tmp_path / "p.parquet").set_index("layer")["prediction"]
    assert predictions[0].tolist() == [1, 2] and predictions[1].isna().all() and len(predictions[1]) == 2


def test_a_failing_unit_does_not_take_the_others_with_it(outputs, capsys):
    with pytest.raises(InputError, match=r"layer 1, seed 0: layer 1 broke \(1 of 3 runs failed"):
        make_in_turn(Maker({1}), dict.fromkeys(UNITS, PROVENANCE), outputs)
    assert "RuntimeError" in capsys.readouterr().err
    assert not any(path.exists() for path in outputs)
    again = Maker()
    make_in_turn(again, dict.fromkeys(UNITS, PROVENANCE), outputs)
    assert again.made == [1]
    assert all(path.exists() and predictions_file(path).exists() for path in outputs)


def test_what_waits_is_not_used_after_a_change(outputs):
    with pytest.raises(InputError):
        make_in_turn(Maker({1}), dict.fromkeys(UNITS, PROVENANCE), outputs)
    changed = Provenance({"epochs": 2}, PROVENANCE.encoder, PROVENANCE.tokens_sha256, PROVENANCE.code)
    again = Maker(provenance=changed)
    make_in_turn(again, dict.fromkeys(UNITS, changed), outputs)
    assert again.made == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"format": 1, "run"', "not a whole JSON file"),
        ("", "not a whole JSON file"),
        ('{"spearman": 0.8}', "not a result of format 1"),
        ("[1, 2]", "not a result of format 1"),
        (json.dumps({"format": FORMAT + 1}), "not a result of format 1"),
    ],
)
def test_what_is_no_result_is_named(tmp_path, content, words):
    path = tmp_path / "seed0.json"
    path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_records(path)
    assert str(path) in str(caught.value) and "run the same command again" in str(caught.value)
