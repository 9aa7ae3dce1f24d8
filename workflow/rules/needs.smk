# What the figures and tables need of runs: their results, what these start from, and how large each run is.
import json
from functools import partial
from itertools import product

from tmft.experiment.configuration import Run
from tmft.results.hours import EVALUATION
from tmft.experiment.work import Work

SHOWN = [*config["figures"], *config["tables"]]


@cache
def hidden_size(key):
    """The width of an encoder; None where it is not here and the configuration does not say it."""
    encoder = experiment.encoder(key)
    file = Path(encoder_folder(key)) / "config.json"
    if file.exists():
        own = json.loads(file.read_text())
        return own.get("hidden_size", own.get("dim"))
    if "pretraining" in encoder:
        return pretrained_sizes(encoder["pretraining"], encoder["part"])["hidden_size"]
    return encoder["hidden_size"]


def pretrained_sizes(pretraining, part):
    """The sizes of an encoder that is pre-trained here."""
    settings = experiment.pretraining(pretraining)
    return settings["generator"] if part == "generator" else settings


def rows_of(task):
    """The number of pairs in each split of a task; None for one's own, which are not counted before they are read."""
    match experiment.task(task):
        case {"csv": _}:
            return None
        case {"scenes": scenes}:
            return scenes
        case {"translation": translation}:
            return rows_of(translation["from"])
    return experiment.source(task)["rows"]


def corpus_size(key):
    """The number of sentences in a text; None where it is not here yet."""
    if "scenes" in experiment.corpus(key):
        return experiment.corpus(key)["scenes"]["sentences"]
    file = Path(corpus_file(key))
    return sum(1 for line in file.open("rb")) if file.exists() else None


class Needs(dict):
    """What figures and tables need of runs: by result file a function that makes its Work, and the followers.

    The followers of a run are the files of what starts from its weights.
    """

    def add(self, file, make, follower):
        """Add a result that is needed, for itself or by a follower."""
        _, followers = self.setdefault(file, (make, {}))
        followers.update({follower: None} if follower else {})

    def add_run(self, run, follower=None):
        """Add a run and what it starts from; its weights are kept where there is a follower."""
        made_by = {"frozen": "evaluate_frozen", "adaptive": "train_adaptive", "finetune": "finetune"}
        script = "keep_finetuned" if follower else made_by[experiment.recipe(run.recipe)["kind"]]
        file = result_file(run).replace("results/", "results/finetuned/" if follower else "results/", 1)
        self.add(file, partial(run_work, run, script), follower)
        match experiment.recipe(run.recipe)["start"]:
            case {"adaptation": adaptation}:
                adapted = f"results/adaptation/{adaptation}/{run.encoder}.json"
                self.add(adapted, partial(adaptation_work, adaptation, run.encoder), file)
                self.add_encoder(run.encoder, adapted)
            case {"task": task, "recipe": first}:
                self.add_run(Run(task, first, run.encoder, run.layer, START_SEED), file)
            case _:
                self.add_encoder(run.encoder, file)

    def add_encoder(self, key, follower):
        """Add the pre-training of an encoder that is made here."""
        encoder = experiment.encoder(key)
        if "pretraining" in encoder:
            pretraining = encoder["pretraining"]
            self.add(f"results/pretraining/{pretraining}.json", partial(pretraining_work, pretraining), follower)

    def add_shown(self, name):
        """Add all that a figure or a table needs."""
        for run in dict.fromkeys(shown_runs(name)):
            self.add_run(run)
        figure = config["figures"].get(name, {})
        if figure.get("kind") == "cka_curve" and figure["recipe"]:
            for encoder, layer in product(figure["encoders"], min(map(experiment.layers, figure["encoders"]), key=len)):
                run = Run(figure["task"], figure["recipe"], encoder, layer, figure["seed"])
                self.add_run(run, list(cka_files(name).values())[-1])


@cache
def needs_of(*names):
    """What these figures and tables need; shared results once."""
    needs = Needs()
    for name in names:
        needs.add_shown(name)
    return needs


def works():
    """The runs behind all figures and tables."""
    return [make(file, list(followers)) for file, (make, followers) in needs_of(*SHOWN).items()]


def costly_files():
    """The results whose costs are summed: every one where everything is made, else those that are on disk.

    Those of runs on pairs, and the metrics of adaptations and pre-trainings.
    """
    found = [work for work in works() if everything_is_made() or Path(work.file).exists()]
    return {
        "results": [work.file for work in found if work.code],
        "pretrainings": [work.file for work in found if not work.code],
    }


def run_work(run, script, file, followers):
    """A fine-tuning run, a layer's share of an adaptive one, or the evaluation of all layers of an untouched encoder."""
    kind, last = experiment.recipe(run.recipe)["kind"], experiment.layers(run.encoder)[-1]
    frozen, shares = kind == "frozen", last + 1 if kind == "adaptive" else 1
    epochs = 0 if frozen else experiment.training(run.recipe)["epochs"]
    rows, sentences = rows_of(run.task), None
    if rows is not None:
        sentences = 2 * (rows["train"] * epochs + EVALUATION * (rows["validation"] * (epochs + 1) + rows["test"]))
        sentences /= shares
    weights = [file.removesuffix(".json").replace("results/", "data/", 1)] if followers else []
    return Work(
        file=file,
        settings=(frozen_settings if frozen else finetune_settings)(run),
        code=code(script),
        encoder=run.encoder,
        widths=[hidden_size(run.encoder)],
        layers=[run.layer if kind == "finetune" else last],
        sentences=sentences,
        tokens=f"data/tokens/{run.task}/{run.encoder}.parquet",
        weights=weights,
        followers=followers,
    )


def pretraining_work(key, file, followers):
    """A pre-training from scratch, of one encoder or of generator and discriminator."""
    settings = experiment.pretraining(key)
    parts = ["encoder"] if settings["objective"] == "masked_language_modelling" else ["generator", "discriminator"]
    sizes = [pretrained_sizes(key, part) for part in parts]
    return Work(
        file=file,
        settings=settings,
        code=None,
        encoder=key,
        widths=[size["hidden_size"] for size in sizes],
        layers=[size["layers"] for size in sizes],
        sentences=settings["steps"] * settings["batch_size"],
        tokens=None,
        weights=[pretrained_folder(key, part) for part in parts],
        followers=followers,
    )


def adaptation_work(key, encoder, file, followers):
    """An adaptation."""
    settings = experiment.adaptation(key)
    sentences = corpus_size(settings["corpus"])
    return Work(
        file=file,
        settings=settings,
        code=None,
        encoder=encoder,
        widths=[hidden_size(encoder)],
        layers=[experiment.layers(encoder)[-1]],
        sentences=None if sentences is None else settings["epochs"] * sentences,
        tokens=None,
        weights=[f"data/adapted/{key}/{encoder}"],
        followers=followers,
    )
