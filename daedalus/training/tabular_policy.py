"""A policy of plain numbers: the odds of each field's values."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation
from daedalus.search.space import GRID, mechanisms_at


class TabularPolicy(torch.nn.Module):
    """Independent odds of the values of each field, equal at first. It can play as a designer."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = torch.nn.ParameterDict(  # in pairs: it would sort a mapping
            [(name, torch.zeros(len(values))) for name, values in GRID.items()]
        )

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the places in ``GRID`` of ``count`` mechanisms, shape (count, fields)."""
        columns = []
        for logits in self.logits.values():
            bounds = logits.detach().double().softmax(dim=0).numpy().cumsum()
            columns.append(np.searchsorted(bounds[:-1], rng.random(count), side="right"))
        return np.stack(columns, axis=1)

    def logps(self, places: NDArray[np.int64]) -> torch.Tensor:
        """Return the log-probability of each mechanism, shape (count,)."""
        chosen = torch.from_numpy(places)
        parts = [
            logits.log_softmax(dim=0)[chosen[:, column]]
            for column, logits in enumerate(self.logits.values())
        ]
        return torch.stack(parts).sum(dim=0)

    def entropy(self) -> torch.Tensor:
        """Return the entropy of an answer, in nats."""
        logs = [logits.log_softmax(dim=0) for logits in self.logits.values()]
        return -torch.stack([(each.exp() * each).sum() for each in logs]).sum()

    def mode(self) -> Mechanism:
        """Return the likeliest mechanism."""
        places = [int(logits.argmax()) for logits in self.logits.values()]
        return mechanisms_at(np.array([places]))[0]

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Draw a mechanism for each market."""
        return mechanisms_at(self.draw(len(observations), rng))
