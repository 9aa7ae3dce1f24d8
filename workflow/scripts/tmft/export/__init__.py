"""Encoders to ship: which run, in which formats, at what speed. Imports results and the rooms below it."""
