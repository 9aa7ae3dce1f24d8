"""Score every layer of an untouched encoder."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.files import write_json
    from tmft.results import Provenance, record
    from tmft.tokens import read_tokens
    from tmft.training import evaluate_layers

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoder), Path(snakemake.input.tokens)
    device = choose_device(snakemake.config["device"], snakemake.threads)
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    config = read_config(folder)
    random_seed = 0 if settings["start"] == "random" else None
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers, random_seed)
    records = []
    for layer, outcome in enumerate(evaluate_layers(encoder, tokens, settings, device)):
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": None}
        parameters = count_parameters(config, layer)._asdict()
        records.append(record(run, outcome, parameters, tokens, provenance, device))
    write_json(Path(snakemake.output[0]), records)
