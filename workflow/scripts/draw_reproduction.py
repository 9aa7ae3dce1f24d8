"""Draw each published curve beside ours."""

from tmft.runtime.job import job

with job(snakemake) as work:
    import pandas as pd

    from tmft.figures.reproduction import draw_reproduction
    from tmft.figures.style import save

    save(draw_reproduction(pd.read_csv(work.input[0])), work.output.pdf, work.output.png)
