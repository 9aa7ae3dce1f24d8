"""The experiment as the configuration says it: checks, runs, paths. Pure: neither torch nor pandas nor Snakemake.

Imports runtime alone.
"""
