"""The configuration: numbers, defaults, references, and one clear line for each mistake."""

import copy

import pytest
import yaml
from configurations import CONFIG, SOURCES

from tmft.experiment import schema as config_schema
from tmft.experiment.configuration import Run, load
from tmft.experiment.figures import figure_runs
from tmft.runtime.errors import InputError


def changed(path: str, value: object) -> dict:
    """The valid configuration with the value at a dotted path replaced."""
    config = copy.deepcopy(CONFIG)
    *parents, key = path.split(".")
    place = config
    for parent in parents:
        place = place[parent]
    place[key] = value
    return config


def test_numbers_in_exponent_notation_are_numbers():
    experiment = load(CONFIG, SOURCES)
    assert experiment.training("frozen")["learning_rate"] == 2e-5
    assert experiment.training("tmft")["weight_decay"] == 1e-3


def test_nested_numbers_of_the_command_line_are_numbers():
    experiment = load(changed("seeds", ["3", "4"]) | {"training": {"learning_rate": "2e-5", "epochs": "2"}}, SOURCES)
    assert experiment.settings["seeds"] == [3, 4]
    assert experiment.training("frozen").items() >= {"learning_rate": 2e-5, "epochs": 2}.items()


def test_recipe_overrides_common_training():
    experiment = load(CONFIG, SOURCES)
    assert experiment.training("tmft")["epochs"] == 3
    assert experiment.training("frozen")["epochs"] == 10


def test_published_protocol_is_the_default():
    published = {
        "batch_size": 32,
        "epochs": 10,
        "learning_rate": 2e-5,
        "weight_decay": 0.01,
        "warmup": 0.1,
        "clip_norm": 1,
    }
    assert load(CONFIG, SOURCES).training("frozen").items() >= published.items()


def test_tasks_have_their_label_range_and_metrics():
    experiment = load(CONFIG, SOURCES)
    assert experiment.label_range("stsb") == [0, 5] and experiment.label_range("words") == [0, 10]
    assert experiment.label_range("paraphrase") == [0, 1] and experiment.label_range("entailment") == [0, 2]
    mains = [experiment.metrics(task)[0] for task in ("stsb", "words", "paraphrase", "entailment")]
    assert mains == ["spearman", "spearman", "f1", "macro_f1"]


def test_protocol_decides_what_an_adaptation_leaves_open():
    published = load(CONFIG, SOURCES).adaptation("lines")
    assert (published["train_head"], published["clip_norm"], published["schedule"]) == (False, None, "batches")
    corrected = load(changed("protocol", "corrected"), SOURCES).adaptation("lines")
    assert (corrected["train_head"], corrected["clip_norm"], corrected["schedule"]) == (True, 1.0, "steps")
    config = changed("adaptation.lines.clip_norm", 0.5)
    assert load(config, SOURCES).adaptation("lines") == published | {"clip_norm": 0.5}
    paper = {"batch_size": 32, "accumulation": 8, "epochs": 10, "learning_rate": 2e-5, "weight_decay": 0.01}
    assert published.items() >= paper.items()


def test_a_figure_may_show_some_of_the_seeds():
    some = load(changed("figures.sizes.seeds", 1), SOURCES)
    assert {run.seed for run in figure_runs(some, "sizes")} == {some.settings["seeds"][0]}
    assert {run.seed for run in figure_runs(load(CONFIG, SOURCES), "sizes")} == set(some.settings["seeds"])


def test_input_is_left_as_it_was():
    before = copy.deepcopy(CONFIG)
    load(CONFIG, SOURCES)
    assert before == CONFIG


def test_figure_runs_follow_the_config():
    runs = figure_runs(load(CONFIG, SOURCES), "curve")
    assert runs[:3] == [Run("stsb", "tmft", "bert", layer, seed) for layer, seed in ((0, 0), (0, 1), (1, 0))]
    assert runs[-1] == Run("stsb", "frozen", "bert", 3, None)
    assert len(runs) == 4 * 2 + 4


def test_figures_of_other_kinds_and_tables_need_all_layers_or_no_runs():
    experiment = load(CONFIG, SOURCES)
    assert [run.encoder for run in figure_runs(experiment, "sizes")] == ["bert"] * 8 + ["electra"] * 6
    assert [run.encoder for run in figure_runs(experiment, "cost")] == ["bert"] * 8
    assert figure_runs(experiment, "alike") == figure_runs(experiment, "method") == []
    assert len(list(experiment.table_runs("table"))) == 8
    assert experiment.figure("alike")["recipe"] is None and experiment.table("table")["rows"] == ["best", "last"]


def test_an_efficiency_plot_needs_last_layers_of_each_task():
    runs = figure_runs(load(CONFIG, SOURCES), "learning")
    assert runs[:3] == [
        Run("scenes", "tmft", encoder, 2, seed) for encoder, seed in (("early", 0), ("early", 1), ("electra", 0))
    ]
    assert {run.layer for run in runs} == {2} and len(runs) == 2 * 2 * 2


def test_main_metric_is_the_tasks():
    assert load(CONFIG, SOURCES).metrics("stsb")[0] == "spearman"


def test_pretrained_encoder_has_the_depth_it_is_made_with():
    assert load(CONFIG, SOURCES).layers("electra") == range(3)


@pytest.mark.parametrize(
    ("kind", "label_range"),
    [(None, [0, 5]), ("sts", [0, 5]), ("paraphrase", [0, 1]), ("entailment", [0, 2]), ("words", [0, 10])],
)
def test_kind_of_scenes_decides_the_label_range(kind, label_range):
    scenes = {"train": 40, "validation": 10, "test": 10} | ({"kind": kind} if kind else {})
    assert load(changed("tasks.scenes.scenes", scenes), SOURCES).label_range("scenes") == label_range


def test_text_of_a_corpus_may_be_pinned():
    experiment = load(changed("corpora.nli", {"source": "nli"}), SOURCES)
    assert experiment.corpus_source("nli") == SOURCES["nli"]


def test_published_config_is_valid_and_complete(root, tmp_path, monkeypatch):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder/config.json").write_text('{"num_hidden_layers": 4}')
    monkeypatch.chdir(tmp_path)
    sources = yaml.safe_load((root / "workflow/sources.yaml").read_text())
    for path in [root / "config.yaml", *root.glob("*/config.yaml"), *root.glob("examples/*/config.yaml")]:
        load(yaml.safe_load(path.read_text()), sources)
    experiment = load(yaml.safe_load((root / "config.yaml").read_text()), sources)
    assert len(figure_runs(experiment, "fig2a")) == 260


def test_every_key_is_documented():
    def undocumented(schema: dict, path: str) -> list[str]:
        found = []
        for key, value in schema.get("properties", {}).items():
            where = f"{path}.{key}"
            found += [] if "description" in value else [where]
            found += undocumented(value, where)
            for nested in (value.get("additionalProperties"), value.get("items")):
                found += undocumented(nested, where) if isinstance(nested, dict) else []
        return found

    schema = config_schema.read()
    assert undocumented(schema, "") == []
    for name, definition in schema["$defs"].items():
        assert undocumented(definition, name) == []


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("figures.curve.encoders", ["brt"], ["unknown encoder 'brt'", "bert, early, electra"]),
        ("figures.curve.task", "sts", ["unknown task 'sts'", "paraphrase, scenes, stsb"]),
        ("figures.curve.recipes", ["wz"], ["unknown recipe 'wz'", "frozen, tmft, ws"]),
        ("figures.curve.task", "entailment", ["recipe 'frozen'", "task 'entailment'", "kind finetune"]),
        ("recipes.ws.start", "scratch", ["recipes.ws.start", "'scratch'", "pretrained", "random"]),
        ("recipes.ws.start", {"recipe": "first"}, ["recipes.ws.start", "{task: KEY, recipe: KEY}"]),
        ("recipes.ws.start", {"task": "wrds", "recipe": "first"}, ["unknown task 'wrds'", "words"]),
        ("recipes.ws.start", {"task": "words", "recipe": "frst"}, ["unknown recipe 'frst'", "first"]),
        ("recipes.ws.start", {"task": "words", "recipe": "frozen"}, ["recipes.ws.start", "'frozen' is of kind frozen"]),
        ("recipes.ws.kind", "frozen", ["recipes.ws.start", "'ws' is of kind frozen"]),
        ("recipes.first.start", {"task": "words", "recipe": "ws"}, ["start", "circle", "first > ws > first"]),
        ("recipes.dapt.start", {"adaptation": "nli"}, ["unknown adaptation 'nli'", "lines"]),
        ("adaptation.lines.corpus", "books", ["unknown corpus 'books'", "lines"]),
        ("adaptation.lines.mask_share", 0.95, ["adaptation.lines", "mask_share and random_share"]),
        ("tasks.words.scenes.kind", "word", ["tasks.words.scenes.kind", "'word'"]),
        ("protocol", "paper", ["protocol", "'paper'", "published"]),
        ("figures.curve.layers", [-1], ["layer -1", "'bert'", "0 to 3"]),
        ("figures.curve.layers", [4], ["layer 4", "'bert'", "0 to 3"]),
        ("encoders.google/bert", {"hub": "google/bert", "depth": 3}, ["google/bert", "encoders", "hub:"]),
        ("encoders.bert.depht", 3, ["unknown key 'depht'", "encoders.bert", "'depth'"]),
        ("training.learning_rat", 1, ["unknown key 'learning_rat'", "training", "'learning_rate'"]),
        ("recipes.tmft.training", {"epoch": 1}, ["unknown key 'epoch'", "recipes.tmft.training", "'epochs'"]),
        ("seeds", [0, "one"], ["seeds.1", "'one'", "integer"]),
        ("seeds", [0.5], ["seeds.0", "0.5", "integer"]),
        ("seeds", [], ["seeds"]),
        ("training.learning_rate", "fast", ["training.learning_rate", "'fast'", "number"]),
        ("training.epochs", 0, ["training.epochs", "0", "minimum"]),
        ("encoders.bert", {"depth": 3}, ["encoders.bert", "hub, path, package, pretraining", "none"]),
        ("encoders.bert", {"hub": "a/b", "path": "c", "depth": 3}, ["encoders.bert", "hub and path"]),
        ("encoders.bert", {"hub": "a/b"}, ["'depth'", "encoders.bert"]),
        ("encoders.bert.revision", "main", ["encoders.bert.revision", "'main'"]),
        ("encoders.electra.part", "encoder", ["encoders.electra.part", "generator, discriminator"]),
        ("encoders.electra.pretraining", "bert", ["unknown pretraining 'bert'", "electra"]),
        ("tasks.stsb.source", "stsb", ["unknown source 'stsb'", "stsb-en"]),
        ("tasks.stsb.source", "nli", ["unknown source 'nli'", "stsb-en"]),
        ("corpora.lines", {"source": "stsb-en"}, ["unknown source 'stsb-en'", "nli"]),
        ("corpora.lines", {"source": "nli", "path": "lines.txt"}, ["corpora.lines", "path and source"]),
        ("tasks.scenes.scenes.kind", "sentences", ["tasks.scenes.scenes.kind", "'sentences'", "'paraphrase'"]),
        ("tasks.stsb.objective", "cosine", ["tasks.stsb.objective", "'cosine'", "cosine_regression"]),
        ("pretraining.electra.mask_probabilty", 0.1, ["unknown key 'mask_probabilty'", "'mask_probability'"]),
        ("pretraining.electra.corpus", "books", ["unknown corpus 'books'", "lines"]),
        ("pretraining.electra.tokenizer", "word", ["'word'"]),
        ("pretraining.electra.random_share", 0.2, ["pretraining.electra", "mask_share and random_share"]),
        ("encoders.early.step", 5, ["encoders.early.step", "5", "pretraining.electra.snapshots [4]"]),
        ("encoders.bert.step", 4, ["encoders.bert.step", "'pretraining' only"]),
        ("pretraining.electra.snapshots", [4, 11], ["pretraining.electra.snapshots", "11", "10 steps"]),
        ("figures.learning.lines", {"RTD": ["early"], "MLM": ["bert"]}, ["'bert'", "not pre-trained", "'learning'"]),
        ("figures.learning.lines", {"RTD": ["erly"]}, ["unknown encoder 'erly'", "early"]),
        ("figures.learning.tasks", ["sts"], ["unknown task 'sts'", "stsb"]),
        ("figures.learning.task", "stsb", ["unknown key 'task'", "figures.learning", "'tasks'"]),
        ("figures.sizes.families", {"A": ["brt"]}, ["unknown encoder 'brt'", "bert, early, electra"]),
        ("figures.sizes.recipe", "nosuch", ["unknown recipe 'nosuch'", "frozen, tmft, ws"]),
        ("figures.sizes.recipes", ["tmft"], ["unknown key 'recipes'", "figures.sizes", "'recipe'"]),
        ("figures.alike.encoders", ["bert"], ["'alike'", "with itself", "'recipe'"]),
        ("figures.alike.encoders", [], ["figures.alike.encoders"]),
        ("figures.sizes.seeds", 7, ["'sizes'", "7 seeds", "'seeds'"]),
        ("figures.cost.encoders", ["brt"], ["unknown encoder 'brt'", "bert, early, electra"]),
        ("figures.cost.recipes", ["tmft"], ["unknown key 'recipes'", "figures.cost", "'recipe'"]),
        ("figures.alike.families", {}, ["unknown key 'families'", "figures.alike"]),
        ("figures.alike", {"kind": "cka_curve", "encoders": ["bert", "electra"]}, ["'task'", "figures.alike"]),
        ("figures.method", {"kind": "drawing"}, ["figures.method.kind", "'drawing'"]),
        ("figures.method", {"title": "Method"}, ["'kind'", "figures.method"]),
        ("tables.table.encoders", ["brt"], ["unknown encoder 'brt'", "bert, early, electra"]),
        ("tables.table.rows", ["first"], ["tables.table.rows.0", "'first'"]),
        ("tables.curve", CONFIG["tables"]["table"], ["'curve'", "a figure and a table"]),
        ("fgures", {}, ["unknown key 'fgures'", "'figures'"]),
    ],
)
def test_mistakes_give_one_clear_line(path, value, words):
    with pytest.raises(InputError) as caught:
        load(changed(path, value), SOURCES)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_missing_section_is_named():
    config = copy.deepcopy(CONFIG)
    del config["encoders"]
    with pytest.raises(InputError, match="'encoders' is missing"):
        load(config, SOURCES)


def test_two_encoders_with_one_label_are_not_shown_together():
    config = copy.deepcopy(CONFIG)
    for key in ("bert", "electra"):
        config["encoders"][key]["label"] = "the same"
    with pytest.raises(InputError, match="'bert' and 'electra', both with the label 'the same'"):
        load(config, SOURCES)


@pytest.mark.parametrize("name", ["num_hidden_layers", "n_layers"])
def test_an_encoder_alone_is_an_experiment(tmp_path, name):
    (tmp_path / "config.json").write_text(f'{{"{name}": 4}}')
    experiment = load({"encoders": {"mine": {"path": str(tmp_path)}}}, SOURCES)
    runs = figure_runs(experiment, "stsb-en")
    assert experiment.label_range("stsb-en") == [0, 5]
    assert runs[0] == Run("stsb-en", "frozen", "mine", 0, None) and runs[-1] == Run("stsb-en", "tmft", "mine", 4, 4)
    assert len(runs) == 5 * 5 + 5


def test_each_task_has_a_figure_of_all_that_can_be_scored_where_none_is_asked_for():
    config = {key: value for key, value in CONFIG.items() if key != "figures"}
    figures = load(config, SOURCES).settings["figures"]
    assert list(figures) == sorted(CONFIG["tasks"])
    assert figures["scenes"]["recipes"] == ["dapt", "first", "frozen", "tmft", "ws"]
    assert figures["entailment"]["recipes"] == ["first", "tmft", "ws"]
    assert figures["words"]["encoders"] == ["bert", "early", "electra"]


def test_own_pairs_have_the_range_of_their_scores_or_classes():
    def label_range(objective: str, **declared: object) -> list[float]:
        task = {"csv": {"path": "pairs.csv", **declared}, "objective": objective}
        return load(changed("tasks.own", task), SOURCES).label_range("own")

    assert label_range("cosine_regression", label_range=["-1", "1"]) == [-1, 1]
    assert label_range("cosine_logit", labels=["no", "yes"]) == [0, 1]
    assert label_range("difference_classification", labels=[3, 5, 7]) == [0, 2]


@pytest.mark.parametrize(
    ("objective", "declared", "words"),
    [
        ("cosine_regression", {}, ["label_range", "neither"]),
        ("cosine_regression", {"labels": ["no", "yes"]}, ["label_range alone", "it has labels"]),
        ("cosine_logit", {"label_range": [0, 1]}, ["labels alone", "it has label_range"]),
        ("cosine_logit", {"labels": ["no", "yes"], "label_range": [0, 1]}, ["label_range and labels"]),
        ("cosine_logit", {"labels": ["a", "b", "c"]}, ["two labels"]),
        ("cosine_regression", {"label_range": [5, 0]}, ["lowest score first"]),
        ("cosine_regression", {"label_range": [0, 5], "shares": [1, 0, 0]}, ["shares.1"]),
    ],
)
def test_labels_of_own_pairs_fit_the_objective(objective, declared, words):
    task = {"csv": {"path": "pairs.csv", **declared}, "objective": objective}
    with pytest.raises(InputError) as caught:
        load(changed("tasks.own", task), SOURCES)
    for word in ["tasks.own.csv", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(("content", "words"), [(None, ["there is no", "config.json"]), ("{}", ["'depth'"])])
def test_a_folder_that_does_not_say_its_depth_is_refused(tmp_path, content, words):
    if content:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(InputError) as caught:
        load({"encoders": {"mine": {"path": str(tmp_path)}}}, SOURCES)
    for word in ["encoders.mine", *words]:
        assert word in str(caught.value)
