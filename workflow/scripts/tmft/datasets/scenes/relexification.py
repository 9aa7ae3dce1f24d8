"""Languages that differ from a text's own in their words alone: the miniature's answer to translation."""

from functools import cache
from random import Random

VOWELS, CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


def relexify(text: str, language: str) -> str:
    """Exchange the letters of each word, vowels for vowels and consonants for consonants, as the language has it.

    Different words stay different, grammar and spaces as they are; capitals become small letters.
    """
    return text.lower().translate(_letters(language))


@cache
def _letters(language: str) -> dict[int, str]:
    table = {}
    for kind in (VOWELS, CONSONANTS):
        others = Random(f"{language} {kind}").sample(kind, len(kind))
        table |= str.maketrans(kind, "".join(others))
    return table
