"""Language codes: one form, and a hint for each that DeepL does not know."""

import deepl
import pytest

from tmft.experiment.languages import SOURCES, TARGETS, source_code, target_code
from tmft.runtime.errors import InputError


@pytest.mark.parametrize(
    ("target", "hints"),
    [
        ("EN", ["EN-GB", "EN-US"]),
        ("en", ["EN-GB", "EN-US"]),
        ("PT", ["PT-BR", "PT-PT"]),
        ("NO", ["choose NB"]),
        (False, ["'NO'", "choose NB"]),
        ("DE-AT", ["choose DE"]),
        ("ES-MX", ["ES or ES-419"]),
        ("XX", ["AR, ", "ZH-HANT"]),
    ],
)
def test_refused_targets_have_a_hint(target, hints):
    with pytest.raises(InputError) as failure:
        target_code(target)
    assert all(hint in str(failure.value) for hint in hints)


@pytest.mark.parametrize(("source", "hint"), [("EN-US", "EN"), ("pt-br", "PT"), ("ES-419", "ES"), ("no", "NB")])
def test_sources_have_no_region(source, hint):
    with pytest.raises(InputError, match=f"choose {hint}$"):
        source_code(source)


@pytest.mark.parametrize("code", ["es-419", "ES-419", "Es-419"])
def test_codes_have_one_form(code):
    assert target_code(code) == "ES-419"
    assert source_code("en") == "EN"


def test_codes_are_those_of_the_client():
    known = {value.upper() for name, value in vars(deepl.Language).items() if name.isupper()}
    assert {code for code in known if "-" not in code} == SOURCES
    assert known - {"EN", "PT"} == TARGETS
