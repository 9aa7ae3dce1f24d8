from typing import Any

snakemake: Any  # in the scripts of rules, and in rules
