"""Fine-tune an encoder, truncated after a layer, with a seed: one run, or several in turn."""

from dataclasses import asdict
from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, count_parameters, read_config
    from tmft.results.records import Provenance, make_in_turn, record, write_predictions
    from tmft.runtime.devices import choose_device
    from tmft.runtime.resuming import Checkpoint
    from tmft.training.loop import finetune

    settings, tokens_file = snakemake.params.settings, Path(snakemake.input.tokens)
    folders = dict(zip(snakemake.params.units, map(Path, snakemake.input.encoders), strict=True))
    outputs = dict(zip(snakemake.params.units, map(Path, snakemake.output.results), strict=True))
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    minutes = snakemake.config["checkpoint_minutes"]["finetune"]
    tokens = read_tokens(tokens_file)
    provenances = {
        unit: Provenance.of(folder, tokens_file, settings, snakemake.params.code) for unit, folder in folders.items()
    }

    def make(layer: int, seed: int, predictions: Path) -> dict:
        folder, provenance = folders[layer, seed], provenances[layer, seed]
        identity = asdict(provenance) | {"device": device.type}
        checkpoint = Checkpoint(outputs[layer, seed], identity, minutes)
        encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
        outcome = finetune(encoder, tokens, settings, seed, device, checkpoint)
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
        parameters = count_parameters(read_config(folder), layer)._asdict()
        write_predictions(predictions, tokens.splits["test"], {layer: outcome.predictions})
        return record(run, outcome, parameters, tokens, provenance, device)

    make_in_turn(make, provenances, list(outputs.values()))
