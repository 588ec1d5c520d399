"""The HTTP application: routes, health, metrics, description."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp

from memwell import __version__
from memwell.errors import InputError, MemwellError, NotFoundError
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.rest.bundles import add_bundles
from memwell.interfaces.rest.routes import PROBLEM_RESPONSES, PROBLEM_SCHEMA, add_routes
from memwell.interfaces.serving.guard import Guard, Limits
from memwell.interfaces.serving.keys import KeyFolder
from memwell.interfaces.serving.metrics import Metrics
from memwell.interfaces.serving.problems import BUNDLE_TYPE, Json, internal, problem
from memwell.interfaces.usecases.arguments import unusable
from memwell.interfaces.usecases.table import FILE_CASES, USE_CASES
from memwell.interfaces.usecases.wire import result_schema

THREADS = 16  # calls carried out at one moment; others wait their turn
_OPEN_PATHS = ("/health", "/health/ready")
# FastAPI's own would tell the words of refused requests and of errors; the guard tells what may be told.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
_DESCRIPTION = """Long-term memory for AI agents: verbatim evidence, versioned memories, recall with provenance.

Every answer that is no success is a problem (RFC 9457) with a stable `code` and a `remedy`. Times are ISO 8601 with
a zone. `GET /v1/memories` gives a `cursor` for the next page. What is another user's is not found."""


def build_app(memory: Memory, keys: KeyFolder, *, limits: Limits | None = None, hosts: Iterable[str] = ()) -> ASGIApp:
    """The whole application in front of ``memory``, which is closed when the server stops.

    Args:
        hosts: names under which this machine may be called besides its loopback addresses.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield
        memory.close()

    app = FastAPI(
        title="Memwell",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    metrics = Metrics(memory)
    add_routes(app, memory)
    add_bundles(app, memory)
    _add_health(app, memory, metrics)
    _add_handlers(app)
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]
    return Guard(
        app,
        keys=keys,
        limits=limits or Limits(),
        meter=metrics,
        hosts=("127.0.0.1", "localhost", "::1", *hosts),
        open_paths=_OPEN_PATHS,
        other_bodies=dict.fromkeys(("/v1/bundles", "/v1/bundles/plan"), BUNDLE_TYPE),
    )


def _add_health(app: FastAPI, memory: Memory, metrics: Metrics) -> None:
    well = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
    answers: dict[int | str, dict[str, Any]] = {
        **{status: answer for status, answer in PROBLEM_RESPONSES.items() if status in (403, 405, 429, 503)},
        200: {"description": "well", "content": {"application/json": {"schema": well}}},
    }

    @app.get("/health", operation_id="health", response_class=Json, responses=answers)
    async def health() -> Response:
        """Whether the server runs."""
        return Json({"status": "ok"})

    @app.get("/health/ready", operation_id="ready", response_class=Json, responses=answers)
    def ready() -> Response:
        """Whether the store answers."""
        memory.scoped(user_id="memwell-health").list(limit=1)
        return Json({"status": "ok"})

    @app.get("/v1/capabilities", operation_id="capabilities", response_class=Json, responses=PROBLEM_RESPONSES)
    async def capabilities() -> Response:
        """What this server can do, and which right each takes."""
        cases = (*USE_CASES.values(), *FILE_CASES.values())
        return Json({"version": __version__, "use_cases": {case.name: case.right for case in cases}})

    @app.get("/metrics", operation_id="metrics", responses=PROBLEM_RESPONSES, include_in_schema=False)
    def figures() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_handlers(app: FastAPI) -> None:
    @app.exception_handler(MemwellError)
    async def refused(_: Request, error: MemwellError) -> Response:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> Response:
        case = USE_CASES.get(request.scope["route"].operation_id)
        # The first part of a place says where in the request it is, which an argument may be called too.
        return problem(unusable([{**fault, "loc": fault["loc"][1:]} for fault in error.errors()], case))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return problem(NotFoundError("there is nothing at this path", remedy="see /openapi.json"))
        if error.status_code != 405:
            return problem(InputError("the request cannot be read", remedy="send JSON", code="malformed_json"))
        allowed = ", ".join(sorted(_methods(app, request)))
        refusal = InputError("that method is not for this path", remedy=f"use {allowed}", code="method_not_allowed")
        return problem(refusal, {"Allow": allowed})

    @app.exception_handler(Exception)
    async def failed(request: Request, _: Exception) -> Response:
        return internal(request.state.request_id)


def _methods(app: FastAPI, request: Request) -> set[str]:
    """The methods of the path that was asked for; one written out counts before one with a parameter."""
    routes = [route for route in app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    written_out = [route for route in matching if "{" not in route.path]
    return {method for route in written_out or matching for method in route.methods or ()}


def _description(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = PROBLEM_SCHEMA
        for case in USE_CASES.values():
            schema = _relocated(result_schema(case))
            schemas.update(schema.pop("$defs", {}))
            schemas[f"{case.name}_result"] = schema
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{}, {"key": []}]
        app.openapi_schema = document
    return app.openapi_schema


def _relocated(schema: Any) -> Any:
    """``schema`` with its references led to the document's components."""
    if isinstance(schema, dict):
        return {
            name: value.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _relocated(value)
            for name, value in schema.items()
        }
    return [_relocated(item) for item in schema] if isinstance(schema, list) else schema
