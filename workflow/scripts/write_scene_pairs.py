"""Write sentence pairs of the synthetic language of scenes."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.pairs import check, write_pairs
    from tmft.datasets.scenes.pairs import PAIRS

    scenes = dict(work.params.scenes)
    pairs = PAIRS[scenes.pop("kind")](**scenes)
    check(pairs, work.params.label_range, work.wildcards["task"])
    write_pairs(pairs, work.output[0])
