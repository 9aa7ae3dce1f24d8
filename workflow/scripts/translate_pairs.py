"""Translate a task's pairs."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.pairs import check, read_pairs, write_pairs
    from tmft.runtime.files import write_json
    from tmft.translation.cache import Direction, TranslationCache
    from tmft.translation.translate import translate_pairs

    pairs, provenance = translate_pairs(
        read_pairs(Path(snakemake.input[0])),
        Direction(**snakemake.params.direction),
        TranslationCache(Path(snakemake.params.cache)),
        snakemake.config["translation"]["cap"],
    )
    check(pairs, snakemake.params.label_range, snakemake.wildcards.task)
    write_pairs(pairs, Path(snakemake.output.pairs))
    write_json(Path(snakemake.output.provenance), {"from": snakemake.params.original, **provenance})
