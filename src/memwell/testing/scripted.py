"""A server on 127.0.0.1 that speaks the wire protocols of model endpoints and answers as a script says.

It serves what OpenAI-compatible servers serve (``/v1/chat/completions``, ``/v1/embeddings``, ``/v1/decisions``) and
Jev's ``/v1/systemone``, so that the official clients can be tested with every trouble that an endpoint may make:
slow, cut, refused, wrong, busy, broken, or gone in the middle of an answer.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import numpy as np

from memwell.testing.doubles import HashEmbedder

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
DECISIONS = "/v1/decisions"
SYSTEM_ONE = "/v1/systemone"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """How one request is answered.

    Attributes:
        text: what a chat model says; other mappings are sent as they are.
        finish: ``"stop"``, or ``"length"`` for an answer that was cut off.
        reasoning: what the model thought, in a field of its own.
        refusal: why the model declines to answer.
        body: the whole JSON body, in place of one made from the above.
        status: HTTP status; from 400 on an error body is sent.
        delay: seconds to wait before answering; ends early when the server is closed.
        drop: close the connection without an answer.
        cut: send only this many bytes of the body, then close the connection.
    """

    text: str = ""
    finish: str = "stop"
    reasoning: str | None = None
    refusal: str | None = None
    body: Body | None = None
    status: int = 200
    delay: float = 0.0
    drop: bool = False
    cut: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Answerer = Callable[[Body], Reply]


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    path: str
    body: Body
    headers: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """All words put to a chat model."""
        return "\n".join(str(message.get("content", "")) for message in self.body.get("messages", ()))


def embedded(body: Body, dimensions: int = 32) -> Reply:
    """Vectors as ``HashEmbedder`` makes them: texts with common terms lie near each other."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = HashEmbedder(dimensions).passages(texts)
    return vectors(rows, body)


def vectors(rows: np.ndarray[Any, Any], body: Body) -> Reply:
    """An answer with ``rows`` as they are, in the encoding that was asked for."""
    encoded = body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if encoded else row.tolist(),
        }
        for index, row in enumerate(np.asarray(rows))
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    return Reply(body={"object": "list", "model": body["model"], "data": data, "usage": usage})


class ScriptedServer:
    """Answers each request with the next scripted reply of its path, or else as the path's answerer says.

    Use as a context manager. ``url`` is the base URL of the OpenAI-compatible part, ``root`` that of the server.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._received: list[Received] = []
        self._script: dict[str, deque[Reply]] = {}
        self._answerers: dict[str, Answerer] = {EMBEDDINGS: embedded}
        handler = type("Handler", (_Handler,), {"scripted": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, path: str, *replies: Reply) -> None:
        """Answer the next requests to ``path`` with ``replies``, in order."""
        with self._guard:
            self._script.setdefault(path, deque()).extend(replies)

    def answer(self, path: str, answerer: Answerer) -> None:
        """Answer requests to ``path`` that no script is left for with what ``answerer`` makes of their body."""
        with self._guard:
            self._answerers[path] = answerer

    def say(self, *texts: str) -> None:
        """Let the chat model say ``texts`` next."""
        self.script(CHAT, *(Reply(text) for text in texts))

    def received(self, path: str = CHAT) -> Sequence[Received]:
        """The requests to ``path`` so far, in order of arrival."""
        with self._guard:
            return [request for request in self._received if request.path == path]

    def count(self, path: str = CHAT) -> int:
        """How many requests to ``path`` have arrived."""
        return len(self.received(path))

    def reply_to(self, request: Received) -> Reply:
        """The reply to ``request``, noted as received."""
        with self._guard:
            self._received.append(request)
            waiting = self._script.get(request.path)
            if waiting:
                return waiting.popleft()
            answerer = self._answerers.get(request.path)
        if answerer is None:
            return Reply(status=404)
        return answerer(request.body)

    def pause(self, seconds: float) -> None:
        """Wait, at most until the server is closed."""
        self._closing.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any, **options: Any) -> None:
        """Tests read ``received`` instead."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Received(self.path, json.loads(raw or b"{}"), {k.lower(): v for k, v in self.headers.items()})
        reply = self.scripted.reply_to(request)
        self.scripted.pause(reply.delay)
        self.close_connection = True
        if reply.drop:
            return
        payload = json.dumps(_payload(request, reply), ensure_ascii=False).encode()
        try:
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(payload if reply.cut is None else payload[: reply.cut])
        except ConnectionError:
            return  # the client has gone, which some tests are about


def _payload(request: Received, reply: Reply) -> Body:
    if reply.body is not None:
        return reply.body
    if reply.status >= 400:
        return {"error": {"message": f"scripted {reply.status}", "type": "scripted", "code": None, "param": None}}
    if request.path != CHAT:
        return {}
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    tokens = {"prompt_tokens": len(request.prompt) // 4 + 1, "completion_tokens": len(reply.text) // 4 + 1}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}],
        "usage": {**tokens, "total_tokens": sum(tokens.values())},
    }


def decisions_reply(body: Body, choose: Callable[[Mapping[str, Any]], str], certainty: float = 0.9) -> Reply:
    """An answer of ``/v1/decisions``: each choice question is answered with what ``choose`` picks."""
    answers = []
    for question in body["questions"]:
        options = [choice["value"] for choice in question["choices"]]
        chosen, shares = _shares(options, choose(question), certainty)
        probabilities = [{"value": value, "probability": shares[value]} for value in options]
        answers.append(
            {
                "type": "choice",
                "name": question.get("name"),
                "choice": chosen,
                "confidence": certainty,
                "probabilities": probabilities,
            }
        )
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 11,
    }
    return Reply(body={"model": body["model"], "answers": answers, "usage": usage})


def system_one_reply(body: Body, choose: Callable[[str, Mapping[str, Any]], str], certainty: float = 0.9) -> Reply:
    """An answer of ``/v1/systemone``: each choice question is answered with what ``choose`` picks."""
    answers = {}
    for name, question in body["questions"].items():
        chosen, shares = _shares(list(question["criteria"]), choose(name, question), certainty)
        answers[name] = {"type": "choice", "choice": chosen, "probabilities": shares, "confidence": certainty}
    usage = {"input_tokens": 10, "output_tokens": len(answers)}
    return Reply(body={"model": body["model"], "answers": answers, "usage": usage})


def _shares(options: Sequence[str], chosen: str, certainty: float) -> tuple[str, dict[str, float]]:
    """The chosen option gets ``certainty``, the others share the rest."""
    rest = (1 - certainty) / max(1, len(options) - 1)
    return chosen, {option: certainty if option == chosen else rest for option in options}
