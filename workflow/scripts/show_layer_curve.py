"""Name a figure and print its numbers: show_layer_curve.py FIGURE, without the ending."""

import sys

import pandas as pd

from tmft.results.tables import curve_table

figure = sys.argv[1]
print(f"\n{figure}.pdf: test Spearman x 100 by layer, mean ± standard deviation over seeds\n")
print(curve_table(pd.read_csv(f"{figure}.csv", keep_default_na=False, na_values={"mean": "", "sd": ""})))
