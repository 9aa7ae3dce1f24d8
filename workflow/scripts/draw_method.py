"""Draw the method: an encoder cut after a layer, mean pooling, cosine."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.method import draw_method
    from tmft.figures.style import save

    save(draw_method(snakemake.params.title), Path(snakemake.output.pdf), Path(snakemake.output.png))
