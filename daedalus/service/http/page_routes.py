"""What people look at: the page, what is on offer, the tour, and the newest run's curves."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles

from daedalus.service.http.messages import Problem
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.page.article import figures_of
from daedalus.service.page.messages import Offer, Tour, TourStop, TrainingCurves
from daedalus.service.page.newest_run import NewestRun
from daedalus.service.page.offer import make_offer
from daedalus.service.page.tour import tour
from daedalus.service.settings import ServiceSettings

STATIC = Path(__file__).parents[1] / "page" / "static"
_OWN_PARTS = {"Content-Security-Policy": "default-src 'self'; frame-ancestors *"}
_NO_SUCH_FILE: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "No such file"}
}


def page_routes(
    settings: ServiceSettings, catalogue: Catalogue, designers: Sequence[str]
) -> APIRouter:
    """Return the routes behind the page; ``designers`` names those beside the trained one."""
    router = APIRouter(tags=["Page"])
    offer = make_offer(catalogue, designers)
    newest = NewestRun(Path(settings.outputs))

    @router.get("/api/catalogue", summary="See what may be chosen, and what it means")
    async def choices() -> Offer:
        return offer

    @router.get("/api/tour", summary="See the attacks of the guided tour, and what mends them")
    async def stops() -> Tour:
        on_offer = tour(catalogue.populations)
        return Tour(stops=[TourStop(**each.to_dict()) for each in on_offer])

    @router.get("/api/training", summary="See the newest run's training curves")
    def training() -> TrainingCurves:
        return TrainingCurves(run=newest.name, history=newest.history())

    add_files(router, newest, Path(settings.write_up))
    return router


def add_files(router: APIRouter, newest: NewestRun, write_up: Path) -> None:
    """Add the newest run's figures and tables, and the article with its figures."""

    @router.get("/plots/", summary="List the newest run's figures and tables")
    def plots() -> HTMLResponse:
        return HTMLResponse(_index(newest.name, list(newest.files())), headers=_OWN_PARTS)

    @router.get("/plots/{name}", responses=_NO_SUCH_FILE, summary="Get one of them")
    def plot(name: str) -> FileResponse:
        return _file(newest.files().get(name), "see /plots/ for what there is")

    @router.get("/blog.md", responses=_NO_SUCH_FILE, summary="Read the article")
    def article() -> FileResponse:
        return _file(write_up, "this server was started without the article")

    # Where the article's links lead, which are relative to its own address.
    @router.get("/figures/{name}", responses=_NO_SUCH_FILE, summary="Get one of its figures")
    def figure(name: str) -> FileResponse:
        return _file(figures_of(write_up).get(name), "see /blog.md for what there is")


def add_page(app: FastAPI) -> None:
    """Serve the page at the root, and its parts under /page/."""

    @app.get("/", tags=["Page"], response_class=HTMLResponse, summary="Open the page")
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=_OWN_PARTS)

    app.mount("/page", StaticFiles(directory=STATIC))


def _file(path: Path | None, otherwise: str) -> FileResponse:
    if path is None or not path.is_file():
        raise HTTPException(404, otherwise)
    return FileResponse(path)


def _index(run: str | None, names: list[str]) -> str:
    pictures = [
        f'<p><img src="{escape(name)}" alt="{escape(name)}"></p>'
        for name in names
        if name.endswith(".png")
    ]
    tables = [
        f'<li><a href="{escape(name)}">{escape(name)}</a></li>'
        for name in names
        if not name.endswith(".png")
    ]
    title = f"Newest run: {escape(run)}" if run else "No run has logged its training here yet."
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<title>Plots</title><link rel="stylesheet" href="/page/plots.css">'
        f"<h1>{title}</h1><ul>{''.join(tables)}</ul>{''.join(pictures)}"
    )
