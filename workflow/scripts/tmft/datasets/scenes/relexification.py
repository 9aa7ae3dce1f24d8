"""Languages that differ from a text's own in their words alone: the miniature's answer to translation."""

from functools import cache
from random import Random

from tmft.datasets.scenes.pairs import corpus

VOWELS, CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


def relexify(text: str, language: str) -> str:
    """Exchange the letters of each word, vowels for vowels and consonants for consonants, as the language has it.

    Different words stay different, grammar and spaces as they are; capitals become small letters.
    """
    return text.lower().translate(_letters(language))


def corpus_in(language: str | None, sentences: int, seed: int, exclude: set[str]) -> list[str]:
    """The sentences of ``tmft.datasets.scenes.pairs.corpus``, told in another language where one is given."""
    drawn = corpus(sentences, seed, exclude)
    return drawn if language is None else [relexify(sentence, language) for sentence in drawn]


@cache
def _letters(language: str) -> dict[int, str]:
    table = {}
    for kind in (VOWELS, CONSONANTS):
        others = Random(f"{language} {kind}").sample(kind, len(kind))
        table |= str.maketrans(kind, "".join(others))
    return table
