"""Fine-tune an encoder, truncated after a layer, with a seed, and keep its weights."""

from dataclasses import asdict
from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.fetching import load_tokenizer
    from tmft.encoders.truncation import TruncatedEncoder, check_keepable, count_parameters, read_config
    from tmft.pretraining.encoders import save
    from tmft.results.records import Provenance, record
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json
    from tmft.runtime.resuming import Checkpoint
    from tmft.training.loop import finetune

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoders[0]), Path(snakemake.input.tokens)
    ((layer, seed),) = snakemake.params.units
    check_keepable(folder, layer)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
    checkpoint = Checkpoint(
        Path(snakemake.output.result),
        asdict(provenance) | {"device": device.type},
        snakemake.config["checkpoint_minutes"]["finetune"],
    )
    outcome = finetune(encoder, tokens, settings, seed, device, checkpoint)
    run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
    parameters = count_parameters(read_config(folder), layer)._asdict()
    origin = {"run": run, "settings": settings, "start": provenance.encoder}
    save(encoder.model, load_tokenizer(folder), Path(snakemake.output.encoder), origin)
    write_json(Path(snakemake.output.result), record(run, outcome, parameters, tokens, provenance, device))
    checkpoint.remove()
