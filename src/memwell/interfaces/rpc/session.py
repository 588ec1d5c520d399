"""One host's session: requests in, answers out, one after the other, on one scope."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, BinaryIO

from memwell import __version__
from memwell.errors import InputError, MemwellError
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.rpc.envelope import (
    MAX_LINE_BYTES,
    Envelope,
    done,
    read_envelope,
    refused,
    request_id_of,
    to_line,
)
from memwell.interfaces.rpc.replay import Replays
from memwell.interfaces.serving.logs import NAME
from memwell.interfaces.usecases.arguments import SCOPE, arguments_model, checked_arguments
from memwell.interfaces.usecases.table import FILE_CASES, USE_CASES, Right
from memwell.interfaces.usecases.wire import to_wire

LOG = logging.getLogger(NAME)
PROTOCOL = 1
_CASES = {**USE_CASES, **FILE_CASES}
_INTERNAL = {
    "code": "internal",
    "message": "Memwell failed",
    "remedy": "see its log, and report it as a fault of Memwell",
}


class Session:
    """Carries out requests on ``memory``, which was opened for the session's scope.

    Changes are remembered by request id: the same request again is answered from what was kept, without its words,
    and nothing is done twice.

    Args:
        user: of that scope; a bundle that is taken in becomes theirs.
    """

    def __init__(self, memory: Memory, user: str) -> None:
        self._memory = memory
        self._user = user
        self._replays = Replays()

    def run(self, requests: BinaryIO, answers: BinaryIO) -> None:
        """Answer each line of ``requests`` until they end."""
        while line := requests.readline(MAX_LINE_BYTES + 1):
            whole = line.endswith(b"\n")
            while not whole and len(line) > MAX_LINE_BYTES:  # pass over the rest of a line that is too long
                rest = requests.readline(MAX_LINE_BYTES)
                whole = not rest or rest.endswith(b"\n")
            if line.strip():
                answers.write(to_line(self.answer(line)))
                answers.flush()

    def answer(self, line: bytes) -> Mapping[str, Any]:
        """The answer to the request on ``line``."""
        try:
            envelope = read_envelope(line)
            return self._carried_out(envelope)
        except MemwellError as error:
            return refused(request_id_of(line), error.to_dict())
        except Exception:
            LOG.exception("request failed")
            return refused(request_id_of(line), _INTERNAL)

    def _carried_out(self, envelope: Envelope) -> Mapping[str, Any]:
        if envelope.method == "capabilities":
            return done(envelope.id, _capabilities(), replayed=False)
        case = _CASES.get(envelope.method)
        if case is None:
            raise InputError(
                f"there is no method {envelope.method[:40]!r}",
                remedy="ask for the capabilities",
                code="unknown_method",
            )
        changes = case.right is not Right.READ
        if changes and (known := self._replays.answer(envelope)) is not None:
            return done(envelope.id, known, replayed=True)
        for name in SCOPE:
            if name in envelope.params:
                raise InputError(f"{name} is set for the whole session", remedy="leave it out", code="unknown_argument")
        arguments = checked_arguments(case, envelope.params)
        if case.name in FILE_CASES:
            arguments["user_id"] = self._user
        result = to_wire(case, case.carry_out(self._memory, arguments))
        if changes:
            self._replays.keep(envelope, result)
        return done(envelope.id, result, replayed=False)


def _capabilities() -> dict[str, Any]:
    return {
        "protocol": PROTOCOL,
        "version": __version__,
        "max_line_bytes": MAX_LINE_BYTES,
        "methods": {
            case.name: {
                "right": case.right,
                "summary": case.summary,
                "params": arguments_model(case).model_json_schema(),
            }
            for case in _CASES.values()
        },
    }
