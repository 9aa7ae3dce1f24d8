"""Pre-training of encoders: masked language modelling, replaced token detection, adaptation.

Imports encoders and the rooms below it.
"""
