"""Bundles over HTTP: a file out, a file in; the table of use cases knows JSON alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request
from starlette.responses import Response

from memwell.engine.portable import ImportPlan
from memwell.errors import InputError, StaleImportError
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.rest.routes import PROBLEM_RESPONSES
from memwell.interfaces.serving.access import admitted
from memwell.interfaces.serving.problems import BUNDLE_TYPE, Json
from memwell.interfaces.usecases.table import Right, UseCase

# Whoever takes out or puts in all that is kept of somebody governs; a bundle of all needs a key without bounds.
_ONE = UseCase("plan_import", Right.GOVERN, "POST /v1/bundles/plan")
_ALL = UseCase("apply_import", Right.GOVERN, "POST /v1/bundles")
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_OBJECT = {"schema": {"type": "object"}}

_GIVEN = {"requestBody": {"required": True, "content": {BUNDLE_TYPE: _BYTES}}}

User = Annotated[str | None, Query(description="whose memory")]
Part = Annotated[str | None, Query(description="default 'default'")]


def add_bundles(app: FastAPI, memory: Memory) -> None:
    """Serve bundles of ``memory``."""
    _add_export(app, memory)
    _add_import(app, memory)


def _answers(kind: str, content: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    return {**PROBLEM_RESPONSES, 200: {"description": "done", "content": {kind: content}}}


def _add_export(app: FastAPI, memory: Memory) -> None:
    @app.get(
        "/v1/bundles",
        operation_id="export_bundle",
        response_class=Response,
        responses=_answers(BUNDLE_TYPE, _BYTES),
    )
    def export(
        request: Request,
        user_id: User = None,
        app_id: Part = None,
        agent_id: Part = None,
        whole_store: Annotated[bool, Query(description="every user, application and agent")] = False,
        target: Annotated[str | None, Query(description="leave out what may not be read there")] = None,
    ) -> Response:
        """All that is kept of a user, or of everybody, as a bundle."""
        scope = {"user_id": user_id, "app_id": app_id, "agent_id": agent_id}
        with _file(memory) as file:
            if whole_store:
                admitted(request.state.key, _ALL, {})
                memory.export_bundle(file, user_id=user_id, whole_store=True, target=target)
            else:
                owner, user = _owned(memory, request, scope)
                owner.export_bundle(file, user_id=user, target=target)
            return Response(file.read_bytes(), media_type=BUNDLE_TYPE)


def _add_import(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/v1/bundles/plan",
        operation_id="plan_import",
        response_class=Json,
        responses=_answers("application/json", _OBJECT),
        openapi_extra=_GIVEN,
    )
    def plan(
        request: Request,
        data: Annotated[bytes, Body(media_type=BUNDLE_TYPE)],
        user_id: User = None,
        app_id: Part = None,
        agent_id: Part = None,
    ) -> Response:
        """What taking in a bundle would do; nothing is changed."""
        owner, user = _owned(memory, request, {"user_id": user_id, "app_id": app_id, "agent_id": agent_id})
        with _file(memory) as file:
            file.write_bytes(data)
            return Json(owner.plan_import(file, user_id=user).to_dict())

    @app.post(
        "/v1/bundles",
        operation_id="apply_import",
        response_class=Json,
        responses=_answers("application/json", _OBJECT),
        openapi_extra=_GIVEN,
    )
    def apply(
        request: Request,
        data: Annotated[bytes, Body(media_type=BUNDLE_TYPE)],
        hash: Annotated[str, Query(description="of the plan that is to be done")],  # noqa: A002 - its name on the wire
        user_id: User = None,
        app_id: Part = None,
        agent_id: Part = None,
    ) -> Response:
        """Take in a bundle exactly as its plan said."""
        owner, user = _owned(memory, request, {"user_id": user_id, "app_id": app_id, "agent_id": agent_id})
        with _file(memory) as file:
            file.write_bytes(data)
            planned = owner.plan_import(file, user_id=user)
        if planned.hash != hash and _does_something(planned):  # else it was done, and the answer got lost
            raise StaleImportError("that is the hash of another plan", remedy="plan the import again")
        return Json(owner.apply_import(planned).to_dict())


def _owned(memory: Memory, request: Request, scope: dict[str, str | None]) -> tuple[Memory, str | None]:
    """The memory for the application and agent that the key allows, and the user that it means."""
    key = request.state.key
    given = {name: value for name, value in scope.items() if value is not None}
    admitted_to = admitted(key, _ONE, given)
    if key is not None and (key.apps or key.users) and admitted_to.get("user_id") is None:
        raise InputError("no user is named", remedy="give user_id: the key has bounds", code="no_user")
    owner = memory.scoped(app_id=admitted_to.get("app_id"), agent_id=admitted_to.get("agent_id"))
    return owner, admitted_to.get("user_id")


def _does_something(plan: ImportPlan) -> bool:
    return bool(plan.warnings) or any(plan.counts[what] for what in ("added", "forgotten", "tombstones", "receipts"))


@contextmanager
def _file(memory: Memory) -> Iterator[Path]:
    """A file for a moment, beside the store, where its words are at home."""
    with tempfile.TemporaryDirectory(dir=Path(memory.status().location).parent, prefix=".memwell-") as folder:
        yield Path(folder) / "bundle"
