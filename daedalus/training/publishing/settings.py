"""Settings of publishing; this module imports fast, because ``--help`` needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from daedalus.checks import Checked, bounded

REPOSITORY = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*"
"""Pattern of a name on the hub, OWNER/NAME."""


@dataclass
class HubSettings(Checked):
    """A repository on the Hugging Face hub, and what it gets.

    Attributes:
        repo: Its name, OWNER/NAME.
        private: Whether a new repository is private.
        update: Whether the repository may exist already. It gets a new commit and keeps its
            visibility.
        license: Licence of the published weights, by the hub's identifier.
        dry_run: Whether the folder is only written and checked, without a network.
    """

    repo: str = bounded(
        "", re.compile(f"({REPOSITORY})?").fullmatch, "give OWNER/NAME, as on the hub"
    )
    private: bool = True
    update: bool = False
    license: str = "apache-2.0"
    dry_run: bool = False
