"""The population of a log is data that the market plays and the user can edit."""

from __future__ import annotations

import numpy as np
from omegaconf import OmegaConf

from daedalus.lab.bids.estimated_population import population_file, population_of, scale_of
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.theory.distributions import Distribution
from daedalus.market.population_settings import PopulationSettings


def test_the_highest_value_becomes_one(estimate: Estimate) -> None:
    population = population_of(estimate.values, 3)
    values = population.types["bidder"].values
    assert values is not None
    assert population.bidders == 3 and population.units == 1
    shown = Distribution.of(values.knots())
    levels = np.linspace(0.1, 0.9, 9)
    scaled = np.interp(levels, np.linspace(0, 1, 101), estimate.values) / scale_of(estimate.values)
    assert np.allclose(shown.quantile(levels), scaled, atol=1e-5)


def test_the_file_is_a_population(estimator: Estimator, estimate: Estimate) -> None:
    text = population_file(estimate, estimator.log)
    told = f"# Bidders of the log log: values estimated from {len(estimator.log.bids)} bids in 240"
    assert text.startswith(told)
    assert max(map(len, text.splitlines())) <= 110
    schema = OmegaConf.structured(PopulationSettings)
    settings = OmegaConf.to_object(OmegaConf.merge(schema, OmegaConf.create(text)))
    assert isinstance(settings, PopulationSettings) and settings.name == "log_log"
    assert settings.markets == ["strategic"] and settings.strategic is not None
    made = population_of(estimate.values, estimate.typical_bidders)
    seats = settings.strategic.seats_of_types()
    assert seats == {"truthful": 0, "bidder": made.bidders}
    assert settings.strategic.types["bidder"] == made.types["bidder"]
    assert settings.strategic.units == made.units
