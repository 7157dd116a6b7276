"""The typed OpenEnv client: plays a market on a server."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from daedalus.service.openenv.messages import DaedalusAction, DaedalusObservation, DaedalusState


class DaedalusClient(EnvClient[DaedalusAction, DaedalusObservation, DaedalusState]):
    """A session on a server, over a WebSocket; ``.sync()`` returns a client without ``await``.

    ``reset`` takes ``seed``, ``population``, ``market``, ``n_agents`` and ``episode_length``.
    """

    def _step_payload(self, action: DaedalusAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[DaedalusObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = DaedalusObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation, reward, done, observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> DaedalusState:
        return DaedalusState(**payload)
