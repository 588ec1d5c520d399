"""The table of use cases. A method of ``Memory`` with a row here is on every interface; its arguments and words are
read from the method itself, so that nothing is said twice."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, get_args, get_origin, get_type_hints

from memwell.interfaces.python.jobs import Jobs
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.usecases.files import Files

# What a use case is a method of, and how it is had from a memory.
_HOLDERS: Mapping[str, tuple[type, Callable[[Memory], Any]]] = {
    "": (Memory, lambda memory: memory),
    "jobs": (Jobs, lambda memory: memory.jobs),
    "files": (Files, Files),
}


class Right(StrEnum):
    """What an API key allows."""

    READ = "read"
    WRITE = "write"
    GOVERN = "govern"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a use case.

    Attributes:
        hint: its type, as the method declares it.
        default: what it is where omitted; ``inspect.Parameter.empty`` where it must be given.
    """

    name: str
    hint: Any
    default: Any
    description: str

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class UseCase:
    """One thing that Memwell does.

    Attributes:
        name: the method of ``Memory``, or of what ``of`` says.
        of: ``"jobs"`` for what ``Memory.jobs`` does; its name is that method's with ``_jobs`` behind it.
            ``"files"`` for what ``Files`` does.
        right: what an API key must hold for it.
        route: HTTP method and path; a path parameter is named as the argument it stands for.
        returns: name under which a result that is no record of its own stands in an answer.
    """

    name: str
    right: Right
    route: str
    returns: str = ""
    of: str = ""

    @property
    def method(self) -> Callable[..., Any]:
        """The method of ``Memory`` or of what ``of`` says."""
        kind, _ = _HOLDERS[self.of]
        method: Callable[..., Any] = getattr(kind, self.name.removesuffix(f"_{self.of}"))
        return method

    def carry_out(self, memory: Memory, arguments: Mapping[str, Any]) -> Any:
        """Call the method on ``memory``."""
        _, held = _HOLDERS[self.of]
        return self.method(held(memory), **arguments)

    @cached_property
    def arguments(self) -> Mapping[str, Argument]:
        """What can be sent: all arguments but functions, which stay within the process."""
        hints = get_type_hints(self.method)
        words = _argument_words(self.method.__doc__ or "")
        given = inspect.signature(self.method).parameters.values()
        return {
            argument.name: Argument(argument.name, hints[argument.name], argument.default, words.get(argument.name, ""))
            for argument in given
            if argument.name != "self" and not _is_function(hints[argument.name])
        }

    @property
    def result(self) -> Any:
        """Type of what the method returns."""
        return get_type_hints(self.method)["return"]

    @property
    def whole_store(self) -> bool:
        """Whether it is about the store as a whole instead of one scope."""
        return "user_id" not in self.arguments

    @property
    def summary(self) -> str:
        """The first paragraph of the method's documentation."""
        return " ".join((inspect.getdoc(self.method) or "").split("\n\n")[0].split())

    @property
    def request_argument(self) -> str | None:
        """The argument that makes a repeat harmless, if there is one."""
        return next((name for name in ("request_id", "command_id") if name in self.arguments), None)


USE_CASES: Mapping[str, UseCase] = {
    case.name: case
    for case in (
        UseCase("add", Right.WRITE, "POST /v1/memories"),
        UseCase("search", Right.READ, "POST /v1/memories/search"),
        UseCase("list", Right.READ, "GET /v1/memories"),
        UseCase("get", Right.READ, "GET /v1/memories/{memory_id}"),
        UseCase("history", Right.READ, "GET /v1/memories/{memory_id}/history", returns="memories"),
        UseCase("explain", Right.READ, "GET /v1/memories/{memory_id}/explain"),
        UseCase("update", Right.WRITE, "PUT /v1/memories/{memory_id}"),
        UseCase("delete", Right.WRITE, "DELETE /v1/memories/{memory_id}"),
        UseCase("correct", Right.WRITE, "POST /v1/corrections"),
        UseCase("retract", Right.WRITE, "POST /v1/memories/{memory_id}/retract"),
        UseCase("unarchive", Right.WRITE, "POST /v1/memories/{memory_id}/unarchive"),
        UseCase("mute", Right.WRITE, "POST /v1/memories/{memory_id}/mute"),
        UseCase("unmute", Right.WRITE, "POST /v1/memories/{memory_id}/unmute"),
        UseCase("people", Right.READ, "GET /v1/people", returns="people"),
        UseCase("evidence", Right.READ, "GET /v1/evidence"),
        UseCase("observe", Right.WRITE, "POST /v1/evidence"),
        UseCase("permit", Right.GOVERN, "POST /v1/evidence/{evidence_id}/permit"),
        UseCase("withdraw", Right.GOVERN, "DELETE /v1/evidence/{evidence_id}"),
        UseCase("preview_forget", Right.GOVERN, "POST /v1/forget/preview"),
        UseCase("forget", Right.GOVERN, "POST /v1/forget"),
        UseCase("receipt", Right.READ, "GET /v1/commands/{command_id}"),
        UseCase("status", Right.READ, "GET /v1/status"),
        UseCase("check", Right.GOVERN, "POST /v1/store/check", returns="problems"),
        UseCase("resume", Right.GOVERN, "POST /v1/store/resume", returns="formed"),
        UseCase("clean", Right.GOVERN, "POST /v1/store/clean", returns="storage_cleanup"),
        UseCase("rebuild", Right.GOVERN, "POST /v1/store/rebuild"),
        UseCase("list_jobs", Right.GOVERN, "GET /v1/jobs", returns="jobs", of="jobs"),
        UseCase("retry_jobs", Right.GOVERN, "POST /v1/jobs/retry", returns="revived", of="jobs"),
        UseCase("reindex", Right.GOVERN, "POST /v1/store/reindex", returns="embedded"),
    )
}

# Use cases about a file. A caller on this machine names it (RPC, commands); over HTTP its bytes are sent, which takes
# routes of their own. Models are offered none: what they read must not choose files of this machine.
FILE_CASES: Mapping[str, UseCase] = {
    case.name: case
    for case in (
        UseCase("export_bundle", Right.GOVERN, "GET /v1/bundles", returns="bytes", of="files"),
        UseCase("plan_import", Right.GOVERN, "POST /v1/bundles/plan", of="files"),
        UseCase("apply_import", Right.GOVERN, "POST /v1/bundles", of="files"),
    )
}

# What ``Memory`` offers to the process that holds it alone, and why.
LOCAL: Mapping[str, str] = {
    "close": "ends the process's own hold on the file",
    "jobs": "`list_jobs` and `retry_jobs` are its use cases; a server carries jobs out itself",
    "warm": "loads models into this process",
    "try_endpoints": "`memwell doctor` asks where the endpoints are set up",
    "scoped": "the scope is part of every call from outside",
}


def _is_function(hint: Any) -> bool:
    return get_origin(hint) is Callable or any(get_origin(option) is Callable for option in get_args(hint))


def _argument_words(documentation: str) -> dict[str, str]:
    """What the ``Args:`` section of a docstring says of each argument."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(documentation), re.MULTILINE | re.DOTALL)
    words: dict[str, str] = {}
    if section is not None:
        for names, text in re.findall(r"^    ([\w, ]+): (.*(?:\n     +.*)*)", section[1], re.MULTILINE):
            words.update((name.strip(), " ".join(text.split())) for name in names.split(","))
    return words
