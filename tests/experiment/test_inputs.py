"""Any wrong value of any key, any path into the pipeline's own folders, and the same experiment in other words.

The cases follow from the schema, so that a new key is covered by itself.
"""

import copy
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies
from pipeline_runs import ROOT

from tmft.experiment import schema
from tmft.experiment.configuration import load
from tmft.experiment.places import WRITTEN, check_places
from tmft.runtime.errors import InputError

SOURCES = yaml.safe_load((ROOT / "workflow" / "sources.yaml").read_text())
CONFIG = yaml.safe_load("""
mirror: null
seeds: [0, 1]
training: {learning_rate: 1e-4}
encoders:
  bert: {hub: google-bert/bert-base-cased, depth: 12}
  scratch: {pretraining: electra, part: generator, step: 10}
tasks:
  stsb: {source: stsb-en, objective: cosine_regression}
  scenes: {scenes: {train: 60, validation: 30, test: 30}, objective: cosine_regression}
  own: {csv: {path: own/pairs.csv, labels: ["no", "yes"]}, objective: cosine_logit}
  scores: {csv: {path: own/scores.csv, label_range: [0, 5]}, objective: cosine_regression}
  german: {translation: {from: stsb, source: EN, target: DE}, objective: cosine_regression}
recipes:
  tmft: {kind: finetune, training: {epochs: 3}}
  frozen: {kind: frozen}
  dapt: {kind: finetune, start: {adaptation: more}}
  chain: {kind: finetune, start: {task: stsb, recipe: tmft}}
corpora:
  text: {path: own/text.txt}
  scenes: {scenes: {sentences: 300, exclude: [scenes]}}
tokenizers: {scenes: {corpus: scenes, size: 300}}
pretraining:
  electra:
    {objective: replaced_token_detection, corpus: scenes, tokenizer: scenes, steps: 20, snapshots: [10]}
adaptation: {more: {corpus: text}}
best_layer: {frozen: frozen, reference: bert}
figures:
  curve: {kind: layer_curve, task: stsb, recipes: [tmft, frozen], encoders: [bert], layers: [0, 2]}
  sizes: {kind: pareto, task: stsb, recipe: tmft, families: {BERT: [bert], Scratch: [scratch]}}
  alike: {kind: cka_curve, task: stsb, encoders: [bert, scratch]}
tables: {table: {task: stsb, recipes: [tmft], encoders: [bert, scratch]}}
""")


def leaves() -> Iterator[tuple[tuple[Any, ...], Any, dict[str, Any]]]:
    """Each value of the completed configuration with its place and its schema, null ones too."""
    for where, value, own in schema.walk(load(CONFIG, SOURCES).settings):
        if where and not isinstance(value, dict) and ("type" in own or "enum" in own):
            yield where, value, own


def wrong_values(value: Any, own: dict[str, Any]) -> Iterator[Any]:
    """Values that cannot be meant by a key with this schema."""
    types = own.get("type", [])
    types = [types] if isinstance(types, str) else types
    yield {"an": "object"}
    if "boolean" not in types:
        yield from (True, False)
    if "null" not in types and None not in own.get("enum", [None]):
        yield None
    if "string" not in types:
        yield "word"
    if "array" in types:
        if own.get("minItems"):
            yield []
        if own.get("uniqueItems") and value:
            yield [value[0], value[0]]
    else:
        yield []
    if {"integer", "number"} & set(types):
        yield from (math.inf, -math.inf, math.nan, 10**30, -(10**30))
        if "minimum" in own:
            yield own["minimum"] - 1
        if "exclusiveMinimum" in own:
            yield own["exclusiveMinimum"]
        if "maximum" in own:
            yield own["maximum"] + 1
    if types and types[0] == "integer" and "string" not in types:
        yield from (1.5, "010", "1_000", "0x10")


LEAVES = list(leaves())


def put(config: dict[str, Any], where: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(config)
    at = changed
    for part in where[:-1]:
        at = at[part] if isinstance(at, list) else at.setdefault(part, {})
    at[where[-1]] = value
    return changed


@pytest.mark.parametrize(("where", "value", "own"), LEAVES, ids=[".".join(map(str, where)) for where, _, _ in LEAVES])
def test_a_wrong_value_of_any_key_is_refused_in_one_line_that_names_it(where, value, own):
    whole = load(CONFIG, SOURCES).settings
    for wrong in wrong_values(value, own):
        with pytest.raises(InputError) as caught:
            load(put(whole, where, wrong), SOURCES)
        message = str(caught.value)
        assert "\n" not in message, wrong
        assert str(where[-1]) in message or str(where[-2]) in message, (wrong, message)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seeds: [010]", ["line 1", "010", "8"]),
        ("training: {epochs: 0x10}", ["0x10", "16"]),
        ("training:\n  epochs: 1_000", ["line 2", "1_000", "1000"]),
        ("threads: {finetune: 1:30}", ["1:30", "90"]),
        ("seeds: [0]\nencoders: {}\nseeds: [1]", ["line 3", "'seeds'", "twice"]),
        ("a: [1", ["not a YAML file"]),
    ],
)
def test_numbers_that_are_not_what_they_look_like_are_refused(text, words):
    with pytest.raises(InputError) as caught:
        schema.check_spelling(text, "config.yaml")
    assert all(word in str(caught.value) for word in ["config.yaml", *words])


def test_the_projects_own_configurations_are_spelt_well(root):
    for file in [root / "config.yaml", *root.glob("demo/**/config.yaml"), *root.glob("examples/*/config.yaml")]:
        schema.check_spelling(file.read_text(), file.name)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("tasks", "own", "csv", "labels"), [False, True]),
        (("tasks", False), CONFIG["tasks"]["scenes"]),
        (("encoders", True), CONFIG["encoders"]["bert"]),
        (("encoders", "bert", "label"), False),
    ],
)
def test_words_that_yaml_takes_for_true_or_false_are_to_be_quoted(where, value):
    with pytest.raises(InputError, match="quotes"):
        load(put(CONFIG, where, value), SOURCES)


# Places


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TMFT_MIRROR", raising=False)
    return tmp_path


def path_keys() -> list[tuple[Any, ...]]:
    """The places of all keys that name a path, from the schema alone."""
    return [where for where, _, own in schema.walk(load(CONFIG | {"mirror": "own"}, SOURCES).settings) if is_path(own)]


def is_path(own: dict[str, Any]) -> bool:
    return own.get("format") == "path"


def declared_paths(part: Any) -> int:
    children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    return int(isinstance(part, dict) and is_path(part)) + sum(map(declared_paths, children))


def test_every_path_of_the_schema_is_among_the_cases():
    names = {where[-2] if where[-1] == "path" else where[-1] for where in path_keys()}
    assert names == {"mirror", "published_runs", "csv", "text"}  # and the encoder's, which is put in by the tests below
    assert declared_paths(schema.read()) == 5


PLACES = [
    "{written}",
    "{written}/mine",
    "{written}/deep/er/mine",
    "./{written}/mine",
    "own/../{written}/mine",
    "{here}/{written}/mine",
    "link/mine",
    ".",
    "..",
    "/",
    "{here}",
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("place", PLACES)
def test_no_path_may_overlap_with_what_the_pipeline_writes(folder, written, place):
    (folder / "real" / written / "mine").mkdir(parents=True)
    (folder / "own").mkdir()
    (folder / written).symlink_to(folder / "real" / written)
    (folder / "link").symlink_to(folder / "real" / written)
    (folder / "real" / written / "mine" / "config.json").write_text('{"num_hidden_layers": 2}')
    before = sorted(folder.rglob("*"))
    path = place.format(written=written, here=folder)
    config = put(CONFIG, ("encoders", "mine"), {"depth": 2})
    for where in [*path_keys(), ("encoders", "mine", "path")]:
        key = ".".join(map(str, where))
        mine = config if where[0] == "encoders" else CONFIG
        with pytest.raises(InputError, match=rf"{key}: .*pipeline writes"):
            load(put(mine, where, path), SOURCES)
    assert sorted(folder.rglob("*")) == before


def test_the_mirror_of_the_environment_is_held_to_the_same(folder, monkeypatch):
    monkeypatch.setenv("TMFT_MIRROR", "data/raw")
    with pytest.raises(InputError, match="TMFT_MIRROR"):
        load(CONFIG, SOURCES)


@pytest.mark.parametrize(
    "path", ["own", "datasets/mine", "data-mine/x", "../data/mine", "https://host/data", "logs.txt"]
)
def test_places_of_ones_own_are_taken(folder, path):
    check_places([("key", path)])


# The same in other words


def shuffled(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(item, draw)) for key, item in value.items()]
        draw.shuffle(items)
        return dict(items)
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


def reworded(given: Any, whole: Any, draw: random.Random) -> Any:
    """``given`` with some of the defaults of ``whole`` written out, and some numbers as text or of another type."""
    if isinstance(given, dict):
        written = {key: reworded(given[key], whole[key], draw) for key in given}
        left = {key: value for key, value in whole.items() if key not in given and draw.random() < 0.5}
        return written | left
    if isinstance(given, float) and draw.random() < 0.5:
        return draw.choice([repr(given), f"{given:e}"])
    if isinstance(given, int) and not isinstance(given, bool) and draw.random() < 0.3:
        return str(given)
    return given


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.randoms(use_true_random=False))
def test_order_defaults_and_spelling_of_numbers_do_not_matter(draw):
    whole = load(CONFIG, SOURCES).settings
    again = load(shuffled(reworded(CONFIG, whole, draw), draw), SOURCES).settings
    assert repr(again) == repr(whole)  # the order too, as rules compare their parameters as text
