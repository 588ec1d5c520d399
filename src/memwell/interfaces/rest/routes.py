"""One route for each row of the table of use cases."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from memwell.domain.memory import MemoryRecord
from memwell.errors import InputError, MemwellError, PreconditionError
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.serving.access import admitted
from memwell.interfaces.serving.problems import SCHEMA, Json
from memwell.interfaces.usecases.arguments import arguments_model, zoned
from memwell.interfaces.usecases.table import USE_CASES, UseCase
from memwell.interfaces.usecases.wire import to_wire

_ETAG = re.compile(r'"([0-9]{1,18})"')
_PROBLEMS = {
    400: "malformed JSON",
    401: "an API key is missing or not valid",
    403: "the key does not reach this",
    404: "there is no such thing here",
    409: "something changed or was said otherwise in the meantime",
    412: "the memory has another revision than If-Match names",
    413: "the body is too large",
    415: "the body is not JSON",
    422: "an argument is unusable",
    429: "too many requests",
    503: "busy; come again",
}
PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": words,
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, words in _PROBLEMS.items()
}
PROBLEM_SCHEMA = SCHEMA


def add_routes(app: FastAPI, memory: Memory) -> None:
    """Serve every use case on ``memory``."""
    for case in USE_CASES.values():
        verb, path = case.route.split()
        app.add_api_route(
            path,
            _endpoint(case, memory),
            methods=[verb],
            operation_id=case.name,
            summary=case.summary.split(":")[0].split(";")[0].rstrip("."),
            description=case.summary,
            response_class=Json,
            responses={
                **PROBLEM_RESPONSES,
                200: {
                    "description": "done",
                    "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{case.name}_result"}}},
                },
            },
        )


def _endpoint(case: UseCase, memory: Memory) -> Callable[..., Response]:
    def endpoint(request: Request, **parts: Any) -> Response:
        sent: BaseModel | None = parts.pop("sent", None)
        conditions = {name: parts.pop(name) for name in ("if_match", "idempotency_key") if name in parts}
        arguments = {**parts, **(sent.model_dump(exclude_unset=True) if sent else {})}
        arguments = zoned(case, _with_conditions(case, arguments, **conditions))
        arguments = admitted(request.state.key, case, arguments)
        scope = {name: arguments.pop(name, None) for name in ("app_id", "agent_id")}
        try:
            result = case.carry_out(memory.scoped(**scope), arguments)
        except PreconditionError as error:
            raise _stale(error) if conditions.get("if_match") else error from None
        headers = {"ETag": f'"{result.revision}"'} if isinstance(result, MemoryRecord) else {}
        return Json(to_wire(case, result), headers=headers)

    endpoint.__signature__ = _signature(case)  # type: ignore[attr-defined]
    return endpoint


def _signature(case: UseCase) -> inspect.Signature:
    """What FastAPI is to read from a request: path, headers, and query or body."""
    verb, path = case.route.split()
    in_path = re.findall(r"{(\w+)}", path)
    annotations: dict[str, tuple[Any, Any]] = {
        name: (
            Annotated[str, Path(description=f"Id, such as {name.removesuffix('_id')[:3]}_…")],
            inspect.Parameter.empty,
        )
        for name in in_path
    }
    if verb != "GET" and case.request_argument:
        words = f"Makes a repeat give the first result again; the same as `{case.request_argument}`."
        annotations["idempotency_key"] = (
            Annotated[str | None, Header(alias="Idempotency-Key", description=words)],
            None,
        )
    if "expected_revision" in case.arguments:
        words = "Refuse where the memory has changed: its `ETag`. The same as `expected_revision`."
        form = Header(alias="If-Match", description=words, json_schema_extra={"pattern": r'^(\*|"[0-9]+")$'})
        annotations["if_match"] = (Annotated[str | None, form], None)
    in_url = verb in ("GET", "DELETE")
    model = arguments_model(case, strict=not in_url, leave_out=frozenset(in_path))
    if model.model_fields:
        place = Query() if in_url else Body()
        needed = any(field.is_required() for field in model.model_fields.values())
        annotations["sent"] = (Annotated[model, place], inspect.Parameter.empty if needed or in_url else None)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
        for name, (hint, default) in annotations.items()
    ]
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    return inspect.Signature([request, *parameters], return_annotation=Response)


def _with_conditions(
    case: UseCase, arguments: dict[str, Any], *, if_match: str | None = None, idempotency_key: str | None = None
) -> dict[str, Any]:
    """``arguments`` with what the headers say."""
    if if_match is not None and if_match != "*":
        tag = _ETAG.fullmatch(if_match)
        if tag is None:
            raise InputError("If-Match is no ETag of this server", remedy='send the ETag as it was given, such as "3"')
        arguments = _with(arguments, "expected_revision", int(tag[1]))
    if idempotency_key is not None:
        arguments = _with(arguments, case.request_argument or "", idempotency_key)
    return arguments


def _with(arguments: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    if arguments.get(name) not in (None, value):
        raise InputError(f"{name} and the header say different things", remedy="send one of them")
    return {**arguments, name: value}


def _stale(error: MemwellError) -> MemwellError:
    return PreconditionError(error.message, remedy=error.remedy, code="stale_revision")
