"""Draw test scores by layer."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    import pandas as pd

    from tmft.files import write_csv
    from tmft.plots import draw_layer_curve, layer_curve_points, metric_label, save

    figure = snakemake.params.figure
    runs, summary = (
        pd.read_csv(path, keep_default_na=False, na_values={"value": "", "mean": "", "sd": "", "seed": ""})
        for path in (snakemake.input.runs, snakemake.input.summary)
    )
    points, single = layer_curve_points(runs, summary, figure["lines"])
    drawing = draw_layer_curve(points, single, figure["title"], metric_label(figure["task"]))
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
