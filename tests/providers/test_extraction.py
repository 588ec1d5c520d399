"""Extraction by a chat model, over the wire, into a store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from memwell import Memory
from memwell.engine.calls import Errand, on_behalf
from memwell.errors import BudgetError, ExtractionError, MemwellError
from memwell.providers.chat import ChatModel
from memwell.providers.endpoint import Endpoint
from memwell.providers.extraction import ChatExtractor
from memwell.providers.paid import Paid
from memwell.storage.memory.spending import MemorySpending
from memwell.testing.doubles import ALICE, FakeClock
from memwell.testing.scripted import CHAT, Reply, ScriptedServer


def item(*parts: str, turn: str = "t1", **more: Any) -> dict[str, Any]:
    return {"turn": turn, "parts": list(parts), "kind": "fact", **more}


def items(*entries: Any, passed: Any = ()) -> str:
    return json.dumps({"items": entries, "passed": list(passed)}, ensure_ascii=False)


def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list().memories)


def asked(server: ScriptedServer, number: int = -1) -> Mapping[str, Any]:
    """The material of a request."""
    found: Mapping[str, Any] = json.loads(server.received()[number].body["messages"][1]["content"])
    return found


def test_chosen_sentences_and_clauses_become_memories_in_the_users_own_words(
    server: ScriptedServer, talk: Memory
) -> None:
    server.say(
        items(
            item("s1", kind="state", attribute="home_city", value="Lyon"),
            item("c2", kind="preference"),
            item("c3", kind="preference", polarity="negative"),
            passed=[{"turn": "t1", "part": "s3", "reason": "question"}],
        )
    )
    result = talk.add("I live in Lyon. I love tea, but I hate rain. And you?")
    assert contents(talk) == ["I live in Lyon.", "I love tea", "but I hate rain."]
    assert [passage.reason for passage in result.passed] == ["question"]
    home = next(record for record in talk.list().memories if "Lyon" in record.content)
    assert (home.kind.value, home.attribute, home.value) == ("state", "home_city", "Lyon")
    assert home.formation.extractor == "chat/scripted+extraction-1"
    assert asked(server)["turns"][0]["sentences"]["s1"] == "I live in Lyon."


def test_chinese_is_asked_about_in_chinese(server: ScriptedServer, talk: Memory) -> None:
    server.say(items(item("s1", kind="state"), item("s2", kind="preference")))
    talk.add("我住在上海。我喜欢喝绿茶。")
    assert contents(talk) == ["我住在上海。", "我喜欢喝绿茶。"]
    assert "值得记住" in server.received()[0].body["messages"][0]["content"]


def test_one_bad_item_of_three_is_reported_and_the_others_are_stored(server: ScriptedServer, talk: Memory) -> None:
    server.say(items(item("s1"), item("s2", kind="rumour"), item("s3")))
    result = talk.add("I live in Lyon. I have a dog. I play chess.")
    assert contents(talk) == ["I live in Lyon.", "I play chess."]
    assert [(p.text, p.reason) for p in result.passed] == [("I have a dog.", "rejected: kind is not as described")]
    assert server.count() == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (item("s9"), "out of range"),
        (item("s0"), "out of range"),
        (item("s1", "s3"), "not adjacent"),
        (item("s1", "c1"), "no ids"),
        (item("x"), "no ids"),
        (item(), "parts"),
        (item("c1", "c1"), "overlap"),
        (item("s1", turn="t7"), None),
        ({**item("s1"), "turn": 3}, None),
        (item("s1", confidence=2), "confidence"),
        (item("s2", confirms="b1"), "confirms"),
        ("s1", None),
        (None, None),
        ([], None),
    ],
)
def test_an_unusable_item_costs_only_itself(
    server: ScriptedServer, talk: Memory, bad: object, reason: str | None
) -> None:
    server.say(items(item("s1"), bad))
    result = talk.add("I live in Lyon. I have a dog. I play chess.")
    assert contents(talk) == ["I live in Lyon."]
    rejected = [p.reason for p in result.passed if p.reason.startswith("rejected: ")]
    assert len(rejected) == (reason is not None)
    assert all(reason in found for found in rejected if reason)


def test_what_the_words_do_not_hold_is_left_out(server: ScriptedServer, talk: Memory) -> None:
    invented = item("s1", attribute="Home City!", value="Paris", time_phrase="last week", valid_until="soon")
    server.say(items(invented))
    talk.add("I live in Lyon.")
    (record,) = talk.list().memories
    assert (record.attribute, record.value, record.time_expression) == (None, None, None)
    assert record.valid_until is None


def test_a_limited_period_counts_whole_days(server: ScriptedServer, talk: Memory) -> None:
    server.say(items(item("s1", valid_from="2026-01-02", valid_until="2026-01-09", time_phrase="until Friday")))
    talk.add("I stay in Rome until Friday.")
    (record,) = talk.list().memories
    assert record.valid_from == datetime(2026, 1, 2, tzinfo=UTC)
    assert record.valid_until == datetime(2026, 1, 10, tzinfo=UTC)
    assert record.time_expression == "until Friday"


PROPOSAL = {"role": "assistant", "content": "Noted. So you work as a nurse in Graz?"}


@pytest.mark.parametrize(
    ("reply", "formed"), [("Yes, exactly.", True), ("No, not that.", False), ("对，没错！", False)]
)
def test_a_short_yes_confirms_what_the_assistant_proposed(
    server: ScriptedServer, talk: Memory, reply: str, formed: bool
) -> None:
    server.script(CHAT, Reply(items(item("s1", confirms="b2"))), Reply(items()))
    talk.add([PROPOSAL, {"role": "user", "content": reply}])
    records = talk.list().memories
    assert [record.content for record in records] == (["So you work as a nurse in Graz?"] if formed else [])
    if formed:
        assert records[0].formed_by.value == "confirmed"
        assert [quote.text for quote in talk.explain(records[0].id).quotes] == [reply]


def test_a_long_reply_confirms_nothing(server: ScriptedServer, talk: Memory) -> None:
    server.script(CHAT, Reply(items(item("s1", confirms="b2"))), Reply(items()))
    talk.add([PROPOSAL, {"role": "user", "content": "Yes, and tomorrow I will tell you much more about all of that."}])
    assert contents(talk) == []


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ("Sorry, here is prose.", "it is not JSON"),
        ('{"memories": []}', 'no list "items"'),
        (items(item("s7")), "no item is usable"),
        (items(), "chooses nothing"),
    ],
)
def test_exactly_one_rewrite_is_asked(server: ScriptedServer, talk: Memory, first: str, problem: str) -> None:
    server.say(first, items(item("s1")))
    talk.add("I live in Lyon.")
    assert contents(talk) == ["I live in Lyon."]
    assert server.count() == 2
    assert problem in server.received()[1].body["messages"][-1]["content"]
    assert server.received()[1].body["messages"][-2]["content"] == first


def test_nothing_said_twice_is_nothing(server: ScriptedServer, talk: Memory) -> None:
    server.say(items(), items())
    assert talk.add("I live in Lyon.").status == "raw_only"
    assert server.count() == 2


def test_nothing_about_small_talk_is_believed_at_once(server: ScriptedServer, talk: Memory) -> None:
    server.say(items())
    assert talk.add("Good morning! How are you?").status == "raw_only"
    assert server.count() == 1


def test_thoughts_are_never_used(server: ScriptedServer, talk: Memory) -> None:
    thought = items(item("s2"))
    server.script(CHAT, Reply(f"<think>{thought}</think>{items(item('s1'))}", reasoning=thought))
    talk.add("I live in Lyon. I have a dog.")
    assert contents(talk) == ["I live in Lyon."]


TROUBLES = [
    (Reply(status=500), "endpoint_failed"),
    (Reply(status=429), "endpoint_busy"),
    (Reply(status=529), "endpoint_busy"),
    (Reply(status=401), "endpoint_refused"),
    (Reply(drop=True), "endpoint_unreachable"),
    (Reply("a long answer", cut=20), "endpoint_unreachable"),
    (Reply(body={"choices": []}), "endpoint_failed"),
    (Reply(body={"hello": "world"}), "endpoint_failed"),
    (Reply('{"items": [', finish="length"), "answer_cut"),
    (Reply(""), "empty_response"),
    (Reply("", reasoning="I live in Lyon."), "empty_response"),
    (Reply("", refusal="I would rather not."), "answer_refused"),
]


@pytest.mark.parametrize(("reply", "code"), TROUBLES)
def test_trouble_keeps_the_evidence_and_a_repeat_succeeds(
    server: ScriptedServer, talk: Memory, reply: Reply, code: str
) -> None:
    server.script(CHAT, reply)
    server.answer(CHAT, lambda body: Reply(items(item("s1"))))
    with pytest.raises(ExtractionError) as failed:
        talk.add("I live in Lyon.", request_id="r1")
    assert failed.value.code == code
    assert talk.status().figures["evidence"] == 1
    assert contents(talk) == []
    result = talk.add("I live in Lyon.", request_id="r1")
    assert result.status == "committed"
    assert contents(talk) == ["I live in Lyon."]
    assert talk.status().figures["evidence"] == 1
    assert talk.add("I live in Lyon.", request_id="r1").replayed


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        (("no", "still no"), "json_parse_failed"),
        (("{}", '{"oops": 1}'), "wrong_schema"),
        (("[1]", "[2]"), "wrong_schema"),
    ],
)
def test_two_unusable_answers_store_nothing(
    server: ScriptedServer, talk: Memory, answers: tuple[str, ...], code: str
) -> None:
    server.say(*answers)
    with pytest.raises(ExtractionError) as failed:
        talk.add("I live in Lyon.")
    assert failed.value.code == code
    assert server.count() == 2
    assert contents(talk) == []


def test_a_slow_endpoint_is_left_in_time(server: ScriptedServer, talk: Memory, chat: ChatModel) -> None:
    object.__setattr__(chat.endpoint, "timeout", 0.2)
    server.script(CHAT, Reply("late", delay=30))
    with pytest.raises(ExtractionError) as failed:
        talk.add("I live in Lyon.")
    assert failed.value.code == "endpoint_timeout"


def test_nothing_runs_there(talk: Memory, chat: ChatModel) -> None:
    object.__setattr__(chat.endpoint, "url", "http://127.0.0.1:9/v1")
    with pytest.raises(ExtractionError) as failed:
        talk.add("I live in Lyon.")
    assert failed.value.code == "endpoint_unreachable"


def test_a_busy_endpoint_is_asked_again_within_bounds(server: ScriptedServer, talk: Memory, chat: ChatModel) -> None:
    object.__setattr__(chat.endpoint, "retries", 2)
    at_once = {"Retry-After": "0"}
    server.script(
        CHAT, Reply(status=429, headers=at_once), Reply(status=503, headers=at_once), Reply(items(item("s1")))
    )
    talk.add("I live in Lyon.")
    assert contents(talk) == ["I live in Lyon."]
    assert server.count() == 3


def test_many_messages_are_asked_about_in_few_requests(server: ScriptedServer, talk: Memory) -> None:
    def choose_all(body: Mapping[str, Any]) -> Reply:
        turns = json.loads(body["messages"][1]["content"])["turns"]
        return Reply(items(*(item("s1", turn=turn["turn"]) for turn in turns)))

    server.answer(CHAT, choose_all)
    talk.add([{"role": "user", "content": f"My friend number {n} is called Name{n}."} for n in range(30)])
    assert server.count() == 3
    assert len(talk.list(limit=100).memories) == 30


def test_what_must_stay_here_is_not_sent_to_a_cloud(server: ScriptedServer, paid: Paid, talk: Memory) -> None:
    assert Endpoint("m", "https://example.org/v1").target == "cloud"
    assert Endpoint("m").target == "cloud"
    assert Endpoint("m", "http://localhost:1/v1").target == "local"
    talk.add([{"role": "observed", "content": "The door camera saw a parcel."}])
    assert server.count() == 0
    assert contents(talk) == ["The door camera saw a parcel."]


def test_a_missing_key_is_named(paid: Paid, extractor: ChatExtractor) -> None:
    with pytest.raises(MemwellError, match="no key"):
        ChatModel(Endpoint("m"), paid).ask("extraction", [{"role": "user", "content": "x"}], ExtractionError)


def test_a_key_is_never_shown() -> None:
    assert "sk-secret" not in repr(Endpoint("m", key="sk-secret"))


def test_an_errand_never_pays_twice_for_an_answer_it_has(
    server: ScriptedServer, chat: ChatModel, spending: MemorySpending
) -> None:
    server.answer(CHAT, lambda body: Reply("same"))
    with on_behalf(Errand(ALICE)):
        said = [chat.ask("extraction", [{"role": "user", "content": "x"}], ExtractionError) for _ in range(3)]
    assert said == ["same"] * 3
    assert server.count() == 1
    assert spending.totals()["scripted"]["calls"] == 1


def test_a_spent_budget_stops_calls_until_the_next_day(
    server: ScriptedServer, endpoint: Endpoint, spending: MemorySpending, clock: FakeClock
) -> None:
    chat = ChatModel(endpoint, Paid(spending, clock, tokens_per_day=1_200))
    server.answer(CHAT, lambda body: Reply("word " * 1_600))

    def ask(words: str) -> str:
        with on_behalf(Errand(ALICE)):
            return chat.ask("extraction", [{"role": "user", "content": words}], ExtractionError)

    assert ask("one")
    with pytest.raises(BudgetError) as refused:
        ask("two")
    assert refused.value.code == "budget_exhausted"
    assert server.count() == 1
    clock.set(datetime(2026, 1, 2, tzinfo=UTC))
    assert ask("three")
