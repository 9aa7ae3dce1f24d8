"""Draw test scores by layer as a page to look into."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.interactive_curve import layer_curve_page, point_details
    from tmft.figures.style import BASELINES, layer_curve_points, metric_label
    from tmft.results.tables import read_table
    from tmft.runtime.files import write_text

    figure = snakemake.params.figure
    metric = figure["metrics"][0]
    runs, summary = (read_table(Path(path)) for path in (snakemake.input.runs, snakemake.input.summary))
    points, single = layer_curve_points(runs, summary, figure["lines"], metric)
    details = point_details(points, runs, metric)
    ylabel = metric_label(figure["task"], metric)
    page = layer_curve_page(details, single, figure["title"], ylabel, BASELINES.get(metric, ""))
    write_text(Path(snakemake.output[0]), page)
