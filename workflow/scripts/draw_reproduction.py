"""Draw each published curve beside ours."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import pandas as pd

    from tmft.figures.reproduction import draw_reproduction
    from tmft.figures.style import save

    figure = draw_reproduction(pd.read_csv(snakemake.input[0]))
    save(figure, Path(snakemake.output.pdf), Path(snakemake.output.png))
