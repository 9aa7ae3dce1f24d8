"""The data of all tasks at a glance."""

from typing import Any

import pandas as pd


def overview(reports: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """One row per task and split, from the data reports (``pairs.report``) by task.

    Columns: task, split, pairs, the lowest, highest and mean label, ``repeated`` (rows beyond a pair's first
    occurrence, without order and case), ``conflicting`` (pairs with several labels), and how many distinct pairs and
    sentences are in the training split too.
    """
    rows = []
    for task, report in reports.items():
        for split, found in report["splits"].items():
            repeated = found["repeated"]["unordered"]
            shared = report["shared"].get(f"train and {split}", {})
            rows.append(
                {
                    "task": task,
                    "split": split,
                    "pairs": found["rows"],
                    "lowest": found["label"]["min"],
                    "highest": found["label"]["max"],
                    "mean": round(found["label"]["mean"], 3),
                    "repeated": repeated["extra_rows"],
                    "conflicting": repeated["conflicting"],
                    "pairs in train": shared.get("pairs"),
                    "sentences in train": shared.get("sentences"),
                }
            )
    counts = {"pairs in train": "Int64", "sentences in train": "Int64"}
    return pd.DataFrame(rows).astype(counts)
