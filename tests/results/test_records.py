"""Results: several runs in one job, failures among them, and files that are no results."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.runtime.errors import InputError
from tmft.training.records import FORMAT, Provenance, predictions_file, read_records, write_predictions
from tmft.training.run import Runs

PROVENANCE = Provenance({"epochs": 1}, {"source": {"path": "x"}, "commit": None, "sha256": "0"}, "1", "code")
UNITS = [(0, 0), (1, 0), (2, 0)]
PAIRS = TokenPairs(["a", "b"], ([], []), np.zeros(2))


class Maker(Runs):
    """Makes results, counts them, and fails where it is told to."""

    def __init__(self, failing: set[int] = frozenset(), provenance: Provenance = PROVENANCE):
        self.made, self.failing, self.own = [], failing, provenance
        self.tokens = Tokens({"test": PAIRS}, 0, 8, 0)

    def provenance(self, folder: Path) -> Provenance:
        return self.own

    def finetune(self, folder: Path, layer: int, seed: int, result: Path) -> tuple:
        self.made.append(layer)
        if layer in self.failing:
            raise RuntimeError(f"layer {layer}\nbroke")
        found = {"format": FORMAT, "run": {"layer": layer, "seed": seed}, "provenance": vars(self.own)}
        return found, SimpleNamespace(predictions=np.array([0.25, -1.0], dtype=np.float32)), None


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    return [tmp_path / f"layer{layer}" / f"seed{seed}.json" for layer, seed in UNITS]


def test_each_unit_has_its_own_files(outputs):
    Maker().finetune_in_turn(dict.fromkeys(UNITS, Path("e")), outputs)
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
        Maker({1}).finetune_in_turn(dict.fromkeys(UNITS, Path("e")), outputs)
    assert "RuntimeError" in capsys.readouterr().err
    assert not any(path.exists() for path in outputs)
    again = Maker()
    again.finetune_in_turn(dict.fromkeys(UNITS, Path("e")), outputs)
    assert again.made == [1]
    assert all(path.exists() and predictions_file(path).exists() for path in outputs)


def test_what_waits_is_not_used_after_a_change(outputs):
    with pytest.raises(InputError):
        Maker({1}).finetune_in_turn(dict.fromkeys(UNITS, Path("e")), outputs)
    changed = Provenance({"epochs": 2}, PROVENANCE.encoder, PROVENANCE.tokens_sha256, PROVENANCE.code)
    again = Maker(provenance=changed)
    again.finetune_in_turn(dict.fromkeys(UNITS, Path("e")), outputs)
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


def test_a_run_is_found_where_it_lies_or_waits_and_made_once(tmp_path):
    """The result that a search needs: the sweep's own, one that waits for its job, or a new one, which waits then."""
    maker, result = Maker(), tmp_path / "layer0" / "seed0.json"
    assert maker.find(Path("e"), 0, 0, result) == maker.find(Path("e"), 0, 0, result)
    assert maker.made == [0] and not result.exists()
    maker.finetune_in_turn({(0, 0): Path("e")}, [result])
    assert maker.made == [0] and result.exists()
    maker.find(Path("e"), 0, 0, result)
    assert maker.made == [0]
    other = Maker(provenance=Provenance({"epochs": 3}, PROVENANCE.encoder, "1", "code"))
    other.find(Path("e"), 0, 0, result)
    assert other.made == [0] and read_records(result)[0]["provenance"]["settings"] == {"epochs": 1}
