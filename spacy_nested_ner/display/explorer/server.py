"""The endpoints: requests in, views of texts out. The work itself is done elsewhere, in threads."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from ... import __version__
from ..colors import color_rules
from ..drawing_style import stylesheet
from . import messages as m
from .desk import Desk
from .limits import Guard, LimitError, Limits, Workers, allowed_hosts
from .scoring import RefusedError, Scorer
from .sentences import Corpus

STATIC = Path(__file__).parent / "static"
FAILURES: dict[int | str, dict[str, Any]] = {
    413: {"model": m.Failure, "description": "The request is too large"},
    422: {"model": m.Failure, "description": "What is asked for is not possible"},
    503: {"model": m.Failure, "description": "Too many requests at a time"},
    504: {"model": m.Failure, "description": "Too slow"},
    "4XX": {"model": m.Failure, "description": "Refused"},
    "5XX": {"model": m.Failure, "description": "Too busy, or too slow"},
}
_MEDIA = {"spacy": "application/octet-stream", "jsonl": "application/x-ndjson"}


def create_app(
    scorer: Scorer,
    *,
    model: str,
    corpus: Corpus | None = None,
    host: str = "127.0.0.1",
    allow_hosts: Iterable[str] = (),
    limits: Limits | None = None,
) -> FastAPI:
    """The explorer as a web application.

    scorer (Scorer): The pipeline.
    model (str): What it is called on the command line.
    corpus (Corpus | None): Sentences to step through.
    host (str): The address at which it will listen.
    allow_hosts (Iterable[str]): Other names by which it may be called.
    limits (Limits | None): How much may be asked for.
    """
    limits = limits or Limits()
    workers = Workers(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        workers.open()
        if corpus is not None:
            corpus.start()
        yield
        workers.close()
        if corpus is not None:
            corpus.stop()

    app = FastAPI(
        title="Explorer of nested mentions",
        version=__version__,
        description=(
            "What the page of `spacy nested-ner explore` asks for. Every failure is JSON with a sentence. "
            f"Limits: {m.MAX_CHARACTERS:,} characters of text, {limits.request_bytes:,} bytes per request, "
            f"{limits.seconds:g} seconds per request, {limits.requests} requests at a time."
        ),
        lifespan=lifespan,
        responses=FAILURES,
        # They would load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
    )
    _add_endpoints(app, Desk(scorer, corpus, model), workers)
    _add_page(app)
    _add_failures(app)
    app.add_middleware(Guard, hosts=allowed_hosts(host, allow_hosts), limits=limits)
    return app


def _add_endpoints(app: FastAPI, desk: Desk, workers: Workers) -> None:
    @app.get("/api/model", summary="The pipeline, its labels and settings")
    async def model() -> m.ModelFacts:
        return await workers.run(desk.facts)

    @app.post("/api/analysis", summary="The mentions of a text")
    async def analysis(request: m.ViewRequest) -> m.Analysis:
        return await workers.run(desk.analysis, request)

    @app.post("/api/comparison", summary="What the three decoders find")
    async def comparison(request: m.ViewRequest) -> m.ComparisonOfDecoders:
        return await workers.run(desk.comparison, request)

    @app.post("/api/heat-map", summary="The probabilities of all spans of a part of the text")
    async def heat_map(request: m.StretchRequest) -> m.HeatMap:
        return await workers.run(desk.heat_map, request)

    @app.post("/api/alternatives", summary="What else was likely where a span is")
    async def alternatives(request: m.StretchRequest) -> m.Alternatives:
        return await workers.run(desk.alternatives, request)

    @app.post("/api/competitors", summary="Other analyses of a part of the text, by exact samples")
    async def competitors(request: m.StretchRequest) -> m.Competitors:
        return await workers.run(desk.competitors, request)

    @app.post("/api/export", summary="The view as JSON, bracket notation or Python code")
    async def export(request: m.ExportRequest) -> m.Export:
        return await workers.run(desk.export, request)

    @app.get("/api/sentences", summary="The sentences of the corpus")
    async def sentences(query: Annotated[m.SentenceQuery, Query()]) -> m.Sentences:
        return await workers.run(desk.sentences, query)

    content = {media: {"schema": {"type": "string", "format": "binary"}} for media in _MEDIA.values()}

    @app.post(
        "/api/corrections",
        summary="Documents to train from, as a .spacy file or JSON lines",
        response_class=Response,
        responses={200: {"content": content, "description": "The file"}},
    )
    async def corrections(request: m.CorrectionRequest) -> Response:
        body = await workers.run(desk.corrections, request)
        name = f'attachment; filename="corrections.{request.format}"'
        return Response(body, media_type=_MEDIA[request.format], headers={"Content-Disposition": name})


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/drawing.css", include_in_schema=False)
    async def drawing_style() -> Response:
        # Bars of probabilities have the colors of labels, too.
        return Response("\n".join([stylesheet(), *color_rules(".bar{}")]), media_type="text/css")

    app.mount("/static", StaticFiles(directory=STATIC))


def _add_failures(app: FastAPI) -> None:
    """Everything that goes wrong is JSON with a sentence."""

    def answer(status: int, text: str) -> JSONResponse:
        return JSONResponse({"error": text}, status)

    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return answer(422, "; ".join(_invalid(problem) for problem in error.errors()[:3]) + ".")

    def unknown(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": f"{error.detail}."}, error.status_code, error.headers)

    def broken(_: Request, error: Exception) -> JSONResponse:
        return answer(500, "The explorer has failed. The terminal in which it was started shows why.")

    handlers: dict[Any, Callable[..., Any]] = {
        RequestValidationError: invalid,
        HTTPException: unknown,
        RefusedError: lambda _, error: answer(422, str(error)),
        LimitError: lambda _, error: answer(error.status, str(error)),
        Exception: broken,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _invalid(problem: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query")) or "The request"
    given = problem.get("input")
    if isinstance(given, bytes):  # of another type
        return "The request is not JSON; expected a JSON object, and Content-Type: application/json"
    if problem["type"] == "string_too_long" and isinstance(given, str):
        name, most = "The text" if place == "source.text" else place, problem["ctx"]["max_length"]
        return f"{name} has {len(given):,} characters; expected at most {most:,}"
    shown = "" if isinstance(given, dict | list) or problem["type"] == "missing" else f" is {given!r:.40}"
    return f"{place}{shown}: {problem['msg']}"
