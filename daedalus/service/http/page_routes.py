"""Routes of the page: its files, the offer, the tour, the newest run and the article."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from fastapi import APIRouter, FastAPI, HTTPException
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles

from daedalus.market.goal import Goal
from daedalus.service.http.api_messages import documented
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.page.article import documents_of, figures_of, page_of, plain_page
from daedalus.service.page.newest_run import NewestRun
from daedalus.service.page.offer import make_offer
from daedalus.service.page.page_messages import Offer, Tour, TrainingCurves
from daedalus.service.page.tour import tour
from daedalus.service.settings import ServiceSettings

STATIC = Path(__file__).parents[1] / "page" / "static"
OWN_PARTS = {"Content-Security-Policy": "default-src 'self'; frame-ancestors *"}
"""Headers of the service's own pages, which load nothing from elsewhere."""
_NO_ARTICLE = "this server has no article; service.write_up names its Markdown file"
_NO_SUCH_FILE = documented(404, "No such file")


def page_routes(
    settings: ServiceSettings,
    catalogue: Catalogue,
    designers: Sequence[str],
    reports: bool,
    briefs: bool,
) -> APIRouter:
    """Return the routes that the page asks; ``designers`` are those beside the trained one."""
    router = APIRouter(tags=["Page"])
    upload_bytes = settings.max_upload_bytes if reports else 0
    offer = make_offer(catalogue, designers, upload_bytes, briefs)
    newest = NewestRun(Path(settings.outputs))

    @router.get("/api/catalogue", summary="Read every choice and its meaning")
    async def choices() -> Offer:
        return offer

    @router.get("/api/tour", summary="Read the stops of the guided tour: attacks and remedies")
    async def stops() -> Tour:
        goal = Goal(allowed=catalogue.allowed)
        return Tour(stops=tour(catalogue.populations, catalogue.markets, goal))

    @router.get("/api/training", summary="Read the training curves of the newest run")
    def training() -> TrainingCurves:
        return TrainingCurves(run=newest.name, history=newest.history(), scores=newest.scores())

    add_files(router, newest, Path(settings.write_up))
    return router


def add_files(router: APIRouter, newest: NewestRun, write_up: Path) -> None:
    """Add the newest run's figures and tables, and the article with its figures."""

    @router.get("/plots/", summary="List the figures and tables of the newest run")
    def plots() -> HTMLResponse:
        return HTMLResponse(_index(newest.name, list(newest.files())), headers=OWN_PARTS)

    @router.get("/plots/{name}", responses=_NO_SUCH_FILE, summary="Get one of these files")
    def plot(name: str) -> FileResponse:
        return _file(newest.files().get(name), "no such file; /plots/ lists the files")

    @router.get("/read/{name}", responses=_NO_SUCH_FILE, summary="Read the article as a web page")
    def read(name: str) -> HTMLResponse:
        documents = documents_of(write_up)
        if name not in documents:
            known = f"no such document; /read/{write_up.name} is the article"
            raise HTTPException(404, known if documents else _NO_ARTICLE)
        return HTMLResponse(page_of(documents[name], documents), headers=OWN_PARTS)

    @router.get(
        "/read/figures/{name}", responses=_NO_SUCH_FILE, summary="Get a figure of these pages"
    )
    def shown_figure(name: str) -> FileResponse:
        figures = [figures_of(each) for each in documents_of(write_up).values()]
        path = next((each[name] for each in figures if name in each), None)
        return _file(path, "no such figure in the documents")


def add_page(app: FastAPI) -> None:
    """Serve the page at the root, and its files under /page/."""

    @app.get("/", tags=["Page"], response_class=HTMLResponse, summary="Open the page")
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=OWN_PARTS)

    app.mount("/page", StaticFiles(directory=STATIC))


def _file(path: Path | None, otherwise: str) -> FileResponse:
    if path is None or not path.is_file():
        raise HTTPException(404, otherwise)
    return FileResponse(path)


def _index(run: str | None, names: list[str]) -> str:
    """Return a page with every picture, below links to everything else."""
    links, pictures = "", ""
    for name in map(escape, names):
        if name.endswith(".png"):
            pictures += f'<p><img src="{name}" alt="{name}"></p>'
        else:
            links += f'<li><a href="{name}">{name}</a></li>'
    title = f"Newest run: {escape(run)}" if run else "No run has logged its training here yet."
    return plain_page("Plots", f"<h1>{title}</h1><ul>{links}</ul>{pictures}")
