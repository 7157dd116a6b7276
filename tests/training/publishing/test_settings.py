"""A repository is named as on the hub."""

from __future__ import annotations

import pytest

from daedalus.training.publishing.settings import HubSettings


def test_a_repository_has_an_owner_and_a_name() -> None:
    assert HubSettings("OWNER/Qwen2.5-auctions_1").private
    for wrong in ("NAME", "a/b/c", "/NAME", "OWNER/", "OWNER/a b", "../x"):
        with pytest.raises(ValueError, match="give OWNER/NAME"):
            HubSettings(wrong)
