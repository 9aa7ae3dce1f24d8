"""Fine-tune an encoder after each of its layers on a part of the training pairs, with one seed."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.files import write_json
    from tmft.results import Provenance, record
    from tmft.tokens import read_tokens, thinned
    from tmft.training import finetune

    settings, tokens_file = snakemake.params.settings, Path(snakemake.input.tokens)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = thinned(read_tokens(tokens_file), settings["stride"])
    records = []
    for (layer, seed), path in zip(snakemake.params.units, snakemake.input.encoders, strict=True):
        folder = Path(path)
        provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
        encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
        outcome = finetune(encoder, tokens, settings, seed, device)
        run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
        parameters = count_parameters(read_config(folder), layer)._asdict()
        records.append(record(run, outcome, parameters, tokens, provenance, device))
    write_json(Path(snakemake.output[0]), records)
