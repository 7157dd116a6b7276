"""The application: OpenEnv, the session API and the page together."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from daedalus.design.designers.purpose import Purpose
from daedalus.design.env import Designer
from daedalus.service.http.api_page import add_api_page
from daedalus.service.http.bid_routes import PATH as BIDS
from daedalus.service.http.bid_routes import bid_routes
from daedalus.service.http.designer_routes import designer_routes
from daedalus.service.http.error_handlers import add_error_handlers
from daedalus.service.http.fork_routes import ForkAllowance, fork_routes, socket_forks
from daedalus.service.http.limits import Limits, sockets_per_visitor, trusted_hosts
from daedalus.service.http.openenv_routes import add_openenv
from daedalus.service.http.page_routes import add_page, page_routes
from daedalus.service.http.session_routes import session_routes
from daedalus.service.http.unreadable import readable_envelopes
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DESCRIPTION, DaedalusEnvironment
from daedalus.service.sessions.background_designer import BackgroundDesigner, Load
from daedalus.service.sessions.bid_reports import BidReports, ReportOn
from daedalus.service.sessions.briefs import Briefs
from daedalus.service.sessions.made_designers import MadeDesigners, Make
from daedalus.service.sessions.store import SessionStore
from daedalus.service.settings import ServiceSettings


def create_app(
    settings: ServiceSettings,
    catalogue: Catalogue,
    load: Load | None,
    designers: Mapping[str, Designer] | None = None,
    trained_for: Purpose | None = None,
    makers: Mapping[str, Make] | None = None,
    report_on: ReportOn | None = None,
) -> FastAPI:
    """Build the application. Whatever is left out, it does without.

    Args:
        settings: Its limits.
        catalogue: The populations, markets and objectives that a reset may choose.
        load: Loads the trained designer in the background.
        designers: Other designers, by name.
        trained_for: What the trained designer was trained for, if it is known.
        makers: What makes further designers for a market and an objective, by name.
        report_on: Makes reports on logs of bids.
    """
    designers = designers or {}
    app = FastAPI(
        title="Daedalus", version="1.0.0", description=DESCRIPTION, docs_url=None, redoc_url=None
    )

    timeout, queue = settings.design_timeout, settings.design_queue
    # /api/design takes briefs where all may be set: it cannot search within a narrower choice.
    designs = not catalogue.allowed
    briefs = Briefs(catalogue.briefs, settings.job_timeout, timeout, queue, designs)

    def make() -> DaedalusEnvironment:
        return DaedalusEnvironment(catalogue, settings.max_fork_steps, briefs.read_ahead)

    per_visitor = settings.sessions_per_address if settings.trusted_proxies else None
    sessions = SessionStore(
        make, settings.http_sessions, settings.session_timeout, settings.session_grace, per_visitor
    )
    rate = settings.fork_steps_per_address if settings.trusted_proxies else None
    allowance = ForkAllowance(settings.max_fork_steps, rate)
    advice = "; the designer search is made for what you ask" if "search" in (makers or {}) else ""
    designer = BackgroundDesigner(load, timeout, queue, trained_for, advice)
    made = MadeDesigners(makers or {}, settings.job_timeout, timeout, queue)
    reports = BidReports(report_on if settings.max_upload_bytes else None, settings.report_timeout)
    app.state.sessions = sessions
    app.state.openenv = add_openenv(app, settings, make)
    app.include_router(session_routes(catalogue, sessions, briefs))
    app.include_router(fork_routes(sessions, allowance))
    app.include_router(designer_routes(catalogue, sessions, designer, designers, made, briefs))
    app.include_router(bid_routes(reports))
    names = [*designers, *made.names]
    app.include_router(page_routes(settings, catalogue, names, reports.available, briefs.available))
    add_page(app)
    add_api_page(app)
    app.router.on_shutdown += [each.close for each in (designer, made, reports, briefs, sessions)]
    add_error_handlers(app)
    _limit(app, settings, allowance)
    return app


def _limit(app: FastAPI, settings: ServiceSettings, allowance: ForkAllowance) -> None:
    """Add what a request passes before it reaches a route; what is added last comes first."""
    app.add_middleware(head_as_get)
    app.add_middleware(socket_forks, allowance=allowance)
    app.add_middleware(readable_envelopes)
    if settings.trusted_proxies:
        app.add_middleware(sockets_per_visitor, most=settings.sessions_per_address)
    app.add_middleware(
        Limits,
        max_body_bytes=settings.max_body_bytes,
        longer={BIDS: settings.max_upload_bytes or settings.max_body_bytes},
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
    app.add_middleware(trusted_hosts, hosts=settings.hosts)


def head_as_get(app: ASGIApp) -> ASGIApp:
    """Let the routes of GET answer HEAD too; the server leaves out the body.

    FastAPI's routes answer the methods that they name, and no others.
    """

    async def as_get(scope: Scope, receive: Receive, send: Send) -> None:
        # The server keeps its own scope, so it still knows that nobody wants the body.
        inner = {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope
        await app(inner, receive, send)

    return as_get
