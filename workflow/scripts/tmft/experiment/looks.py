"""Colour, marker and dashes of an encoder: those of its family, the same in all figures."""

import re
from collections.abc import Mapping
from typing import Any

LOOKS = {
    "bert": {"colour": "#0072B2", "marker": "o", "dashes": "-"},
    "discriminator": {"colour": "#D55E00", "marker": "s", "dashes": "--"},
    "generator": {"colour": "#009E73", "marker": "^", "dashes": "-."},
    "deberta": {"colour": "#CC79A7", "marker": "D", "dashes": ":"},
    "roberta": {"colour": "#56B4E9", "marker": "v", "dashes": "-"},
    "modernbert": {"colour": "#E69F00", "marker": "P", "dashes": "--"},
    "other": {"colour": "#000000", "marker": "X", "dashes": "-."},
}
"""The colours are Okabe and Ito's without yellow; markers and dashes tell families apart without colour."""

NAMES = {  # of a family in hub ids, paths and labels, the first that is found
    "generator": "generator",
    "discriminator": "discriminator|electra",
    "deberta": "deberta",
    "roberta": "roberta",
    "modernbert": "modernbert",
    "bert": "bert|beto",
}


def family_of(encoder: Mapping[str, Any]) -> str:
    """The family of an encoder of the configuration: ``drawn_as``, or what it is pre-trained as or called."""
    if encoder.get("drawn_as"):
        return encoder["drawn_as"]
    if "pretraining" in encoder:
        return "bert" if encoder["part"] == "encoder" else encoder["part"]
    names = " ".join(encoder.get(key) or "" for key in ("hub", "path", "package", "label")).lower()
    return next((family for family, pattern in NAMES.items() if re.search(pattern, names)), "other")


def look_of(encoder: Mapping[str, Any], looks: Mapping[str, Any]) -> dict[str, str]:
    """Family, colour, marker and dashes of an encoder; ``looks`` are the configuration's own, beside LOOKS."""
    family = family_of(encoder)
    return {"family": family} | (LOOKS | looks)[family]
