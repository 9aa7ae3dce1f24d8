"""The data rules from outside: synthetic tasks of every kind, real files through a mirror, text and its report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tmft.datasets.pairs import read_pairs
from tmft.datasets.scenes.pairs import corpus, sts_pairs
from tmft.datasets.scenes.relexification import relexify

SIZES = {"train": 30, "validation": 10, "test": 10}
RANGES = {"sts": (0, 5), "paraphrase": (0, 1), "entailment": (0, 2), "words": (0, 10)}


def make(folder: Path, root: Path, config: dict, *targets: str, before: tuple = (), **environment: str) -> None:
    """Make the targets of an experiment that has data only, by a command put ``before`` Snakemake's."""
    config = {"encoders": {}, "recipes": {}, "figures": {}} | config
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [*before, sys.executable, "-m", "snakemake", "--directory", str(folder), "--cores", "2", *targets]
    env = os.environ | environment
    run = subprocess.run(command, cwd=root, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0, run.stdout


def read(path: Path) -> dict:
    return json.loads(path.read_text(), parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A task of every kind, and a corpus with one test sentence of the sts task in it."""
    folder = tmp_path_factory.mktemp("synthetic")
    tasks = {kind: {"scenes": {"kind": kind} | SIZES, "objective": "cosine_regression"} for kind in RANGES}
    leaked = sts_pairs(**SIZES, seed=0).query("split == 'test'")["sentence1"].iloc[0]
    (folder / "books.txt").write_text(f"nothing of the kind\n{leaked.upper()}\n")
    config = {"tasks": tasks, "corpora": {"books": {"path": "books.txt"}}}
    make(folder, root, config, "results/data/entailment.json", "results/data/corpus-books.json")
    return folder


@pytest.mark.parametrize("kind", RANGES)
def test_synthetic_tasks_have_their_sizes_and_labels(synthetic: Path, kind: str) -> None:
    table = read_pairs(synthetic / f"data/pairs/{kind}.csv")
    assert table["split"].value_counts().to_dict() == SIZES
    lowest, highest = RANGES[kind]
    assert table["label"].between(lowest, highest).all() and table["label"].max() > highest / 2
    assert table["sentence1"].str.contains(" ").any() == (kind != "words")


def test_class_shares_are_in_the_data_report(synthetic: Path) -> None:
    shares = read(synthetic / "results/data/entailment.json")["splits"]["train"]["shares"]
    assert set(shares) == {"0", "1", "2"} and sum(shares.values()) == pytest.approx(1)


def test_a_test_sentence_in_a_corpus_is_reported(synthetic: Path) -> None:
    tasks = read(synthetic / "results/data/corpus-books.json")["tasks"]
    assert set(tasks) == set(RANGES)
    assert tasks["sts"]["test"] == {"sentences": 20, "found": 1}
    assert tasks["sts"]["train"]["found"] == tasks["paraphrase"]["test"]["found"] == 0


def test_relexified_task_and_corpus_are_in_one_language(tmp_path: Path, root: Path) -> None:
    config = {
        "tasks": {
            "english": {"scenes": SIZES, "objective": "cosine_regression"},
            "german": {
                "translation": {"from": "english", "source": "EN", "target": "DE"},
                "objective": "cosine_regression",
            },
        },
        "corpora": {"german": {"scenes": {"sentences": 50, "language": "DE", "exclude": ["english"]}}},
    }
    translator = (sys.executable, str(root / "demo/translator.py"))
    make(tmp_path, root, config, "data/pairs/german.csv", "data/corpora/german.txt", before=translator)
    english, german = (read_pairs(tmp_path / f"data/pairs/{task}.csv") for task in ("english", "german"))
    assert list(german["sentence1"]) == [relexify(sentence, "DE") for sentence in english["sentence1"]]
    assert list(german["label"]) == list(english["label"])
    lines = (tmp_path / "data/corpora/german.txt").read_text().splitlines()
    pairs = {*english["sentence1"], *english["sentence2"]}
    assert lines == [relexify(sentence, "DE") for sentence in corpus(50, 0, pairs)]
    assert read(tmp_path / "data/pairs/german.provenance.json")["server"] == ["127.0.0.1"]


def test_relexification_changes_words_and_keeps_them_apart() -> None:
    text = " ".join(corpus(200, 0, set()))
    languages = [relexify(text, language) for language in ("DE", "ES", "KO")]
    words = text.split()
    for one in languages:
        exchanged = dict(zip(words, one.split(), strict=True))
        assert len(set(exchanged.values())) == len(exchanged)
        assert sum(word == other for word, other in exchanged.items()) < 0.1 * len(exchanged)
    assert len({text, *languages}) == 4


def test_real_files_through_a_mirror(tmp_path: Path, root: Path, real_data: Path) -> None:
    tasks = {key: {"source": key, "objective": "cosine_regression"} for key in ("sick", "word-similarity")}
    config = {"tasks": tasks, "corpora": {"nli": {"source": "nli-evaluation"}}}
    targets = [f"results/data/{name}.json" for name in ("sick", "word-similarity", "corpus-nli")]
    make(tmp_path, root, config, *targets, TMFT_MIRROR=str(real_data))
    assert len((tmp_path / "data/corpora/nli.txt").read_text().splitlines()) == 38884
    provenance = read(tmp_path / "data/corpora/nli.provenance.json")
    assert provenance["sentences"] == 38884
    assert read(tmp_path / "results/data/corpus-nli.json")["tasks"]["sick"]["test"]["found"] > 0
    assert read(tmp_path / "results/data/word-similarity-lists.json")["shared"]["simlex999 and simverb3500"] == 170
    assert read(tmp_path / "results/data/sick.json")["shared"]["train and test"]["pairs"] == 35
