"""Text files: their sentences, and what they look like where they are in another encoding than they should be."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from tmft.runtime.errors import InputError

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def sentences(corpus: Path) -> Iterator[str]:
    """Yield the sentences of a text file in UTF-8, blank lines and a byte order mark left out.

    Raises InputError where there is none, and for another encoding.
    """
    empty = True
    with corpus.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                found = looks_like(line)
                raise InputError(
                    f"{corpus}: line {number} is not UTF-8; the file looks like {found}: convert it, for example by "
                    f"iconv -f {found} -t utf-8"
                ) from error
            for part in text.split("\r"):
                if sentence := part.strip():
                    empty = False
                    yield sentence
    if empty:
        raise InputError(f"{corpus}: no sentence in this corpus; it needs one per line")


def looks_like(content: bytes) -> str:
    """The likely encoding of text that is not UTF-8: by its byte order mark or its zeros, else Western European."""
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return encoding
    if b"\0" in content[:1000]:
        return "utf-16-le" if content[1:2] == b"\0" else "utf-16-be"
    return "cp1252"
