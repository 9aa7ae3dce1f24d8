"""The pipeline from outside: a whole experiment in small, what it leaves undone, and what it refuses."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from pipeline_runs import CONFIG, FIGURE, kill_group, snakemake, start, wait_for, without_cost
from sentence_transformers import SentenceTransformer

from tmft.experiment.configuration import load
from tmft.training.records import predictions_file


def results(folder: Path) -> list[dict]:
    found = []
    for path in sorted(folder.glob("results/scenes/**/*.json")):
        content = json.loads(path.read_text(), parse_constant=pytest.fail)
        found += content if isinstance(content, list) else [content]
    return found


def test_figure_shows_the_numbers_of_the_results(experiment):
    folder, _ = experiment
    points = pd.read_csv(folder / "figures" / "curve.csv")
    for point in points.itertuples():
        scores = [
            100 * record["metrics"]["test"]["spearman"]
            for record in results(folder)
            if (record["run"]["recipe"], record["run"]["layer"]) == (point.recipe, point.layer)
        ]
        assert point.mean == pytest.approx(np.mean(scores)) and point.n == len(scores)
        assert point.sd == pytest.approx(np.std(scores, ddof=1)) if len(scores) > 1 else np.isnan(point.sd)
    assert points[["recipe", "layer"]].values.tolist() == [["tmft", 0], ["tmft", 2], ["frozen", 0], ["frozen", 2]]
    for ending in ("pdf", "png"):
        assert (folder / "figures" / f"curve.{ending}").stat().st_size > 5000


def test_result_says_what_was_run(experiment):
    folder, _ = experiment
    record = json.loads((folder / "results/scenes/tmft/discriminator/layer2/seed1.json").read_text())
    assert record["run"] == {"task": "scenes", "recipe": "tmft", "encoder": "discriminator", "layer": 2, "seed": 1}
    assert record["status"] == "complete" and record["best_epoch"] in (1, 2)
    assert [epoch["epoch"] for epoch in record["history"]] == [1, 2]
    assert record["provenance"]["settings"].items() >= {"learning_rate": 1e-3, "batch_size": 32}.items()
    assert record["data"]["pairs"] == {"train": 60, "validation": 30, "test": 30}
    assert record["environment"]["threads"] == 1 and record["environment"]["torch"].startswith("2.")
    assert re.fullmatch("[0-9a-f]{64}", record["provenance"]["encoder"]["sha256"])
    assert record["parameters"]["total"] >= record["parameters"]["published"] > 0


def test_the_report_opens_without_a_network(experiment, root, browser_page, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    targets = [FIGURE, "figures/curve.html"]
    for arguments in (["--cores", "1"], ["--report", "report.html"]):
        run = snakemake(copied, *arguments, "--", *targets, root=root)
        assert run.returncode == 0, run.stdout
    browser_page.goto((copied / "report.html").as_uri())
    browser_page.get_by_text("Truncated model fine-tuning (TMFT)").wait_for()
    assert "encoders: discriminator;" in browser_page.locator("body").inner_text()
    browser_page.get_by_text("Results", exact=True).click()  # what the menu calls a single category
    browser_page.get_by_text("drawing", exact=True).click()
    view = browser_page.locator("td a").first
    view.click()
    image = browser_page.locator("img[src^='data:image/png']")
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") > 500
    browser_page.get_by_text("interactive", exact=True).click()
    view.click()
    page = browser_page.frame_locator("iframe")
    page.locator(".bk-Canvas").wait_for()
    assert page.locator("tbody tr").count() == 4


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--cores", "2"], {"PYTHONHASHSEED": "1"}),
        (["--cores", "1"], {"PYTHONHASHSEED": "2"}),
        (["--cores", "8", "--resources", "gpu=2"], {"PYTHONHASHSEED": "3"}),
    ],
)
def test_a_finished_experiment_has_nothing_to_do(experiment, root, arguments, environment):
    folder, _ = experiment
    run = snakemake(folder, FIGURE, "-n", *arguments, root=root, **environment)
    assert "Nothing to be done" in run.stdout


@pytest.fixture
def clone(experiment, root, tmp_path) -> Path:
    """A fresh clone of the repository, every file of it new, with results copied to `copied` at their times."""
    folder, _ = experiment
    clone = tmp_path / "clone"
    ignored = shutil.ignore_patterns(".venv", ".git", ".snakemake", "demo")
    shutil.copytree(root, clone, ignore=ignored, copy_function=shutil.copyfile)
    shutil.copytree(folder, clone / "copied")
    return clone


def rules_to_run(run: subprocess.CompletedProcess) -> set[str]:
    """The rules that a dry run lists."""
    assert run.returncode == 0, run.stdout
    return set(re.findall(r"^(\w+) +\d+$", run.stdout, re.MULTILINE)) - {"total"}


@pytest.mark.parametrize("with_records", [True, False])
def test_results_copied_beside_a_fresh_clone_have_nothing_to_do(clone, tmp_path, with_records):
    if not with_records:
        shutil.rmtree(clone / "copied/.snakemake")
    snakefile = ("--snakefile", str(clone / "Snakefile"))
    run = snakemake(clone / "copied", FIGURE, "-n", "--cores", "1", *snakefile, root=tmp_path)
    assert "Nothing to be done" in run.stdout


def test_results_copied_without_their_times_are_taken_as_they_are_by_touch(clone, experiment):
    folder, _ = experiment
    bare = clone / "bare"
    shutil.copytree(folder, bare, ignore=shutil.ignore_patterns(".snakemake"), copy_function=shutil.copyfile)
    before = {path: path.read_bytes() for path in bare.glob("results/**/*.*")}
    assert snakemake(bare, "--touch", "--cores", "1", FIGURE, root=clone).returncode == 0
    assert "Nothing to be done" in snakemake(bare, FIGURE, "-n", "--cores", "1", root=clone).stdout
    assert before == {path: path.read_bytes() for path in bare.glob("results/**/*.*")}


SHOWN = {"collect_results", "draw_figure"}


@pytest.mark.parametrize(
    ("module", "old", "new", "stale"),
    [
        ("encoders/truncation", "\n\n\n", "\n\n\nADDED = 1\n", {"tokenise", "finetune", "evaluate_frozen"} | SHOWN),
        ("results/tables", "\n\n\n", "\n\n\nADDED = 1\n", SHOWN),
        ("figures/style", "\n\n\n", "\n\n\nADDED = 1\n", {"draw_figure"}),
        ("encoders/truncation", '"""', '"""Added. ', set()),
        ("encoders/truncation", "\n\n\n", "\n\n\n# added\n", set()),
    ],
)
def test_an_edit_makes_stale_what_depends_on_it(clone, module, old, new, stale):
    path = clone / f"workflow/scripts/tmft/{module}.py"
    text = path.read_text()
    path.write_text(text.replace(old, new, 1))
    assert path.read_text() != text
    assert rules_to_run(snakemake(clone / "copied", FIGURE, "-n", "--cores", "1", root=clone)) == stale


def test_the_same_configuration_in_other_words_leaves_nothing_to_do(experiment, root, tmp_path):
    copied = shutil.copytree(experiment[0], tmp_path / "copied")
    whole = load(yaml.safe_load(CONFIG), {}).settings
    turned = {key: dict(reversed(item.items())) if isinstance(item, dict) else item for key, item in whole.items()}
    (copied / "config.yaml").write_text(yaml.safe_dump(dict(reversed(turned.items())), sort_keys=False))
    given = ("--config", "training={warmup: 0.1, learning_rate: 1e-3, epochs: 2}")
    assert "Nothing to be done" in snakemake(copied, FIGURE, "-n", "--cores", "1", *given, root=root).stdout


def test_a_large_file_with_a_newer_time_makes_nothing_stale(root, tmp_path):
    pairs = {"train": 15000, "validation": 10, "test": 10}
    tasks = {"scenes": {"scenes": pairs, "objective": "cosine_regression"}}
    config = {"encoders": {}, "tasks": tasks, "recipes": {}, "figures": {}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    target = "results/data/scenes.json"
    assert snakemake(tmp_path, target, "--cores", "1", root=root).returncode == 0
    large = tmp_path / "data/pairs/scenes.csv"
    assert large.stat().st_size > 1_000_000
    large.touch()
    assert "Nothing to be done" in snakemake(tmp_path, target, "-n", "--cores", "1", root=root).stdout


def test_a_run_made_again_gives_the_same_result(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    target = "results/scenes/tmft/discriminator/layer2/seed1.json"
    first = json.loads((copied / target).read_text())
    (copied / target).unlink()
    run = snakemake(copied, target, "--cores", "1", root=root)
    assert run.returncode == 0, run.stdout
    assert without_cost(first) == without_cost(json.loads((copied / target).read_text()))


def test_a_killed_run_goes_on_from_its_checkpoint(experiment, root, tmp_path):
    """The process group is killed in training; docs/reliability.md says what to do then. tests/faults has the rest."""
    copied = tmp_path / "copied"
    shutil.copytree(experiment[0], copied)
    config = yaml.safe_load(CONFIG)
    config["recipes"]["long"] = {"kind": "finetune", "training": {"epochs": 40}}
    (copied / "config.yaml").write_text(yaml.safe_dump(config))
    target = copied / "results/scenes/long/discriminator/layer2/seed1.json"
    arguments = (str(target.relative_to(copied)), "--cores", "1")

    def result() -> dict:
        run = snakemake(copied, *arguments, root=root)
        assert run.returncode == 0, run.stdout
        return without_cost(json.loads(target.read_text()))

    process = start(copied, *arguments, root=root)
    assert wait_for(process, copied, "results/**/*.checkpoint")
    kill_group(process)
    assert not target.exists()
    assert "--unlock" in snakemake(copied, *arguments, root=root).stdout
    snakemake(copied, "--unlock", root=root)
    killed = result()
    log = copied / "logs/finetune/scenes/long/discriminator/layer2/seed1.log"
    assert "the run goes on from here" in log.read_text()
    assert not list(copied.glob("results/**/*.checkpoint"))
    target.unlink()
    assert result() == killed and "goes on" not in log.read_text()


def test_several_runs_in_one_job_give_the_same_results(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    for made in ("results/scenes/tmft", "results/tables", "figures"):
        shutil.rmtree(copied / made)
    (copied / "config.yaml").write_text("units_per_job: 3\n" + CONFIG)
    run = snakemake(copied, FIGURE, "--cores", "2", root=root)
    assert run.returncode == 0, run.stdout
    assert re.search(r"^finetune_depth2_batch0 +1$", run.stdout, re.MULTILINE)
    for path in folder.glob("results/scenes/tmft/**/*.json"):
        own = copied / path.relative_to(folder)
        assert without_cost(json.loads(own.read_text())) == without_cost(json.loads(path.read_text()))
        pd.testing.assert_frame_equal(*(pd.read_parquet(predictions_file(one)) for one in (own, path)))


def test_costs_so_far_are_those_of_the_results_and_ask_for_no_training(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    (copied / "results/scenes/tmft/discriminator/layer2/seed1.json").unlink()
    run = snakemake(copied, "results/so_far/costs.csv", "--cores", "1", root=root)
    assert run.returncode == 0, run.stdout
    assert re.search(r"^total +1$", run.stdout, re.MULTILINE)
    costs = pd.read_csv(copied / "results/so_far/costs.csv")
    trained = [one["cost"] for one in results(copied) if one["run"]["recipe"] == "tmft"]
    (passed,) = {one["cost"]["seconds"] for one in results(copied) if one["run"]["recipe"] == "frozen"}
    assert costs["runs"].sum() == len(trained) + 1 + 1  # one pass over all layers, one pre-training
    assert costs["training_tokens"].sum() >= sum(cost["training_tokens"] for cost in trained)
    assert costs["evaluation_seconds"].sum() == pytest.approx(passed + sum(c["evaluation_seconds"] for c in trained))
    assert (costs[costs["recipe"] != "pretraining"]["peak_memory_mb"] > 50).all()
    whole = snakemake(copied, "results/costs.csv", "-n", "--cores", "1", root=root)
    assert rules_to_run(whole) == {"finetune", "sum_costs"}


@pytest.mark.parametrize("target", ["results/costs.csv", "results/reproduction.md"])
def test_what_a_target_needs_does_not_depend_on_what_else_is_asked_for(root, tmp_path, target):
    (tmp_path / "config.yaml").write_text(CONFIG)
    alone, among_all = (
        snakemake(tmp_path, "-n", "--cores", "1", "--", *targets, root=root).stdout
        for targets in ([target], ["all", target])
    )
    block = rf"    input: (.*)\n(?=    output: {target.partition('.')[0]}\.csv)"
    asked = [match and match[1].split(", ") for match in (re.search(block, text) for text in (alone, among_all))]
    assert asked[0] == asked[1]


def test_status_answers_beside_a_running_snakemake(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    (copied / "results/scenes/tmft/discriminator/layer2/seed1.json").unlink()
    locks = copied / ".snakemake/locks"
    locks.mkdir(parents=True, exist_ok=True)
    for kind in ("input", "output"):
        (locks / f"0.{kind}.lock").write_text("\n".join(str(path) for path in copied.rglob("*.json")))
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [root / "workflow/status", "--directory", copied]
    run = subprocess.run(command, cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0, run.stdout
    heading, curve, everything = run.stdout.splitlines()
    assert heading.split() == ["figure", "runs", "done", "collapsed", "left", "hours", "left"]
    assert curve.split() == ["curve", "5", "4", "0", "1", "0.0"]  # four runs and a pass over all layers
    assert everything.split()[1:] == curve.split()[1:]
    assert "| curve | 5 | 4 | 0 | 1 | 0.0 |" in (copied / "results/status.md").read_text()


@pytest.mark.parametrize("size", [1, 3])
def test_what_is_said_of_finetune_holds_for_all_its_forms(root, tmp_path, size):
    (tmp_path / "config.yaml").write_text(f"units_per_job: {size}\n{CONFIG}")
    given = ["--set-resources", "finetune:mem_mb=4321", "--set-threads", "finetune=2"]
    run = snakemake(tmp_path, "-n", "--cores", "2", FIGURE, *given, root=root)
    jobs = re.findall(r"^rule (finetune\w*):.*?resources: ([^\n]*)", run.stdout, re.MULTILINE | re.DOTALL)
    assert len(jobs) == (4 if size == 1 else 2)
    assert all("mem_mb=4321" in resources for _, resources in jobs)
    assert run.stdout.count("    threads: 2\n") == len(jobs)


def test_a_layer_is_exported_with_the_weights_of_its_best_seed(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    target = "results/export/scenes/tmft/discriminator/layer2"
    run = snakemake(copied, f"{target}/", "--cores", "2", root=root)
    assert run.returncode == 0, run.stdout
    runs = [json.loads((copied / f"results/scenes/tmft/discriminator/layer2/seed{s}.json").read_text()) for s in (0, 1)]
    best = max(runs, key=lambda record: record["metrics"]["validation"]["spearman"])
    pairs = pd.read_csv(copied / "data/pairs/scenes.csv").query("split == 'test'")
    encoder = SentenceTransformer(str(copied / target), device="cpu", local_files_only=True)
    u, v = (encoder.encode(pairs[side].tolist()) for side in ("sentence1", "sentence2"))
    predictions = pd.read_parquet(
        copied / f"results/scenes/tmft/discriminator/layer2/seed{best['run']['seed']}.predictions.parquet"
    )
    np.testing.assert_allclose(encoder.similarity_pairwise(u, v), predictions["prediction"], rtol=0, atol=1e-5)
    assert f"| test | Spearman | {100 * best['metrics']['test']['spearman']:.2f} |" in (
        copied / target / "README.md"
    ).read_text(encoding="utf-8")
    assert (copied / target / "model.onnx").exists() and not list(copied.glob("data/finetuned/**/*.safetensors"))


def test_a_cost_curve_needs_the_runs_of_all_layers_and_a_measurement(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    cost = "  cost: {kind: cost_curve, task: scenes, recipe: tmft, encoders: [discriminator]}\n"
    (copied / "config.yaml").write_text(CONFIG + cost)
    run = snakemake(copied, "-n", "--cores", "2", "figures/cost.pdf", root=root)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", run.stdout, re.MULTILINE))
    jobs = {"finetune": "2", "measure_cost": "1", "write_cost_table": "1", "draw_figure": "1", "total": "5"}
    assert counts == jobs, run.stdout


def test_gpu_jobs_run_one_at_a_time_by_default(experiment):
    _, printed = experiment
    running, most = set(), 0
    rule = None
    for line in printed.splitlines():
        if started := re.match(r"(?:local)?rule (\w+):", line):
            rule = started[1]
        elif (number := re.match(r"    jobid: (\d+)", line)) and rule in ("finetune", "evaluate_frozen"):
            running.add(number[1])
            most = max(most, len(running))
        elif done := re.match(r"Finished jobid: (\d+)", line):
            running.discard(done[1])
    assert most == 1


def test_a_failing_job_leaves_its_traceback_in_the_log_that_the_console_names(experiment, root, tmp_path):
    folder, _ = experiment
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    target = "results/scenes/tmft/discriminator/layer2/seed0.json"
    (broken / target).unlink()
    weights = broken / "data/pretrained/electra/discriminator/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    run = snakemake(broken, target, "--cores", "1", root=root)
    log = "logs/finetune/scenes/tmft/discriminator/layer2/seed0.log"
    assert run.returncode != 0 and not (broken / target).exists()
    assert re.search(rf"Error in rule finetune: .*electra/discriminator.*\(log: {log}\)", run.stdout)
    assert "discriminator" in (broken / log).read_text()


def test_published_experiment_lists_its_work(root, tmp_path):
    shutil.copy(root / "config.yaml", tmp_path)
    run = snakemake(tmp_path, "-n", "--resources", "gpu=1", "--cores", "1", "figures/fig2a.pdf", root=root)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", run.stdout, re.MULTILINE))
    assert counts == {
        "finetune": "260",
        "fetch_data": "3",
        "fetch_encoder": "4",
        "read_pairs": "1",
        "tokenise": "4",
        "collect_results": "1",
        "draw_figure": "1",
        "total": "274",
    }


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("results/scenes/tmft/brt/layer0/seed0.json", {}, ["unknown encoder 'brt'", "discriminator"]),
        ("results/scene/tmft/discriminator/layer0/seed0.json", {}, ["unknown task 'scene'", "scenes"]),
        ("results/scenes/tmf/discriminator/layer0/seed0.json", {}, ["unknown recipe 'tmf'", "tmft"]),
        ("results/scenes/frozen/discriminator/layer0/seed0.json", {}, ["recipe 'frozen'", "kind"]),
        ("results/scenes/tmft/discriminator/layer3/seed0.json", {}, ["layer 3", "0 to 2"]),
        ("results/scenes/tmft/discriminator/layer-1/seed0.json", {}, ["layer -1", "0 to 2"]),
        ("results/export/scenes/frozen/discriminator/layer1", {}, ["recipe 'frozen' trains nothing", "finetune"]),
        ("results/export/scenes/tmft/discriminator/layer3", {}, ["layer 3", "0 to 2"]),
        (FIGURE, {"seeds": ["one"]}, ["seeds.0", "'one'"]),
        (FIGURE, {"trainig": {}}, ["unknown key 'trainig'", "'training'"]),
        (FIGURE, {"encoders": {"google/electra": {"path": "x", "depth": 2}}}, ["google/electra", "keys go into paths"]),
    ],
)
def test_mistakes_are_refused_before_any_work(root, tmp_path, target, change, words):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load(CONFIG) | change))
    run = snakemake(tmp_path, target, "--cores", "1", root=root)
    assert run.returncode != 0
    assert any(all(word in line for word in words) for line in run.stdout.splitlines()), run.stdout
    assert "Traceback (most recent call last)" not in run.stdout
    assert not (tmp_path / "data").exists() and not (tmp_path / "results").exists()


@pytest.mark.parametrize("size", [1, 3])
def test_search_for_the_best_layer_trains_nothing_twice(experiment, root, tmp_path, size):
    """The figure's runs, layers 0 and 2, are there; the search adds one of layer 1, the sweep after it the other."""
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    (copied / "config.yaml").write_text(f"units_per_job: {size}\n{CONFIG}best_layer: {{frozen: frozen}}\n")
    run = snakemake(copied, "results/best_layer/scenes/discriminator.json", "--cores", "2", root=root)
    assert run.returncode == 0, run.stdout
    assert re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)$", run.stdout, re.MULTILINE) == ["search_best_layer"]
    (made,) = copied.glob("results/scenes/tmft/discriminator/layer1/seed*.json.finished")
    content = made.read_bytes()
    sweep = [
        f"results/scenes/tmft/discriminator/layer{layer}/seed{seed}.json" for layer in range(3) for seed in range(2)
    ]
    run = snakemake(copied, "--cores", "2", "--", *sweep, root=root)
    assert run.returncode == 0, run.stdout
    assert made.with_suffix("").read_bytes() == content and not made.exists()
    search = json.loads((copied / "results/best_layer/scenes/discriminator.json").read_text())
    files = copied.glob("results/scenes/tmft/discriminator/layer*/seed*.json")
    sweep = pd.DataFrame(
        {"tokens": record["cost"]["training_tokens"], **record["run"]}
        | {split: record["metrics"][split]["spearman"] for split in ("validation", "test")}
        for record in (json.loads(file.read_text()) for file in files)
    )
    first = sweep[sweep["seed"] == 0].set_index("layer")["validation"]
    assert [set(one["seeds"]) for one in search["rounds"]] == [{0}, {0}, {0, 1}]
    assert [one["named"] for one in search["rounds"]] == [[1], [first.idxmax()], [first.idxmax()]]
    own = sweep[sweep["layer"] == search["layer"]]
    assert search["test"]["mean"] == pytest.approx(own["test"].mean())
    tokens = sweep[(sweep["seed"] == 0) | (sweep["layer"] == search["layer"])]["tokens"].sum()
    assert search["cost"]["training_tokens"] == tokens
    assert search["cost"]["share"] == pytest.approx(tokens / sweep["tokens"].sum())
    text = (copied / "results/best_layer/scenes/discriminator.md").read_text()
    assert f"**Layer {search['layer']}**" in text and "zero-shot curve" in text


def test_search_refuses_a_recipe_that_does_not_train_single_layers(root, tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG + "best_layer: {recipe: frozen}\n")
    run = snakemake(tmp_path, "results/best_layer/scenes/discriminator.md", "-n", "--cores", "1", root=root)
    assert run.returncode != 0 and "best_layer.recipe 'frozen' is of kind frozen" in run.stdout
