"""Every stage of a small experiment in its own environment, and Snakemake in one that has nothing but Snakemake.

`make test-environments` runs this. With the stand-in for conda each environment is a plain virtual environment of the
pins in envs/*.yaml; what a script imports beyond them is missing there.
"""

import os
import re
import subprocess
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from conda_stand_in import install
from deepl_stand_in import StandIn, serving
from pipeline_runs import CONFIG
from stages import STAGES, pins
from tiny import tiny_encoder

from tmft.runtime.files import read_json

EXPERIMENT = """
device: cpu
seeds: [0]
encoders:
  discriminator: {pretraining: electra, part: discriminator}
  bert: {pretraining: bert}
  early: {pretraining: bert, step: 10}
  fetched: {path: fetched, depth: 2}
best_layer: {frozen: frozen, reference: bert}
tasks:
  own: {csv: {path: pairs.csv, label_range: [0, 5]}, objective: cosine_regression}
  scenes: {scenes: {train: 60, validation: 30, test: 30}, objective: cosine_regression}
  words: {scenes: {kind: words, train: 60, validation: 30, test: 30}, objective: cosine_regression}
  translated: {translation: {from: scenes, source: EN, target: DE}, objective: cosine_regression}
adaptation:
  scenes: {corpus: scenes, epochs: 1}
recipes:
  frozen: {kind: frozen}
  tmft: {kind: finetune}
  ws: {kind: finetune, start: {task: words, recipe: tmft}}
  dapt: {kind: finetune, start: {adaptation: scenes}}
figures:
  method: {kind: method}
  curve: {kind: layer_curve, task: scenes, recipes: [tmft, ws, dapt, frozen], encoders: [fetched], layers: [1, 2]}
  translated: {kind: layer_curve, task: translated, recipes: [frozen], encoders: [fetched]}
  own: {kind: layer_curve, task: own, recipes: [tmft], encoders: [fetched]}
  cost: {kind: cost_curve, task: scenes, recipe: tmft, encoders: [fetched]}
  moved: {kind: cka_curve, task: scenes, encoders: [fetched], recipe: tmft}
  sizes: {kind: pareto, task: scenes, recipe: frozen, families: {All: [fetched, bert]}}
  alike: {kind: cka_curve, task: scenes, encoders: [bert, fetched], recipe: tmft}
  learning:
    kind: pretraining_efficiency
    tasks: [scenes]
    recipe: tmft
    lines: {MLM: [early, bert], RTD: [discriminator]}
tables:
  table: {task: scenes, recipes: [frozen], encoders: [bert, fetched]}
"""
REAL = """
encoders: {}
tasks:
  sick: {source: sick, objective: cosine_regression}
  words: {source: word-similarity, objective: cosine_regression}
corpora:
  nli: {source: nli-evaluation}
recipes: {}
figures: {}
"""
REAL_SCRIPTS = {"fetch_data", "read_pairs", "read_words", "fetch_corpus"}
UNTIMED = {"report_status"}  # without output and so without a benchmark
ON_DEMAND = [
    "results/translation/estimate.json",
    "results/best_layer_regret/scenes/fetched.md",
    "results/export/scenes/tmft/fetched/layer1",
]

Run = Callable[..., None]


@pytest.fixture(scope="module")
def run(root: Path) -> Iterator[Run]:
    """Run an experiment: Snakemake from an environment of its own, each stage in the one that its rules name."""
    with tempfile.TemporaryDirectory() as place:
        python = Path(place, "snakemake", "bin", "python")
        venv.create(Path(place, "snakemake"), with_pip=True)
        lock = (root / "requirements/lock.txt").read_text()
        (pin,) = re.findall(r"^snakemake==.+$", lock, re.MULTILINE)
        subprocess.run([python, "-m", "pip", "install", "--quiet", pin], check=True)
        install(Path(place, "conda"), python)
        path = os.pathsep.join([f"{place}/conda/bin", os.environ["PATH"]])

        def run(folder: Path, *targets: str, **environment: str) -> None:
            command = [python, "-m", "snakemake", "--sdm", "conda", "--conda-prefix", f"{place}/environments"]
            command += ["--directory", folder, "--cores", "1", *targets]
            subprocess.run(command, cwd=root, env=os.environ | {"PATH": path} | environment, check=True)

        yield run


def scripts_run(folder: Path) -> set[str]:
    """The scripts of all rules that have left a benchmark, which they do when they have succeeded."""
    benchmarks = [path.relative_to(folder / "logs") for path in folder.glob("logs/**/*.tsv")]
    return {path.parts[0].removesuffix(".tsv") for path in benchmarks}


def test_every_stage_runs_in_its_own_environment(run: Run, tmp_path: Path) -> None:
    config = yaml.safe_load(CONFIG) | yaml.safe_load(EXPERIMENT)
    bert = {"objective": "masked_language_modelling", "snapshots": [10]}
    config["pretraining"]["bert"] = config["pretraining"]["electra"] | bert
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    tiny_encoder("deberta-v2", tmp_path / "fetched", 2)
    pairs = [f"the dog sleeps {n},a {'cat' if n % 2 else 'dog'} sleeps {n},{n % 6}" for n in range(40)]
    (tmp_path / "pairs.csv").write_text("\n".join(["sentence1,sentence2,label", *pairs]) + "\n")
    with serving(StandIn(lambda text, target: text[::-1])) as deepl:
        run(tmp_path, "all", *ON_DEMAND, DEEPL_SERVER_URL=deepl.url, DEEPL_AUTH_KEY="key")
    run(tmp_path, "hours_left")
    assert {script for _, script in STAGES} - REAL_SCRIPTS - UNTIMED <= scripts_run(tmp_path)
    results = [path for path in tmp_path.glob("results/scenes/**/*.json")]
    pinned = {name: version for name, version in pins("train").items() if name in ("torch", "transformers", "scipy")}
    for path in results:
        content = read_json(path)
        for record in content if isinstance(content, list) else [content]:
            found = {name: record["environment"][name].partition("+")[0] for name in pinned}
            assert found == pinned
    assert results


def test_real_files_are_read_in_their_environment(run: Run, tmp_path: Path, real_data: Path) -> None:
    (tmp_path / "config.yaml").write_text(REAL)
    targets = ["data/pairs/sick.csv", "data/pairs/words.csv", "data/corpora/nli.txt"]
    run(tmp_path, *targets, TMFT_MIRROR=str(real_data))
    assert scripts_run(tmp_path) == REAL_SCRIPTS
