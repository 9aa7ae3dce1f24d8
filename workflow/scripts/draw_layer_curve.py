"""Draw test scores by layer."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    import pandas as pd

    from tmft.files import write_csv
    from tmft.plots import BASELINES, draw_layer_curve, layer_curve_points, metric_label, save

    figure = snakemake.params.figure
    runs, summary = (
        pd.read_csv(
            path, keep_default_na=False, na_values=dict.fromkeys(("value", "baseline", "mean", "sd", "seed"), "")
        )
        for path in (snakemake.input.runs, snakemake.input.summary)
    )
    metric = figure["metrics"][0]
    points, single = layer_curve_points(runs, summary, figure["lines"], metric)
    ylabel = metric_label(figure["task"], metric)
    drawing = draw_layer_curve(points, single, figure["title"], ylabel, BASELINES.get(metric, ""))
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
