"""Score every layer of an untouched encoder."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.files import read_json
    from tmft.results import record, write_records
    from tmft.tokens import read_tokens
    from tmft.training import evaluate_layers

    wildcards, settings = snakemake.wildcards, snakemake.params.settings
    folder = Path(snakemake.input.encoder)
    device = choose_device(snakemake.config["device"], snakemake.threads)
    tokens = read_tokens(Path(snakemake.input.tokens))
    config, provenance = read_config(folder), read_json(folder / "provenance.json")
    random_seed = 0 if settings["start"] == "random" else None
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers, random_seed)
    records = []
    for layer, outcome in enumerate(evaluate_layers(encoder, tokens, settings, device)):
        run = {
            "task": wildcards.task,
            "recipe": wildcards.recipe,
            "encoder": wildcards.encoder,
            "layer": layer,
            "seed": None,
        }
        parameters = count_parameters(config, layer)._asdict()
        records.append(record(run, outcome, settings, parameters, tokens, provenance, device))
    write_records(Path(snakemake.output[0]), records)
