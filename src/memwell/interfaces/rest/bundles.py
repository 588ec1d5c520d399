"""Bundles over HTTP: a file out, a file in; the table of use cases knows JSON alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from memwell.errors import InputError
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.rest.routes import PROBLEM_RESPONSES
from memwell.interfaces.serving.access import admitted, admitted_to_all
from memwell.interfaces.serving.problems import BUNDLE_TYPE, Json
from memwell.interfaces.usecases.files import Files
from memwell.interfaces.usecases.table import FILE_CASES

_BYTES = {"schema": {"type": "string", "format": "binary"}}
_OBJECT = {"schema": {"type": "object"}}

_GIVEN = {"requestBody": {"required": True, "content": {BUNDLE_TYPE: _BYTES}}}


class Owner(BaseModel):
    """Whose memory a bundle is about."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = Field(None, description="whose memory")
    app_id: str | None = Field(None, description="default 'default'")
    agent_id: str | None = Field(None, description="default 'default'")


class Exported(Owner):
    """What is to be exported."""

    whole_store: bool = Field(False, description="every user, application and agent")
    target: str | None = Field(None, description="leave out what may not be read there")


class Confirmed(Owner):
    """What is to be taken in."""

    hash: str = Field(description="of the plan that is to be done")


Bytes = Annotated[bytes, Body(media_type=BUNDLE_TYPE)]


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
    def export(request: Request, asked: Annotated[Exported, Query()]) -> Response:
        """All that is kept of a user, or of everybody, as a bundle."""
        with _file(memory) as file:
            if asked.whole_store:
                admitted_to_all(request.state.key, FILE_CASES["export_bundle"])
                memory.export_bundle(file, user_id=asked.user_id, whole_store=True, target=asked.target)
            else:
                owner, user = _owned(memory, request, asked)
                owner.export_bundle(file, user_id=user, target=asked.target)
            return Response(file.read_bytes(), media_type=BUNDLE_TYPE)


def _add_import(app: FastAPI, memory: Memory) -> None:
    @app.post(
        "/v1/bundles/plan",
        operation_id="plan_import",
        response_class=Json,
        responses=_answers("application/json", _OBJECT),
        openapi_extra=_GIVEN,
    )
    def plan(request: Request, data: Bytes, asked: Annotated[Owner, Query()]) -> Response:
        """What taking in a bundle would do; nothing is changed."""
        owner, user = _owned(memory, request, asked)
        with _file(memory, data) as file:
            return Json(owner.plan_import(file, user_id=user).to_dict())

    @app.post(
        "/v1/bundles",
        operation_id="apply_import",
        response_class=Json,
        responses=_answers("application/json", _OBJECT),
        openapi_extra=_GIVEN,
    )
    def apply(request: Request, data: Bytes, asked: Annotated[Confirmed, Query()]) -> Response:
        """Take in a bundle exactly as its plan said."""
        owner, user = _owned(memory, request, asked)
        with _file(memory, data) as file:
            return Json(Files(owner).apply_import(str(file), asked.hash, user_id=user).to_dict())


def _owned(memory: Memory, request: Request, asked: Owner) -> tuple[Memory, str | None]:
    """The memory for the application and agent that the key allows, and the user that it means."""
    key = request.state.key
    given = {name: value for name in Owner.model_fields if (value := getattr(asked, name)) is not None}
    admitted_to = admitted(key, FILE_CASES["plan_import"], given)
    if key is not None and (key.apps or key.users) and admitted_to.get("user_id") is None:
        raise InputError("no user is named", remedy="give user_id: the key has bounds", code="no_user")
    owner = memory.scoped(app_id=admitted_to.get("app_id"), agent_id=admitted_to.get("agent_id"))
    return owner, admitted_to.get("user_id")


@contextmanager
def _file(memory: Memory, data: bytes | None = None) -> Iterator[Path]:
    """A file for a moment, beside the store, where its words are at home."""
    with tempfile.TemporaryDirectory(dir=Path(memory.status().location).parent, prefix=".memwell-") as folder:
        file = Path(folder) / "bundle"
        if data is not None:
            file.write_bytes(data)
        yield file
