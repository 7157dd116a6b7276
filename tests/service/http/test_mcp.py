"""MCP: there are no tools, and a call opens no session."""

from __future__ import annotations


def test_mcp_has_no_tools_and_opens_no_session(reach) -> None:
    client = reach()
    for number in range(9):
        create = {"jsonrpc": "2.0", "id": number, "method": "openenv/session/create"}
        answer = client.post("/mcp", json=create).json()
        assert answer["id"] == number and answer["error"]["code"] == -32601
    assert client.app.state.openenv.active_sessions == 0
