"""Draw the method: an encoder cut after a layer, mean pooling, cosine."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.method import draw_method
    from tmft.plots import save

    save(draw_method(snakemake.params.title), Path(snakemake.output.pdf), Path(snakemake.output.png))
