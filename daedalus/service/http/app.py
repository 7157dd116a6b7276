"""The application: OpenEnv, the session API and the page together."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from openenv.core.env_server.http_server import HTTPEnvServer
from openenv.core.env_server.types import ConcurrencyConfig, ServerMode

from daedalus.env import Designer
from daedalus.service.http.built_once import BuiltOnce
from daedalus.service.http.designer_routes import designer_routes
from daedalus.service.http.envelopes import ReadableEnvelopes
from daedalus.service.http.error_answers import add_error_handlers
from daedalus.service.http.head_requests import HeadAsGet
from daedalus.service.http.limits import Limits
from daedalus.service.http.mcp import mcp_answers
from daedalus.service.http.page_routes import add_page, page_routes
from daedalus.service.http.session_routes import session_routes
from daedalus.service.http.trusted_hosts import TrustedHosts
from daedalus.service.http.visitors import SocketsPerVisitor
from daedalus.service.http.watching_routes import watching_routes
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DESCRIPTION, NAME, DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction, DaedalusObservation, DaedalusState
from daedalus.service.sessions.background_designer import BackgroundDesigner, Load
from daedalus.service.sessions.store import SessionStore
from daedalus.service.settings import ServiceSettings

OPENENV_ROUTES = {"/ws", "/health", "/schema", "/metadata"}
"""Routes of OpenEnv's own server that are kept.

Its resets and steps over HTTP forget the episode. Its sessions over MCP stay when a client leaves.
"""


def create_app(
    settings: ServiceSettings,
    catalogue: Catalogue,
    load: Load | None,
    designers: Mapping[str, Designer] | None = None,
) -> FastAPI:
    """Build the application.

    Args:
        settings: Its limits.
        catalogue: The populations and markets that a reset may choose.
        load: Loads the trained designer in the background; None if there is none.
        designers: Other designers, by name.
    """
    designers = designers or {}
    app = FastAPI(
        title="Daedalus", version="1.0.0", description=DESCRIPTION, docs_url=None, redoc_url=None
    )

    def make() -> DaedalusEnvironment:
        return DaedalusEnvironment(catalogue)

    per_visitor = settings.sessions_per_address if settings.trusted_proxies else None
    sessions = SessionStore(
        make, settings.http_sessions, settings.session_timeout, settings.session_grace, per_visitor
    )
    designer = BackgroundDesigner(load, settings.design_timeout, settings.design_queue)
    app.state.sessions = sessions
    app.state.openenv = add_openenv(app, settings, make)
    app.include_router(session_routes(catalogue, sessions))
    app.include_router(watching_routes(sessions))
    app.include_router(designer_routes(sessions, designer, designers))
    app.include_router(mcp_answers())
    app.include_router(page_routes(settings, catalogue, list(designers)))
    add_page(app)
    app.router.on_shutdown += [designer.close, sessions.close]
    add_error_handlers(app)
    app.add_middleware(BuiltOnce, paths=("/schema", "/openapi.json"))
    app.add_middleware(HeadAsGet)
    app.add_middleware(ReadableEnvelopes)
    if per_visitor is not None:
        app.add_middleware(SocketsPerVisitor, most=per_visitor)
    app.add_middleware(
        Limits,
        max_body_bytes=settings.max_body_bytes,
        body_timeout=settings.request_timeout,
        idle_timeout=settings.session_timeout,
        origins=settings.cors_origins,
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(TrustedHosts, hosts=settings.hosts)
    return app


def add_openenv(
    app: FastAPI, settings: ServiceSettings, make: Callable[[], DaedalusEnvironment]
) -> HTTPEnvServer:
    """Add OpenEnv's WebSocket and its descriptions of the environment, but no resets and steps."""
    server = HTTPEnvServer(
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
    routes[own:] = [each for each in routes[own:] if getattr(each, "path", "") in OPENENV_ROUTES]
    return server
