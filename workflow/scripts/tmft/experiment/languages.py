"""The language codes of the DeepL API, checked before anything is sent."""

from tmft.runtime.errors import InputError

_CODES = """
    ACE AF AN AR AS AY AZ BA BE BG BHO BN BR BS CA CEB CKB CS CY DA DE EL EN EO ES ET EU FA FI FR GA GL GN GOM GU
    HA HE HI HR HT HU HY ID IG IS IT JA JV KA KK KMR KO KY LA LB LMO LN LT LV MAI MG MI MK ML MN MR MS MT MY NB NE
    NL OC OM PA PAG PAM PL PRS PS PT QU RO RU SA SCN SK SL SQ SR ST SU SV SW TA TE TG TH TK TL TN TR TS TT UK UR
    UZ VI WO XH YI YUE ZH ZU
"""
SOURCES = frozenset(_CODES.split())
TARGETS = SOURCES - {"EN", "PT"} | {"EN-GB", "EN-US", "ES-419", "PT-BR", "PT-PT", "ZH-HANS", "ZH-HANT"}
OTHER_NAMES = {"NO": "NB", "JP": "JA", "KR": "KO", "CN": "ZH", "CZ": "CS"}


def source_code(code: str | bool) -> str:
    """The fixed form of a source language, in capitals. Raises InputError with a hint where there is no such source."""
    return _checked(code, SOURCES, "source")


def target_code(code: str | bool) -> str:
    """The fixed form of a target language, in capitals. Raises InputError with a hint where there is no such target."""
    return _checked(code, TARGETS, "target")


def _checked(code: str | bool, known: frozenset[str], kind: str) -> str:
    code = "NO" if code is False else str(code).upper()  # an unquoted NO is false in YAML
    if code in known:
        return code
    base = code.partition("-")[0]
    base = OTHER_NAMES.get(base, base)
    close = sorted(other for other in known if other.partition("-")[0] == base)
    hint = f"choose {' or '.join(close)}" if close else f"its codes are {', '.join(sorted(known))}"
    raise InputError(f"'{code}' is no {kind} language of DeepL; {hint}")
