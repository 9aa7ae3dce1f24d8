"""Gather the distinct sentences of a corpus from pinned data sets."""

from tmft.runtime.job import job

with job(snakemake, online=True) as work:
    from tmft.datasets.corpora import fetch_corpus
    from tmft.runtime.files import write_json

    source = work.params.source
    files = {name: work.input[name] for name in source.get("files", {})}
    write_json(work.output.provenance, fetch_corpus(source, files, work.output.text))
