"""Count the sentences of all tasks that are in a corpus."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.corpora import report
    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.text import sentences
    from tmft.runtime.files import write_json

    tables = {
        task: read_pairs(Path(path)) for task, path in zip(snakemake.params.tasks, snakemake.input.pairs, strict=True)
    }
    write_json(Path(snakemake.output[0]), report(sentences(Path(snakemake.input.corpus)), tables))
