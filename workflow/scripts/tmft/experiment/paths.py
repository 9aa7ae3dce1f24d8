"""Where everything lies in the working directory, from the keys of the configuration."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tmft.experiment.configuration import START_SEED, Experiment, Run
from tmft.experiment.recipes import KINDS
from tmft.runtime.errors import InputError


def encoder_folder(experiment: Experiment, key: str) -> str:
    """The folder with an encoder's config, tokenizer and weights."""
    encoder = experiment.encoder(key)
    if "pretraining" in encoder:
        return pretrained_folder(encoder["pretraining"], encoder["part"], encoder["step"])
    return f"data/encoders/{key}"


def pretrained_folder(pretraining: str, part: str, step: int | None = None) -> str:
    """The folder of an encoder pre-trained here, at the end or after some steps."""
    folder = Path(f"data/pretrained/{pretraining}/{part}")
    return str(folder if step is None else snapshot_folder(folder, step))


def snapshot_folder(folder: Path, step: int) -> Path:
    """Where an encoder that ends in ``folder`` is kept as it was after ``step`` steps."""
    return folder.with_name(f"{folder.name}-step{step}")


def snapshot_folders(experiment: Experiment, pretraining: str, *parts: str) -> list[str]:
    """The folders of all snapshots of these parts of a pre-training."""
    steps = experiment.pretraining(pretraining)["snapshots"]
    return [pretrained_folder(pretraining, part, step) for part in parts for step in steps]


def corpus_file(experiment: Experiment, key: str) -> str:
    """The text file of a corpus, one sentence per line."""
    return experiment.corpus(key).get("path", f"data/corpora/{key}.txt")


def tokenizer_folder(experiment: Experiment, key: str) -> str:
    """The folder of a tokenizer: one trained here, or an encoder's own."""
    return f"data/tokenizers/{key}" if key in experiment.settings["tokenizers"] else encoder_folder(experiment, key)


def start_folder(experiment: Experiment, recipe: str, encoder: str, layer: int | str | None) -> str:
    """The folder with the weights that a run starts from: the encoder's own, or those that another rule left."""
    match experiment.recipe(recipe)["start"]:
        case {"adaptation": adaptation}:
            return f"data/adapted/{adaptation}/{encoder}"
        case {"task": task, "recipe": first}:
            return f"data/finetuned/{task}/{first}/{encoder}/layer{layer}/seed{START_SEED}"
        case _:
            return encoder_folder(experiment, encoder)


def result_file(run: Run) -> str:
    """The file that holds a run's result."""
    kind = "frozen" if run.seed is None else "finetune"
    place = KINDS[kind].result.format(layer=run.layer, seed=run.seed)
    return f"results/{run.task}/{run.recipe}/{run.encoder}/{place}"


def result_files(runs: Iterable[Run]) -> list[str]:
    """The files of the results of these runs, each once."""
    return list(dict.fromkeys(map(result_file, runs)))


def predictions(results: Sequence[str]) -> list[str]:
    """The files of the test predictions, one beside each result file."""
    return [result.removesuffix(".json") + ".predictions.parquet" for result in results]


def pinned_files(source: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pinned files of a data set: by split, by word list, or by name."""
    return source.get("lists") or source.get("files", {})


def pin(experiment: Experiment, collection: str, file: str) -> dict[str, str]:
    """Address and sha256 of a raw file. Raises InputError where no data set has it."""
    name = f"{collection}/{file}"
    for source in experiment.sources.values():
        for own in pinned_files(source).values():
            if own["name"] == name:
                return {"url": own["url"], "sha256": own["sha256"]}
    raise InputError(f"data/raw/{name} is none of the files in workflow/sources.yaml")


def raw_files(source: dict[str, Any]) -> dict[str, str]:
    """Where the pinned files of a data set are downloaded to."""
    return {key: f"data/raw/{file['name']}" for key, file in pinned_files(source).items()}


def task_files(experiment: Experiment, task: str) -> dict[str, str]:
    """The raw files of a task that is downloaded."""
    return raw_files(experiment.source(task))


def corpus_files(experiment: Experiment, corpus: str) -> dict[str, str]:
    """The raw files of a corpus that is downloaded."""
    return raw_files(experiment.corpus_source(corpus))


def local_files(experiment: Experiment, encoder: str) -> list[str]:
    """The files of an encoder that lies in a local folder, so that a change of them is seen."""
    folder = experiment.encoder(encoder).get("path")
    return sorted(str(file) for file in Path(folder).glob("*") if file.is_file()) if folder else []
