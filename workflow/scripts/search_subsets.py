"""Find the best subset of an encoder's layers of each size, without training."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, depth
    from tmft.results.subset_search import search_subsets, to_markdown
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json, write_text

    settings, folder = snakemake.params.settings, Path(snakemake.input.encoder)
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    tokens = read_tokens(Path(snakemake.input.tokens))
    rows = search_subsets(TruncatedEncoder.load(folder, depth(folder)), tokens, settings, device)
    write_json(Path(snakemake.output.json), rows)
    write_text(Path(snakemake.output.markdown), to_markdown(rows, snakemake.params.labels))
