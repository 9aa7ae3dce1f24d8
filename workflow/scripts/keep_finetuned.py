"""Fine-tune an encoder, truncated after a layer, with a seed, and keep its weights."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.checkpoints import load_tokenizer
    from tmft.devices import choose_device
    from tmft.encoder import TruncatedEncoder, check_keepable, count_parameters, read_config
    from tmft.files import write_json
    from tmft.pretraining.encoders import save
    from tmft.results import Provenance, record
    from tmft.tokens import read_tokens
    from tmft.training import finetune

    settings = snakemake.params.settings
    folder, tokens_file = Path(snakemake.input.encoders[0]), Path(snakemake.input.tokens)
    ((layer, seed),) = snakemake.params.units
    check_keepable(folder, layer)
    device = choose_device(snakemake.config["device"], snakemake.threads, settings["precision"])
    tokens = read_tokens(tokens_file)
    provenance = Provenance.of(folder, tokens_file, settings, snakemake.params.code)
    encoder = TruncatedEncoder.load(folder, layer, random_seed=seed if settings["start"] == "random" else None)
    outcome = finetune(encoder, tokens, settings, seed, device)
    run = {key: snakemake.wildcards[key] for key in ("task", "recipe", "encoder")} | {"layer": layer, "seed": seed}
    parameters = count_parameters(read_config(folder), layer)._asdict()
    origin = {"run": run, "settings": settings, "start": provenance.encoder}
    save(encoder.model, load_tokenizer(folder), Path(snakemake.output.encoder), origin)
    write_json(Path(snakemake.output.result), record(run, outcome, parameters, tokens, provenance, device))
