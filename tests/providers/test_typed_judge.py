"""Typed questions: what is asked, how it is packed, and which answers are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from threading import Lock
from typing import Any

import pytest
from jevcompat.mock import MockConfig, Running

from memwell.domain.decision import Action, Candidate, Situation
from memwell.domain.evidence import Target
from memwell.domain.memory import Kind, Polarity, Source
from memwell.engine.ports import Comparison, Head
from memwell.errors import DecisionContextError, DecisionContractError, JudgeError
from memwell.providers.chat import ChatModel
from memwell.providers.chat_decisions import ChatDecisions
from memwell.providers.decisions import DecisionAnswer, DecisionProvider, DecisionQuestion
from memwell.providers.endpoint import Endpoint
from memwell.providers.jev import Jev
from memwell.providers.openai_decisions import OpenAIDecisions
from memwell.providers.paid import Paid
from memwell.providers.typed_judge import MAX_QUESTION_CHARS, MAX_REQUEST_CHARS, MULTIPLE, NONE, TypedJudge
from memwell.testing.doubles import START
from memwell.testing.scripted import (
    CHAT,
    DECISIONS,
    SYSTEM_ONE,
    Reply,
    ScriptedServer,
    decisions_reply,
    system_one_reply,
)


def head(content: str, key: str | None = None) -> Head:
    return Head(key or f"mem_{content}", content, Kind.FACT, "user", None, None, Polarity.POSITIVE, START, 0.9)


def comparison(content: str, *known: str | Head, message: str | None = None) -> Comparison:
    said_at = START + timedelta(days=1)
    candidate = Candidate((Source("ev", 0, len(content), said_at),), content, Kind.FACT, said_at)
    heads = tuple(head(item) if isinstance(item, str) else item for item in known)
    return Comparison(candidate, message or content, heads, (Situation.TARGET,) * len(heads))


class Injected:
    """A provider of the caller's own: ``choose`` picks from each question."""

    name = "injected/1"
    target = Target.LOCAL

    def __init__(self, choose: Callable[[DecisionQuestion], str], confidence: float = 0.9) -> None:
        self._choose = choose
        self._confidence = confidence
        self._guard = Lock()
        self.requests: list[tuple[Mapping[str, Any], Sequence[DecisionQuestion]]] = []

    def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Mapping[str, DecisionAnswer]:
        with self._guard:
            self.requests.append((state, questions))
        return {question.id: DecisionAnswer(self._choose(question), self._confidence) for question in questions}


def moved(question: DecisionQuestion) -> str:
    """The first memory is replaced; where there is none, the statement is added."""
    for option in ("m1", "OVERRIDE", "SUPPLEMENT"):
        if option in question.options:
            return option
    return NONE


def test_a_target_is_chosen_first_and_then_the_action() -> None:
    provider = Injected(moved)
    (verdict,) = TypedJudge(provider).judge([comparison("I live in Rome.", "I live in Lyon.", "I like tea.")])
    assert (verdict.action, verdict.targets) == (Action.OVERRIDE, (0,))
    assert verdict.confidence == pytest.approx(0.81)
    (state, (target,)), (_, (action,)) = provider.requests
    assert set(target.options) == {"m1", "m2", NONE, MULTIPLE}
    assert target.options["m1"] == "[L1_FACT/fact 2025-01-01] I live in Lyon."
    assert "HISTORICAL" not in action.options
    assert [record["text"] for record in state["current"]] == ["I live in Lyon.", "I like tea."]


def test_where_nothing_is_known_only_the_action_is_asked() -> None:
    provider = Injected(moved)
    (verdict,) = TypedJudge(provider).judge([comparison("I live in Rome.")])
    assert (verdict.action, verdict.targets) == (Action.SUPPLEMENT, ())
    assert len(provider.requests) == 1


def test_several_memories_together_leave_all_standing() -> None:
    provider = Injected(lambda question: MULTIPLE)
    (verdict,) = TypedJudge(provider).judge([comparison("I live in Rome.", "one", "two")])
    assert (verdict.action, verdict.targets) == (Action.SUPPLEMENT, ())


def test_a_memory_stands_once_in_a_request_whatever_it_is_compared_with() -> None:
    provider = Injected(moved)
    known = [head(f"memory {n}") for n in range(4)]
    TypedJudge(provider).judge([comparison(f"statement {n}", *known) for n in range(12)])
    state, questions = provider.requests[0]
    assert len(state["current"]) == 4
    assert len(questions) == 12
    assert all(set(question.options) >= {"m1", "m2", "m3", "m4"} for question in questions)


def test_long_texts_are_labelled_short_and_shown_whole_once() -> None:
    provider = Injected(moved)
    long = "word " * 200
    TypedJudge(provider).judge([comparison("x", long)])
    state, (question,) = provider.requests[0]
    assert len(question.options["m1"]) < 300
    assert state["current"][0]["text"] == long


def test_requests_are_packed_by_count_and_characters() -> None:
    provider = Injected(moved)
    verdicts = TypedJudge(provider).judge([comparison(f"statement {n}", message="x" * 20_000) for n in range(12)])
    assert len(verdicts) == 12
    assert sorted(len(questions) for _, questions in provider.requests) == [4, 4, 4]
    assert all(len(json.dumps(state)) <= MAX_REQUEST_CHARS for state, _ in provider.requests)
    provider.requests.clear()
    TypedJudge(provider).judge([comparison(f"statement {n}") for n in range(150)])
    assert sorted(len(questions) for _, questions in provider.requests) == [22, 64, 64]


def test_heads_beyond_the_budget_are_left_out_the_least_similar_first() -> None:
    provider = Injected(moved)
    TypedJudge(provider).judge([comparison("x", *(head("y" * 20_000, f"mem_{n}") for n in range(8)))])
    state, _ = provider.requests[0]
    assert [record["id"] for record in state["current"]] == ["m1", "m2"]


def test_three_hundred_heads_are_cut_to_what_may_be_offered() -> None:
    provider = Injected(moved)
    TypedJudge(provider).judge([comparison("x", *(f"memory {n}" for n in range(300)))])
    assert len(provider.requests[0][1][0].options) == 66


def test_material_beyond_the_budget_is_refused() -> None:
    with pytest.raises(DecisionContextError) as refused:
        TypedJudge(Injected(moved)).judge([comparison("x", message="y" * (MAX_QUESTION_CHARS + 1))])
    assert refused.value.code == "material_too_large"


@pytest.mark.parametrize("count", [0, 1, 256, 300])
def test_a_question_has_two_to_255_options(count: int) -> None:
    with pytest.raises(DecisionContextError):
        DecisionQuestion("q", "which?", {str(n): "" for n in range(count)})


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({}, "missing_question"),
        ({"c1": DecisionAnswer("m9", 0.9)}, "choice_not_offered"),
        ({"c1": "m1"}, "wrong_answer_type"),
        ([("c1", "m1")], "wrong_answer_type"),
        ({"c1": DecisionAnswer("m1", 1.5)}, "bad_confidence"),
        ({"c1": DecisionAnswer("m1", float("nan"))}, "bad_confidence"),
        ({"c1": DecisionAnswer("m1", 0.9), "c2": DecisionAnswer("m1", 0.9)}, "unasked_answer"),
    ],
)
def test_an_injected_provider_must_answer_exactly_what_is_asked(answers: Any, code: str) -> None:
    class Wrong(Injected):
        def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Any:
            super().evaluate(state, questions)
            return answers

    provider = Wrong(moved)
    with pytest.raises(DecisionContractError) as refused:
        TypedJudge(provider).judge([comparison("I live in Rome.", "I live in Lyon.")])
    assert refused.value.code == code
    assert len(provider.requests) == 1


def pick(options: Mapping[str, Any] | Sequence[str]) -> str:
    return moved(DecisionQuestion("q", "", dict.fromkeys(options, "")))


def chat_reply(body: Mapping[str, Any]) -> Reply:
    questions = json.loads(body["messages"][1]["content"])["questions"]
    answers = {q["id"]: {"choice": pick(q["options"]), "confidence": 0.9} for q in questions}
    return Reply(json.dumps({"answers": answers}))


def ready(server: ScriptedServer) -> None:
    """Let every endpoint of the server answer as ``moved`` does."""
    server.answer(DECISIONS, lambda body: decisions_reply(body, lambda q: pick([c["value"] for c in q["choices"]])))
    server.answer(SYSTEM_ONE, lambda body: system_one_reply(body, lambda name, q: pick(q["criteria"])))
    server.answer(CHAT, chat_reply)


PATHS = {"jev": SYSTEM_ONE, "decisions": DECISIONS, "chat": CHAT}


def provider_of(kind: str, server: ScriptedServer, paid: Paid, **changes: Any) -> DecisionProvider:
    url = server.root if kind == "jev" else server.url
    endpoint = Endpoint("scripted", url, timeout=5, **{"retries": 0, **changes})
    if kind == "jev":
        return Jev(endpoint, paid)
    return OpenAIDecisions(endpoint, paid) if kind == "decisions" else ChatDecisions(ChatModel(endpoint, paid))


@pytest.mark.parametrize("kind", PATHS)
def test_every_provider_comes_to_the_same_verdict(kind: str, server: ScriptedServer, paid: Paid) -> None:
    ready(server)
    judge = TypedJudge(provider_of(kind, server, paid))
    (verdict,) = judge.judge([comparison("我住在罗马。", "我住在里昂。")])
    assert (verdict.action, verdict.targets, verdict.confidence) == (Action.OVERRIDE, (0,), 0.81)
    assert server.count(PATHS[kind]) == 2


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=429), "endpoint_busy"),
        (Reply(status=529), "endpoint_busy"),
        (Reply(status=502), "endpoint_failed"),
        (Reply(status=401), "endpoint_refused"),
        (Reply(drop=True), "endpoint_unreachable"),
    ],
)
def test_a_troubled_endpoint_is_named(kind: str, reply: Reply, code: str, server: ScriptedServer, paid: Paid) -> None:
    server.script(PATHS[kind], reply)
    with pytest.raises(JudgeError) as failed:
        TypedJudge(provider_of(kind, server, paid)).judge([comparison("a", "b")])
    assert failed.value.code == code


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("status", [429, 502, 503, 504, 529])
def test_busy_endpoints_are_asked_again_within_bounds(
    kind: str, status: int, server: ScriptedServer, paid: Paid
) -> None:
    ready(server)
    busy = Reply(status=status, headers={"Retry-After": "0"})
    server.script(PATHS[kind], busy, busy)
    TypedJudge(provider_of(kind, server, paid, retries=2)).judge([comparison("a")])
    assert server.count(PATHS[kind]) == 3
    server.script(PATHS[kind], busy, busy, busy)
    with pytest.raises(JudgeError):
        TypedJudge(provider_of(kind, server, paid, retries=2)).judge([comparison("b")])
    assert server.count(PATHS[kind]) == 6


def test_a_refusal_is_no_answer(server: ScriptedServer, paid: Paid) -> None:
    body = decisions_reply({"model": "m", "questions": []}, lambda q: "").body or {}
    server.script(DECISIONS, Reply(body={**body, "answers": [{"type": "refusal", "name": "c1"}]}))
    with pytest.raises(JudgeError) as failed:
        TypedJudge(provider_of("decisions", server, paid)).judge([comparison("a")])
    assert failed.value.code == "answer_refused"


def test_a_chat_model_may_answer_once_more(server: ScriptedServer, paid: Paid) -> None:
    server.say('{"answers": {"c1": {"choice": "ERASE", "confidence": 1}}}')
    server.answer(CHAT, chat_reply)
    (verdict,) = TypedJudge(provider_of("chat", server, paid)).judge([comparison("a")])
    assert verdict.action is Action.SUPPLEMENT
    assert server.count() == 2
    server.say("{}", '{"answers": {"c9": {"choice": "SUPPLEMENT"}}}')
    with pytest.raises(DecisionContractError):
        TypedJudge(provider_of("chat", server, paid)).judge([comparison("b")])


def test_jev_is_spoken_to_as_the_conformance_suite_wants(paid: Paid) -> None:
    with Running(MockConfig(key="k", busy_every=2)) as mock:
        judge = TypedJudge(Jev(Endpoint("jev-latest", mock.url, "k", timeout=5), paid))
        verdicts = judge.judge([comparison(f"statement {n}", "one", "two") for n in range(70)])
    assert len(verdicts) == 70
    assert all(0 <= verdict.confidence <= 1 for verdict in verdicts)


@pytest.mark.parametrize(
    "fault",
    [
        "first-question-only",
        "extra-answer",
        "nan",
        "boolean-type",
        "choice-no-confidence",
        "choice-key-case",
        "no-usage",
        "xssi-200",
        "validation-400",
        "wrong-route",
        "reject-jev-latest",
    ],
)
def test_a_server_that_breaks_the_protocol_decides_nothing_wrong(fault: str, paid: Paid) -> None:
    """It is refused, or what is wrong with it does not matter; nothing else may come of it."""
    with Running(MockConfig(faults=frozenset({fault}))) as mock:
        judge = TypedJudge(Jev(Endpoint("jev-latest", mock.url, timeout=5, retries=0), paid))
        try:
            verdicts = judge.judge([comparison("a", "b", "c"), comparison("d", "e")])
        except (DecisionContractError, JudgeError):
            assert fault not in ("nan", "validation-400")
        else:
            assert fault in ("nan", "validation-400", "boolean-type", "no-usage")
            assert len(verdicts) == 2
