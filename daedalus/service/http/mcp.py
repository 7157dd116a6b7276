"""MCP, which OpenEnv expects of every server. The answer says that there are no tools."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from daedalus.service.http.json_bodies import JsonRoute
from daedalus.service.http.messages import INVALID

METHOD_NOT_FOUND = -32601  # of JSON-RPC 2.0
NO_TOOLS = "there are no tools here; play over the WebSocket /ws, or by POST /reset and /step"


class McpCall(BaseModel):
    """A JSON-RPC request; only its number matters."""

    id: int | str | None = Field(None, description="the answer repeats it")


class McpError(BaseModel):
    """The reason why nothing was called."""

    code: int = METHOD_NOT_FOUND
    message: str = NO_TOOLS


class McpAnswer(BaseModel):
    """A JSON-RPC answer."""

    jsonrpc: Literal["2.0"] = "2.0"
    id: int | str | None = None
    error: McpError = McpError()


def mcp_answers() -> APIRouter:
    """Return the route, which gives every call the same answer."""
    router = APIRouter(route_class=JsonRoute)

    @router.post("/mcp", responses=INVALID, summary="Say that there are no MCP tools")
    async def mcp(call: McpCall) -> McpAnswer:
        return McpAnswer(id=call.id)

    return router
