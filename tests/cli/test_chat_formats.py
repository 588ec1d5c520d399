"""Chat files to messages, and what a bad file says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.errors import InputError
from memwell.interfaces.importing.formats import Format, parse, sniff
from memwell.interfaces.importing.items import Item, Message, Problem
from memwell.interfaces.importing.reading import read_text
from memwell.interfaces.importing.roles import settle_roles


def messages(text: str, form: Format = Format.AUTO) -> list[Message]:
    items = list(parse(text, form, source="chat"))
    assert all(isinstance(item, Message) for item in items), items
    return [item for item in items if isinstance(item, Message)]


def problems(text: str, form: Format = Format.AUTO) -> list[Problem]:
    return [item for item in parse(text, form, source="chat") if isinstance(item, Problem)]


def words(items: list[Message]) -> list[tuple[str | None, object]]:
    return [(item.role, item.content) for item in items]


HELLO = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    "document",
    [
        HELLO,
        {"messages": HELLO},
        [{"messages": HELLO}],
        [HELLO],
        {"conversations": [{"id": "c1", "messages": HELLO}]},
        {
            "title": "x",
            "turns": [{"role": "user", "text": "你好"}, {"role": "assistant", "text": "Hi"}],
            "questions": [],
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_every_shape_of_json_gives_the_same_messages(document: object, indent: int | None) -> None:
    found = messages(json.dumps(document, indent=indent))
    assert words(found) == [("user", "你好"), ("assistant", "Hi")]
    assert len({item.session for item in found}) == 1


def test_messages_know_the_line_they_begin_on() -> None:
    found = messages(json.dumps({"id": "s9", "messages": HELLO}, indent=1))
    assert [(item.line, item.session) for item in found] == [(4, "s9"), (8, "s9")]


def test_conversations_without_an_id_stay_apart() -> None:
    found = messages(json.dumps([{"messages": HELLO[:1]}, {"messages": HELLO[1:]}, {"id": 7, "messages": HELLO[:1]}]))
    assert [item.session for item in found] == ["chat-1", "chat-2", "7"]


def test_the_plain_benchmark_shape_keeps_sessions_speakers_and_times() -> None:
    turn = {
        "id": "D1:1",
        "session": "s1",
        "speaker": "Ann",
        "role": "user",
        "at": "2024-05-08T13:56:00Z",
        "text": "Hey",
    }
    (found,) = messages(json.dumps({"id": "doc", "turns": [turn]}))
    assert (found.id, found.session, found.speaker, found.role, found.content) == ("D1:1", "s1", "Ann", "user", "Hey")
    assert found.at == "2024-05-08T13:56:00+00:00"


def test_a_null_time_is_no_time() -> None:
    (found,) = messages(json.dumps([{"role": "user", "text": "Hey", "at": None}]))
    assert found.at is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_700_000_000, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000_000, "2023-11-14T22:13:20+00:00"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500000+00:00"),
        ("2024-01-01T23:30:00-08:00", "2024-01-01T23:30:00-08:00"),
    ],
)
def test_times_are_seconds_milliseconds_or_iso(value: object, expected: str) -> None:
    (found,) = messages(json.dumps([{"role": "user", "content": "x", "create_time": value}]))
    assert found.at == expected


@pytest.mark.parametrize("value", ["yesterday", "2024-01-01T10:00:00", True, 1e300, [1]])
def test_an_unusable_time_is_a_problem_that_names_it(value: object) -> None:
    (problem,) = problems(json.dumps([{"role": "user", "content": "x", "at": value}]))
    assert "the time" in problem.reason


def test_a_zone_given_for_the_file_completes_its_times() -> None:
    text = json.dumps([{"role": "user", "content": "x", "at": "2024-07-01T10:00:00"}])
    (found,) = parse(text, Format.AUTO, source="chat", zone=ZoneInfo("Europe/Paris"))
    assert isinstance(found, Message)
    assert found.at == "2024-07-01T10:00:00+02:00"


def test_json_lines_report_a_bad_line_and_go_on() -> None:
    lines = [json.dumps(HELLO[0]), "{broken", "", json.dumps({"messages": HELLO}), '{"role": "user"}', "[1]"]
    items = list(parse("\n".join(lines), Format.AUTO, source="chat"))
    assert [(type(item).__name__, item.line) for item in items] == [
        ("Message", 1),
        ("Problem", 2),
        ("Message", 4),
        ("Message", 4),
        ("Problem", 5),
        ("Problem", 6),
    ]


def test_a_broken_document_says_where_and_keeps_what_stood_before() -> None:
    text = json.dumps(HELLO, indent=0)[:-2] + ",\n{'role': 1}]"
    items = list(parse(text, Format.AUTO, source="chat"))
    assert [type(item) for item in items] == [Message, Message, Problem]
    assert items[-1].line == text.count("\n") + 1


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 200_000, '[{"role": "user", "content": "x"}] tail', "[1, 2]"]
)
def test_odd_json_is_a_problem_and_no_crash(text: str) -> None:
    assert problems(text, Format.JSON)


def test_a_transcript_has_speakers_and_lines_that_go_on() -> None:
    text = "Ann: I moved to Oslo.\nIt rains: a lot\n\nBob： 你好\nsee https://example.org\nAnn: Bye"
    found = messages(text)
    assert [(item.line, item.speaker) for item in found] == [(1, "Ann"), (2, "It rains"), (4, "Bob"), (6, "Ann")]
    assert found[2].content == "你好\nsee https://example.org"


def test_other_text_is_one_message_a_paragraph() -> None:
    found = messages("I moved to Oslo.\nIt is cold.\n\n\n我住在上海。\n")
    assert [(item.line, *pair) for item, pair in zip(found, words(found), strict=True)] == [
        (1, "user", "I moved to Oslo.\nIt is cold."),
        (5, "user", "我住在上海。"),
    ]


def test_a_bracket_alone_does_not_make_a_text_json() -> None:
    assert sniff("[12:01] hello there") is Format.TEXT
    assert sniff("{smile} hello") is Format.TEXT


@given(st.text(max_size=200), st.sampled_from(Format))
def test_any_text_parses_without_a_crash(text: str, form: Format) -> None:
    for item in parse(text, form, source="chat"):
        assert 1 <= item.line <= text.count("\n") + len(text.splitlines()) + 1


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=8))
def test_nothing_of_a_json_lines_file_is_lost(contents: list[str]) -> None:
    text = "\n".join(json.dumps({"role": "user", "content": content}, ensure_ascii=False) for content in contents)
    assert [item.content for item in messages(text, Format.JSONL)] == contents


def roles(items: list[Item], me: str) -> list[tuple[str | None, str | None]]:
    return [(item.role, item.speaker) for item in settle_roles(items, me=me) if isinstance(item, Message)]


def test_the_user_is_the_speaker_of_that_name_and_others_are_context() -> None:
    items = list(parse("Ann: hi\nBob: hello\nAI: hey", Format.TEXT, source="chat"))
    assert roles(items, "ann") == [("user", "Ann"), ("assistant", "Bob"), ("assistant", None)]


def test_role_words_of_exports_are_understood() -> None:
    items = list(parse("用户：你好\n助手：好", Format.TEXT, source="chat"))
    assert roles(items, "alice") == [("user", None), ("assistant", None)]


def test_a_chat_of_people_without_the_user_is_refused() -> None:
    items = list(parse("Ann: hi\nBob: hello", Format.TEXT, source="chat"))
    with pytest.raises(InputError, match=r"'carol'.*Ann, Bob.*--me"):
        settle_roles(items, me="carol")


def test_a_stated_role_counts_more_than_a_name() -> None:
    items = list(parse(json.dumps([{"role": "user", "speaker": "Bob", "text": "x"}]), Format.AUTO, source="chat"))
    assert roles(items, "ann") == [("user", "Bob")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_are_read_in_their_encoding(tmp_path: Path, encoding: str, packed: bool) -> None:
    data = "我: 你好".encode(encoding)
    file = tmp_path / "chat.txt"
    file.write_bytes(gzip.compress(data) if packed else data)
    assert read_text(file) == "我: 你好"


@pytest.mark.parametrize("data", [b"ok\n\xff\xfe\xfa", b"\x1f\x8bnot gzip", b"\x1f\x8b\x08" + b"\0" * 20])
def test_an_unreadable_file_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "chat.txt"
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"chat\.txt"):
        read_text(file)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            read_text(path)
