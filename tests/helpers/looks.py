"""Looks of lines by label, as a figure's parameters have them."""

from tmft.experiment.looks import LOOKS


def looks(**families: str) -> dict[str, dict[str, str]]:
    """The built-in look of each line's family; an underscore of a label stands for a blank."""
    return {label.replace("_", " "): {"family": family} | LOOKS[family] for label, family in families.items()}
