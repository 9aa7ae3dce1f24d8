"""Text files as people have them: marks, blank lines, other encodings."""

import pytest

from tmft.datasets.text import sentences
from tmft.runtime.errors import InputError

TEXT = "Caf\u00e9 \u201copen\u201d\n\n  two \r\nthree\rfour\n"
FOUND = ["Caf\u00e9 \u201copen\u201d", "two", "three", "four"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_byte_order_mark_and_blank_lines_are_no_text(tmp_path, encoding):
    file = tmp_path / "corpus.txt"
    file.write_bytes(TEXT.encode(encoding))
    assert list(sentences(file)) == FOUND


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_named_with_the_remedy(tmp_path, encoding):
    file = tmp_path / "corpus.txt"
    file.write_bytes(TEXT.encode(encoding))
    with pytest.raises(InputError) as caught:
        list(sentences(file))
    message = str(caught.value)
    assert f"{file}: line 1 is not UTF-8" in message and f"iconv -f {encoding} -t utf-8" in message
    assert "\n" not in message


def test_the_line_of_the_first_odd_byte_is_named(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_bytes(b"one\n" * 5000 + b"caf\xe9\n")
    with pytest.raises(InputError, match="line 5001 is not UTF-8"):
        list(sentences(file))
