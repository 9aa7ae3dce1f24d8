"""Fine-tune an encoder, truncated after one layer, with one seed."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, count_parameters, read_config
    from tmft.files import read_json
    from tmft.results import record, write_records
    from tmft.tokens import read_tokens
    from tmft.training import finetune

    wildcards, settings = snakemake.wildcards, snakemake.params.settings
    folder, layer, seed = Path(snakemake.input.encoder), int(wildcards.layer), int(wildcards.seed)
    device = choose_device(snakemake.config["device"], snakemake.threads)
    tokens = read_tokens(Path(snakemake.input.tokens))
    encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
    outcome = finetune(encoder, tokens, settings, seed, device)
    run = {
        "task": wildcards.task,
        "recipe": wildcards.recipe,
        "encoder": wildcards.encoder,
        "layer": layer,
        "seed": seed,
    }
    parameters = count_parameters(read_config(folder), layer)._asdict()
    result = record(run, outcome, settings, parameters, tokens, read_json(folder / "provenance.json"), device)
    write_records(Path(snakemake.output[0]), [result])
