"""Count the sentences of all tasks that are in a corpus."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.corpora import report
    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.text import sentences
    from tmft.runtime.files import write_json

    tables = dict(zip(work.params.tasks, map(read_pairs, work.input.pairs), strict=True))
    write_json(work.output[0], report(sentences(work.input.corpus), tables))
