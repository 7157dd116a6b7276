"""OpenEnv on this server: its WebSocket, its descriptions of the environment, and no MCP tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from openenv.core.env_server.types import ConcurrencyConfig, SchemaResponse, ServerMode
from pydantic import BaseModel, Field

from daedalus.service.http.api_messages import INVALID
from daedalus.service.http.fork_routes import ForkingServer
from daedalus.service.http.unreadable import JsonRoute
from daedalus.service.openenv.environment import NAME, DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction, DaedalusObservation, DaedalusState
from daedalus.service.settings import ServiceSettings

KEPT = {"/ws", "/health", "/metadata"}
"""Routes of OpenEnv's own server that are kept.

Its resets and steps over HTTP forget the episode. Its sessions over MCP stay when a client leaves.
It builds the schemas anew for every visitor, which holds up all others.
"""
METHOD_NOT_FOUND = -32601  # of JSON-RPC 2.0
NO_TOOLS = "there are no tools here; play over the WebSocket /ws, or by POST /reset and /step"


class McpCall(BaseModel):
    """A JSON-RPC request; only its number matters."""

    id: int | str | None = Field(None, description="the answer repeats it")


def add_openenv(
    app: FastAPI, settings: ServiceSettings, make: Callable[[], DaedalusEnvironment]
) -> ForkingServer:
    """Add OpenEnv's WebSocket and what it expects of every server, but no resets and steps."""
    server = ForkingServer(
        make,
        DaedalusAction,
        DaedalusObservation,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.websocket_sessions,
            session_timeout=settings.session_timeout,
        ),
        env_name=NAME,
        state_cls=DaedalusState,
    )
    routes = app.router.routes
    own = len(routes)
    server.register_routes(app, ServerMode.PRODUCTION)
    routes[own:] = [each for each in routes[own:] if getattr(each, "path", "") in KEPT]
    app.include_router(_descriptions())
    return server


def _descriptions() -> APIRouter:
    """Return the routes of the schemas and of MCP, which gives every call the same answer."""
    router = APIRouter(route_class=JsonRoute)

    @router.get(
        "/schema", response_model=SchemaResponse, tags=["Schema"], summary="Get all JSON schemas"
    )
    async def schema() -> Response:
        return Response(_schemas(), media_type="application/json")

    @router.post("/mcp", responses=INVALID, summary="Say that there are no MCP tools")
    async def mcp(call: McpCall) -> dict[str, Any]:
        error = {"code": METHOD_NOT_FOUND, "message": NO_TOOLS}
        return {"jsonrpc": "2.0", "id": call.id, "error": error}

    return router


@cache
def _schemas() -> str:
    observation = DaedalusObservation.model_json_schema()
    return SchemaResponse(
        action=DaedalusAction.model_json_schema(),
        observation=observation,
        reset_observation=observation,
        state=DaedalusState.model_json_schema(),
    ).model_dump_json()
