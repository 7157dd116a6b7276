"""Routes of reports on logs of bids: one takes a CSV, the others give the report."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse

from daedalus.service.http.api_messages import INVALID, BidLog, BidReport, documented
from daedalus.service.http.designer_routes import leaving
from daedalus.service.http.limits import visitor_of
from daedalus.service.http.unreadable import JsonRoute
from daedalus.service.sessions.bid_reports import BidLogError, BidReports, MadeReport

PATH = "/api/bids"
RESERVES = "reserves.csv"

_NO_REPORTS = (
    "this server makes no reports on bids: it takes no uploads, or it lacks pandas, scipy, "
    "matplotlib or seaborn, which requirements.txt lists"
)
_NO_REPORT = f"there is no such report, or no longer; POST {PATH} makes one"
_ABSENT = documented(404, "No such report, or none made here")
_BUSY = documented(503, "Others are made; see Retry-After")

HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors *; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Headers of a page that may do nothing: it runs no script, and loads and sends nothing."""


def bid_routes(reports: BidReports) -> APIRouter:
    """Return the routes of reports."""
    router = APIRouter(tags=["Bids"], route_class=JsonRoute)

    @router.post(
        PATH, responses=INVALID | _ABSENT | _BUSY, summary="Report what a log of bids says to set"
    )
    async def make(log: BidLog, http: Request) -> BidReport:
        if not reports.available:
            raise HTTPException(404, _NO_REPORTS)
        try:
            with leaving(http) as left:
                name = await reports.make(
                    log.name, log.csv, log.settings, visitor_of(http.scope), left
                )
        except BidLogError as error:
            raise HTTPException(422, str(error)) from error
        return BidReport(report=f"{PATH}/{name}", reserves=f"{PATH}/{name}/{RESERVES}")

    @router.get(
        f"{PATH}/{{name}}", responses=INVALID | _ABSENT, summary="Read such a report as a web page"
    )
    async def read(name: str) -> HTMLResponse:
        return HTMLResponse(kept(name).page, headers=HARMLESS)

    @router.get(
        f"{PATH}/{{name}}/{RESERVES}",
        responses=INVALID | _ABSENT,
        response_class=PlainTextResponse,
        summary="Read the reserve of each sale in such a report as CSV",
    )
    async def read_reserves(name: str) -> PlainTextResponse:
        as_file = {"Content-Disposition": f"attachment; filename={RESERVES}"}
        table = kept(name).reserves
        return PlainTextResponse(table, headers=HARMLESS | as_file, media_type="text/csv")

    def kept(name: str) -> MadeReport:
        report = reports.get(name)
        if report is None:
            raise HTTPException(404, _NO_REPORT)
        return report

    return router
