"""The figure of certificates names mechanisms and types."""

from __future__ import annotations

from daedalus.lab.studies.certificate_figures import PANELS, certificate_dots
from daedalus.lab.studies.certificate_tables import certificate_tables
from daedalus.market.population import Population
from daedalus.market.strategic import StrategicMarket
from tests.lab.studies.test_certificate_tables import BOTH, ONE, TWO


def test_the_figure_names_mechanisms_and_types() -> None:
    for types, panels in ((ONE, len(PANELS)), (TWO, len(PANELS) - 1)):
        market = StrategicMarket(Population(bidders=4, units=2, types=types))
        figure = certificate_dots(*certificate_tables(market, BOTH, 2, 0))
        assert len(figure.axes) == panels
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert names == ["first price, reserve 0.10: 75 %", "vcg, reserve 0.10: 25 %"]
        assert [each.get_text() for each in figure.legends[0].get_texts()] == list(types)
