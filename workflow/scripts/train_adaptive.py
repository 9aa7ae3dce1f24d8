"""Fine-tune an encoder on the losses of all its layers together, with a seed: a result a layer."""

from dataclasses import asdict
from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, count_parameters, read_config
    from tmft.results.records import Provenance, record, write_predictions
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json
    from tmft.runtime.resuming import Checkpoint
    from tmft.training.adaptive import train_adaptive

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoders[0]), Path(snakemake.input.tokens)
    seed = int(snakemake.wildcards.seed)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    config = read_config(folder)
    random_seed = seed if settings["start"] == "random" else None
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers, random_seed)
    identity = asdict(provenance) | {"device": device.type}
    checkpoint = Checkpoint(
        Path(snakemake.output.results[0]), identity, snakemake.config["checkpoint_minutes"]["finetune"]
    )
    outcomes = train_adaptive(encoder, tokens, settings, seed, device, checkpoint)
    files = zip(snakemake.output.results, snakemake.output.predictions, strict=True)
    for layer, (outcome, (result, predictions)) in enumerate(zip(outcomes, files, strict=True)):
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
        parameters = count_parameters(config, layer)._asdict()
        write_predictions(Path(predictions), tokens.splits["test"], {layer: outcome.predictions})
        write_json(Path(result), record(run, outcome, parameters, tokens, provenance, device))
    checkpoint.remove()
