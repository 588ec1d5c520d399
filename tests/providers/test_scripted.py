"""The scripted server, spoken to by the official clients."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import openai
import pytest

from memwell.testing.scripted import CHAT, DECISIONS, EMBEDDINGS, Reply, ScriptedServer, decisions_reply, vectors


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.url, api_key="test", max_retries=0, timeout=5) as opened:
        yield opened


def ask(client: openai.OpenAI, words: str = "hello") -> str | None:
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": words}])
    return answer.choices[0].message.content


def test_replies_come_in_order_and_requests_are_counted(server: ScriptedServer, client: openai.OpenAI) -> None:
    server.say("one", "二")
    assert [ask(client, "first"), ask(client, "second")] == ["one", "二"]
    assert server.count() == 2
    assert [request.prompt for request in server.received()] == ["first", "second"]
    assert server.received()[0].headers["authorization"] == "Bearer test"


def test_without_a_script_the_answerer_answers(server: ScriptedServer, client: openai.OpenAI) -> None:
    server.answer(CHAT, lambda body: Reply(body["messages"][-1]["content"].upper()))
    server.say("scripted")
    assert [ask(client), ask(client)] == ["scripted", "HELLO"]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=429), openai.RateLimitError),
        (Reply(status=500), openai.InternalServerError),
        (Reply(drop=True), openai.APIConnectionError),
        (Reply("a long answer", cut=20), openai.APIConnectionError),
    ],
)
def test_trouble_reaches_the_client_as_trouble(
    server: ScriptedServer, client: openai.OpenAI, reply: Reply, error: type[Exception]
) -> None:
    server.script(CHAT, reply)
    with pytest.raises(error):
        ask(client)


def test_a_slow_answer_times_out_and_does_not_hold_up_the_end(server: ScriptedServer, client: openai.OpenAI) -> None:
    server.script(CHAT, Reply("late", delay=60))
    with pytest.raises(openai.APITimeoutError):
        ask(client.with_options(timeout=0.2))
    begun = time.monotonic()
    server.__exit__(None, None, None)
    assert time.monotonic() - begun < 30


def test_embeddings_come_in_either_encoding(server: ScriptedServer, client: openai.OpenAI) -> None:
    texts = ["green tea", "tea that is green", "football"]
    first, second, third = (row.embedding for row in client.embeddings.create(model="e", input=texts).data)
    assert np.dot(first, second) > np.dot(first, third)
    plain = client.embeddings.create(model="e", input=texts, encoding_format="float")
    assert np.allclose(plain.data[0].embedding, first, atol=1e-6)
    server.answer(EMBEDDINGS, lambda body: vectors(np.full((1, 3), np.nan), body))
    assert np.isnan(client.embeddings.create(model="e", input="x").data[0].embedding).all()


def test_decisions_are_answered_by_choice(server: ScriptedServer, client: openai.OpenAI) -> None:
    server.answer(DECISIONS, lambda body: decisions_reply(body, lambda question: question["choices"][1]["value"]))
    decision = client.decisions.create(
        model="d",
        input="state",
        questions=[
            {"type": "choice", "name": "q", "instructions": "which?", "choices": [{"value": "a"}, {"value": "b"}]}
        ],
    )
    (answer,) = decision.answers
    assert answer.type == "choice"
    assert (answer.choice, answer.confidence) == ("b", 0.9)
