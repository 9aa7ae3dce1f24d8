"""What must not get in or out: keys that would leave the output folders, and downloads that nothing pins.

Others are tested where they belong: secrets in test_translation.py and test_hub.py, code and pickles of checkpoints in
test_fetching.py, wrong files in test_downloads.py and test_fetching.py. Ruff's rules S keep unsafe calls out.
"""

import copy
import re
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pytest
import yaml
from configurations import CONFIG, SOURCES

from tmft.experiment import schema
from tmft.experiment.configuration import load
from tmft.runtime.errors import InputError

SECTIONS = [section for section, value in CONFIG.items() if isinstance(value, dict) and section != "training"]


def test_all_keyed_sections_are_tried():
    keys = schema.read()["properties"]
    assert {name for name, value in keys.items() if "additionalProperties" in value} >= set(SECTIONS)
    assert {name for name, value in keys.items() if "propertyNames" in value} == set(SECTIONS)


@pytest.mark.parametrize(
    "key",
    ["..", "../up", "a/b", "/abs", "a/../../b", ".hidden", "-option", "~", "a b", "a\n", "a\\b", "a{b}", "", 1, None],
)
@pytest.mark.parametrize("section", SECTIONS)
def test_a_key_that_is_no_plain_name_is_refused(section, key):
    config = copy.deepcopy(CONFIG)
    config[section][key] = next(iter(config[section].values()))
    with pytest.raises(
        InputError, match=f"^config: .* at {section} is no valid key; keys go into paths: .*$"
    ) as failure:
        load(config, SOURCES)
    assert "\n" not in str(failure.value)


def test_every_download_is_pinned(root: Path):
    sources = yaml.safe_load((root / "workflow/sources.yaml").read_text())
    pinned = 0
    for source in sources.values():
        for file in (source.get("lists") or source.get("files", {})).values():
            assert urlsplit(file["url"]).scheme == "https" and re.fullmatch("[0-9a-f]{64}", file["sha256"])
            assert ".." not in PurePosixPath(file["name"]).parts and not PurePosixPath(file["name"]).is_absolute()
            pinned += 1
        for collection in source.get("hub", {}).values():
            assert re.fullmatch("[0-9a-f]{40}", collection["revision"])
            pinned += 1
    assert pinned > 20
