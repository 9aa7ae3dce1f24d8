"""Score all layers of an encoder by one training on all their losses together, with one seed."""

from dataclasses import asdict
from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.adaptive import train_adaptive
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.files import write_json
    from tmft.results import Provenance, record
    from tmft.resuming import Checkpoint
    from tmft.tokens import read_tokens

    settings, seed = snakemake.params.settings, snakemake.params.seed
    folder, tokens_file = Path(snakemake.input.encoders[0]), Path(snakemake.input.tokens)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    config = read_config(folder)
    random_seed = seed if settings["start"] == "random" else None
    encoder = TruncatedEncoder.load(folder, config.num_hidden_layers, random_seed)
    identity = asdict(provenance) | {"device": device.type}
    checkpoint = Checkpoint(Path(snakemake.output[0]), identity, snakemake.config["checkpoint_minutes"]["finetune"])
    run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"seed": seed}
    records = [
        record(run | {"layer": layer}, outcome, count_parameters(config, layer)._asdict(), tokens, provenance, device)
        for layer, outcome in enumerate(train_adaptive(encoder, tokens, settings, seed, device, checkpoint))
    ]
    write_json(Path(snakemake.output[0]), records)
    checkpoint.remove()
