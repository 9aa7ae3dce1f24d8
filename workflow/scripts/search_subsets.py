"""Find the best subset of an encoder's layers of each size, without training."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, depth
    from tmft.results.subset_search import search_subsets, write_subsets
    from tmft.runtime.devices import device_of

    settings, folder, tokens = work.params.settings, work.input.encoder, read_tokens(work.input.tokens)
    encoder, device = TruncatedEncoder.load(folder, depth(folder)), device_of(work, settings["precision"])
    write_subsets(search_subsets(encoder, tokens, settings, device), work.params.labels, work.output)
