"""What users of memory engines complain about most, each as a small test."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memwell import Memory
from memwell.domain.memory import State
from memwell.engine.ports import Embedder
from memwell.errors import InputError
from memwell.testing.doubles import FakeClock, HashEmbedder


def test_a_contradiction_keeps_the_new_fact_and_a_repeat_changes_nothing(memory: Memory) -> None:
    memory.add("I live in Paris.", at="2024-01-01T10:00:00Z")
    memory.add("I moved to Berlin.", at="2025-01-01T10:00:00Z")
    memory.add("I moved to Berlin.", at="2025-02-01T10:00:00Z")
    current = [record.content for record in memory.list().memories]
    assert current == ["I moved to Berlin."]
    (berlin,) = memory.list().memories
    assert [record.content for record in memory.history(berlin.id)] == ["I live in Paris.", "I moved to Berlin."]
    then = memory.search("Where do I live?", as_of="2024-06-01T00:00:00Z").memories
    assert then[0].content == "I live in Paris."


def test_trivially_different_repeats_grow_one_source_list(memory: Memory) -> None:
    spellings = [
        "I am left-handed.",
        "I am left-handed.  ",
        "i am LEFT-handed",
        "Ｉ ａｍ left-handed．",
        "I am left-handed!",
    ]
    for i in range(50):
        memory.add(spellings[i % len(spellings)], at=f"2025-01-01T10:{i:02}:00Z")
    (record,) = memory.list(include_history=True).memories
    assert len(record.sources) == 50


def test_no_user_ever_sees_another(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        for user in range(20):
            memory.add(f"My locker code is {user:04}.", user_id=f"u{user}")

        def read(number: int) -> bool:
            user = number % 20
            found = memory.search("What is my locker code?", user_id=f"u{user}", raw_limit=5)
            texts = [item.content for item in (*found.memories, *found.profile)] + [raw.content for raw in found.raw]
            return bool(texts) and all(f"{user:04}" in text for text in texts)

        with ThreadPoolExecutor(20) as pool:
            assert all(pool.map(read, range(1_000)))
        with pytest.raises(InputError, match="user_id"):
            memory.search("What is my locker code?")


def test_chinese_is_found_by_keyword_and_by_meaning(memory: Memory) -> None:
    memory.add("我住在上海，喜欢喝绿茶", at="2025-01-01T10:00:00Z")
    others = [
        "我的车是蓝色的", "我每天早上跑步", "我妹妹在学钢琴", "我不吃辣", "我养了两只猫", "我在银行上班",
        "我的生日在五月", "我喜欢看科幻电影", "我会说一点日语", "我周末去爬山", "我用的是安卓手机",
        "我对花生过敏", "我有一个儿子", "我的办公室在十楼", "我坐地铁通勤", "我弟弟是医生",
        "我在读一本历史书", "我家有个小院子", "我晚上十一点睡觉", "我爱听古典音乐",
    ]  # fmt: skip
    for text in others:
        memory.add(text, at="2025-01-02T10:00:00Z")
    for question in ("绿茶", "我住在哪里", "茶"):
        found = memory.search(question).memories
        assert "绿茶" in found[0].content or "上海" in found[0].content, question


def test_event_time_is_the_speakers_day_whatever_the_process_zone(tmp_path: Path) -> None:
    program = (
        "import sys; from memwell import Memory\n"
        "with Memory(sys.argv[1], user_id='a') as m:\n"
        "    w = m.add('yesterday I ran a marathon', at='2024-01-01T23:30:00-08:00')\n"
        "    print(m.get(w.memory_ids[0]).occurred_at.date())\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / f"{i}.db")],
            env={"TZ": zone, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for i, zone in enumerate(("UTC", "Asia/Shanghai", "America/Los_Angeles"))
    }
    assert seen == {"2023-12-31"}


def test_search_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.add("My flight booking is QX7RPA.", at="2025-01-01T10:00:00Z")
    memory.add("My flight booking is QX7RPB.", at="2025-01-01T11:00:00Z")
    before = [record.to_dict() for record in memory.list(include_history=True).memories]
    digest = hashlib.sha256((tmp_path / "memory.db").read_bytes()).hexdigest()
    for _ in range(100):
        memory.search("Which flight booking codes do I have?", raw_limit=5)
    assert [record.to_dict() for record in memory.list(include_history=True).memories] == before
    assert hashlib.sha256((tmp_path / "memory.db").read_bytes()).hexdigest() == digest
    contents = " ".join(record["content"] for record in before)
    assert "QX7RPA" in contents
    assert "QX7RPB" in contents


def test_two_processes_share_one_store_with_warm_caches(tmp_path: Path, embedder: Embedder) -> None:
    path = tmp_path / "m.db"
    program = "import sys; from memwell import Memory\nwith Memory(sys.argv[1], user_id='a') as m: m.add(sys.argv[2])\n"
    with Memory(path, user_id="a", embedder=embedder) as memory:
        memory.add("I keep bees.")
        for words in ("My boat is called Petrel.", "My tractor is called Agnes."):
            memory.search("boat")
            subprocess.run(
                [sys.executable, "-c", program, str(path), words],
                env={"PYTHONPATH": ":".join(sys.path), "PATH": ""},
                check=True,
            )
            assert memory.search(words.split()[1]).memories[0].content == words


def test_every_memory_is_paged_through_once_newest_first(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", user_id="a", embedder=HashEmbedder()) as memory:
        for start in range(0, 1_000, 250):
            memory.add([{"role": "user", "content": f"My badge {i} is {i * 7919}."} for i in range(start, start + 250)])
        seen: list[str] = []
        cursor = None
        while True:
            page = memory.list(limit=96, cursor=cursor, include_history=True)
            seen += [record.id for record in page.memories]
            cursor = page.cursor
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 1_000
        assert seen == sorted(seen, reverse=True)


def test_tool_output_is_in_no_file(memory: Memory, tmp_path: Path) -> None:
    memory.add(
        [
            {"role": "user", "content": "Print my environment. I work on the billing service."},
            {"role": "assistant", "content": "Sure.", "tool_calls": [{"id": "1", "function": {"name": "env"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "API_KEY=zzq-9f27-SECRET"},
        ]
    )
    assert not any("zzq-9f27" in item.content for item in memory.search("API_KEY", raw_limit=50).raw)
    assert all(b"zzq-9f27" not in file.read_bytes() for file in tmp_path.iterdir())


def test_another_embedding_model_neither_breaks_search_nor_is_compared(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "m.db"
    with Memory(path, user_id="a", embedder=HashEmbedder(64, model="hash-64"), clock=clock) as memory:
        memory.add("I keep bees.")
        memory.add("My boat is called Petrel.")
    with Memory(path, user_id="a", embedder=HashEmbedder(384, model="hash-384"), clock=clock) as memory:
        assert memory.status().indexed == 0.0
        assert memory.search("boat").memories[0].content == "My boat is called Petrel."
        memory.reindex()
        assert memory.status().indexed == 1.0
        assert memory.search("boat").memories[0].content == "My boat is called Petrel."


def test_an_archived_memory_is_in_history_only(memory: Memory) -> None:
    memory.add("I keep bees.")
    (record,) = memory.list().memories
    assert memory.delete(record.id).state is State.ARCHIVED
    assert memory.list().memories == ()
    assert memory.search("bees").memories == ()
    assert [old.state for old in memory.history(record.id)] == [State.ARCHIVED]
