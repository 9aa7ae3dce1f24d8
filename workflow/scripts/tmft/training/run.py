"""Runs of one task, recipe and encoder: from an encoder's folder and a task's tokens to records of results."""

import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tmft.datasets.tokens import read_tokens
from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.truncation import TruncatedEncoder, check_keepable, count_parameters, read_config
from tmft.encoders.weights import save_encoder
from tmft.runtime.devices import device_of
from tmft.runtime.environment import environment
from tmft.runtime.errors import InputError
from tmft.runtime.files import checkpoint_file, release, waiting, write_json
from tmft.runtime.job import Job
from tmft.runtime.resuming import Checkpoint
from tmft.training.loop import Outcome, evaluate_layers, finetune
from tmft.training.records import Provenance, predictions_file, read_records, record, write_predictions


class Runs:
    """What the runs of a job share: task, recipe and encoder, the task's tokens, the settings, the device.

    ``settings`` and ``code`` decide the results, beside tokens and weights (``Provenance``); a run in training writes a
    checkpoint at most every ``checkpoint_minutes``.
    """

    def __init__(
        self,
        names: dict[str, str],
        tokens: Path,
        settings: dict[str, Any],
        code: str,
        device: torch.device,
        checkpoint_minutes: float,
    ) -> None:
        self.names, self.settings, self.code = names, settings, code
        self.tokens_file, self.tokens = tokens, read_tokens(tokens)
        self.device, self.checkpoint_minutes = device, checkpoint_minutes

    @classmethod
    def of(cls, job: Job, **names: str) -> "Runs":
        """Those of a rule's job, whose wildcards name task, recipe and encoder, as far as ``names`` does not.

        Of its parameters ``settings`` and ``run_code`` are taken.
        """
        named = {key: (job.wildcards | names)[key] for key in ("task", "recipe", "encoder")}
        settings, minutes = job.params.settings, job.config["checkpoint_minutes"]["finetune"]
        return cls(
            named, job.input.tokens, settings, job.params.run_code, device_of(job, settings["precision"]), minutes
        )

    def provenance(self, folder: Path) -> Provenance:
        """What decides the results of runs that start from the encoder in ``folder``."""
        return Provenance.of(folder, self.tokens_file, self.settings, self.code)

    def finetune(self, folder: Path, layer: int, seed: int, result: Path) -> tuple[dict[str, Any], Outcome, Any]:
        """The record of a run, its outcome and its encoder; it continues from the checkpoint beside ``result``."""
        provenance = self.provenance(folder)
        identity = asdict(provenance) | {"device": self.device.type}
        checkpoint = Checkpoint(result, identity, self.checkpoint_minutes)
        random_seed = seed if self.settings["start"] == "random" else None
        encoder = TruncatedEncoder.load(folder, layer, random_seed)
        outcome = finetune(encoder, self.tokens, self.settings, seed, self.device, checkpoint)
        return self._record(folder, provenance, layer, seed, outcome), outcome, encoder

    def finetune_in_turn(self, folders: dict[tuple[int, int], Path], results: list[Path]) -> None:
        """Make the results of several (layer, seed) units, one file each; a failure does not take the others with it.

        Results and predictions wait beside their final names (``prepare``) until all are there, because Snakemake
        removes the outputs of a job that fails. Raises InputError for the units that failed; their tracebacks are in
        the log.
        """
        failed = {}
        for ((layer, seed), folder), result in zip(folders.items(), results, strict=True):
            try:
                self.prepare(folder, layer, seed, result)
            except Exception as error:
                traceback.print_exc()
                failed[layer, seed] = error
        if failed:
            (layer, seed), error = next(iter(failed.items()))
            problem = f"layer {layer}, seed {seed}: {' '.join(str(error).split())}"
            others = "" if len(results) == 1 else f" ({len(failed)} of {len(results)} runs failed, the others are kept)"
            raise InputError(f"{problem}{others}") from error
        for result in results:
            release([result, predictions_file(result)])

    def prepare(self, folder: Path, layer: int, seed: int, result: Path) -> Path:
        """A run's result, where it waits as ``*.finished`` beside ``result``: made now, unless it is there already.

        One of the same provenance is taken as it is. Once a result is there, the checkpoint of its run goes.
        """
        ready = waiting(result)
        if not is_result(ready, self.provenance(folder)):
            found, outcome, _ = self.finetune(folder, layer, seed, result)
            predictions = waiting(predictions_file(result))
            write_predictions(predictions, self.tokens.splits["test"], {layer: outcome.predictions})
            write_json(ready, found)
            checkpoint_file(result).unlink(missing_ok=True)
        return ready

    def find(self, folder: Path, layer: int, seed: int, result: Path) -> dict[str, Any]:
        """The record of a run: that in ``result`` where it has the same provenance, else of one that is prepared."""
        there = is_result(result, self.provenance(folder))
        return read_records(result if there else self.prepare(folder, layer, seed, result))[0]

    def keep(self, folder: Path, layer: int, seed: int, weights: Path, result: Path) -> None:
        """Make a run, and keep its weights as an encoder's folder. Raises InputError where they cannot be kept."""
        check_keepable(folder, layer)
        found, _, encoder = self.finetune(folder, layer, seed, result)
        origin = {"run": found["run"], "settings": self.settings, "start": found["provenance"]["encoder"]}
        save_encoder(encoder.model, load_tokenizer(folder), weights, origin)
        write_json(result, found)
        checkpoint_file(result).unlink(missing_ok=True)

    def evaluate(self, folder: Path, result: Path) -> None:
        """Score every layer of the encoder in ``folder`` without training; one file has the records of all layers."""
        provenance = self.provenance(folder)
        random_seed = 0 if self.settings["start"] == "random" else None
        encoder = TruncatedEncoder.load(folder, read_config(folder).num_hidden_layers, random_seed)
        outcomes = evaluate_layers(encoder, self.tokens, self.settings, self.device)
        predictions = {layer: outcome.predictions for layer, outcome in enumerate(outcomes)}
        write_predictions(predictions_file(result), self.tokens.splits["test"], predictions)
        records = [self._record(folder, provenance, layer, None, outcome) for layer, outcome in enumerate(outcomes)]
        write_json(result, records)

    def _record(
        self, folder: Path, provenance: Provenance, layer: int, seed: int | None, outcome: Outcome
    ) -> dict[str, Any]:
        run = self.names | {"layer": layer, "seed": seed}
        parameters = count_parameters(read_config(folder), layer)._asdict()
        return record(run, outcome, parameters, self.tokens, provenance, environment(self.device))


def is_result(path: Path, provenance: Provenance) -> bool:
    """Whether a result is there, whole, and of this provenance."""
    try:
        return path.exists() and read_records(path)[0]["provenance"] == asdict(provenance)
    except InputError as error:
        print(error)
        return False
