"""Drawings and pages from tables; never torch. Imports results and the rooms below it."""
