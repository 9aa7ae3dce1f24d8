"""Draw the similarity of two encoders by layer."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.figures.style import cka_points, draw_cka_curve, save
    from tmft.runtime.files import read_json, write_csv

    figure = snakemake.params.figure
    layers = {label: read_json(Path(snakemake.input[key]))["layers"] for key, label in figure["curves"].items()}
    points = cka_points(layers)
    save(draw_cka_curve(points, figure["title"]), Path(snakemake.output.pdf), Path(snakemake.output.png))
    write_csv(Path(snakemake.output.csv), points)
