"""Print what the trainings in a folder of results took: show_costs.py results/TASK."""

import sys
from collections import Counter
from pathlib import Path

from tmft.results import read_records

totals: dict[tuple[str, str], Counter] = {}
for path in sorted(Path(sys.argv[1]).glob("*/*/layer*/seed*.json")):
    (record,) = read_records(path)
    layers = record["cost"].get("layers", 1)  # that share the training
    own = totals.setdefault((record["run"]["recipe"], record["run"]["encoder"]), Counter())
    own["results"] += 1
    for cost in ("training_tokens", "seconds"):
        own[cost] += record["cost"][cost] / layers
print(f"{'recipe':20}{'encoder':32}{'results':>8}{'training tokens':>17}{'seconds':>10}")
for (recipe, encoder), own in totals.items():
    print(f"{recipe:20}{encoder:32}{own['results']:>8}{own['training_tokens']:>17,.0f}{own['seconds']:>10,.0f}")
