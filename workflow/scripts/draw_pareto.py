"""Draw test scores against parameters, families of encoders as lines."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.pareto import draw_pareto, pareto_points
    from tmft.figures.style import metric_label, save
    from tmft.results.tables import read_table
    from tmft.runtime.files import write_csv

    figure = snakemake.params.figure
    metric = figure["metrics"][0]
    points = pareto_points(read_table(Path(snakemake.input[0])), figure["families"], metric)
    drawing = draw_pareto(points, figure["title"], metric_label(figure["task"], metric))
    save(drawing, Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
