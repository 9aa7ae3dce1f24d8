"""Find the best subset of an encoder's layers of each size, without training."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder, depth
    from tmft.results.subset_search import search_subsets, to_markdown
    from tmft.runtime.devices import device_of
    from tmft.runtime.files import write_json, write_text

    settings, folder = work.params.settings, work.input.encoder
    device, tokens = device_of(work, settings["precision"]), read_tokens(work.input.tokens)
    rows = search_subsets(TruncatedEncoder.load(folder, depth(folder)), tokens, settings, device)
    write_json(work.output.json, rows)
    write_text(work.output.markdown, to_markdown(rows, work.params.labels))
