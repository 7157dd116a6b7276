"""The typed OpenEnv client: plays a market on a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from daedalus.service.openenv.messages import (
    DaedalusAction,
    DaedalusObservation,
    DaedalusState,
    ForkAnswer,
    ForkQuestion,
    MechanismFields,
    WireMechanism,
)


class DaedalusClient(EnvClient[DaedalusAction, DaedalusObservation, DaedalusState]):
    """A session on a server, over a WebSocket; ``.sync()`` returns a client without ``await``.

    ``reset`` takes ``seed``, ``population``, ``market``, ``objective``, ``n_agents``,
    ``episode_length``, ``allowed``, ``brief`` and ``briefs``, see ``ResetOptions``.
    """

    async def fork(
        self,
        mechanisms: Sequence[MechanismFields],
        futures: int = 8,
        horizon: int = 1,
        seed: int = 0,
    ) -> list[float]:
        """Return what each mechanism would earn from here; the episode stays where it is.

        The arguments are those of ``ForkQuestion``, and of ``fork`` of ``daedalus.Market``.

        Raises:
            ValidationError: A number is out of range.
            RuntimeError: The server refused; its answer says what is allowed.
        """
        wire = [WireMechanism(**each.to_mechanism().to_dict()) for each in mechanisms]
        asked = ForkQuestion(mechanisms=wire, futures=futures, horizon=horizon, seed=seed)
        answer = await self._send_and_receive({"type": "fork", "data": asked.model_dump()})
        return ForkAnswer(**answer["data"]).rewards

    def _step_payload(self, action: DaedalusAction) -> dict[str, Any]:
        return action.model_dump()

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[DaedalusObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = DaedalusObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation, reward, done, observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> DaedalusState:
        return DaedalusState(**payload)
