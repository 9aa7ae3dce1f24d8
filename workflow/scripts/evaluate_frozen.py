"""Score every layer of an untouched encoder."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, count_parameters, read_config
    from tmft.results.records import Provenance, record, write_predictions
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json
    from tmft.training.loop import evaluate_layers

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoders[0]), Path(snakemake.input.tokens)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    config = read_config(folder)
    random_seed = 0 if settings["start"] == "random" else None
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers, random_seed)
    outcomes = evaluate_layers(encoder, tokens, settings, device)
    records = []
    for layer, outcome in enumerate(outcomes):
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": None}
        parameters = count_parameters(config, layer)._asdict()
        records.append(record(run, outcome, parameters, tokens, provenance, device))
    predictions = {layer: outcome.predictions for layer, outcome in enumerate(outcomes)}
    write_predictions(Path(snakemake.output.predictions), tokens.splits["test"], predictions)
    write_json(Path(snakemake.output.result), records)
