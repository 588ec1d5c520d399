from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memwell import Memory
from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.rules import RuleJudge
from memwell.engine.ports import Turn
from memwell.providers.chat import ChatModel
from memwell.providers.endpoint import Endpoint
from memwell.providers.extraction import ChatExtractor
from memwell.providers.paid import Paid
from memwell.storage.memory.spending import MemorySpending
from memwell.testing.doubles import FakeClock, HashEmbedder
from memwell.testing.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def spending() -> MemorySpending:
    return MemorySpending()


@pytest.fixture
def paid(spending: MemorySpending, clock: FakeClock) -> Paid:
    return Paid(spending, clock)


@pytest.fixture
def endpoint(server: ScriptedServer) -> Endpoint:
    return Endpoint(model="scripted", url=server.url, timeout=5, retries=0)


@pytest.fixture
def chat(endpoint: Endpoint, paid: Paid) -> ChatModel:
    return ChatModel(endpoint, paid)


@pytest.fixture
def extractor(chat: ChatModel) -> ChatExtractor:
    builtin = BuiltinExtractor()

    def is_declarative(turn: Turn) -> bool:
        return any(proposal.confidence >= 0.9 for proposal in builtin.extract([turn], []).proposals)

    return ChatExtractor(chat, builtin, is_declarative)


@pytest.fixture
def talk(tmp_path: Path, extractor: ChatExtractor, clock: FakeClock) -> Iterator[Memory]:
    """A memory whose words are chosen by the scripted chat model."""
    with Memory(
        tmp_path / "talk.db",
        user_id="alice",
        embedder=HashEmbedder(),
        extractor=extractor,
        judge=RuleJudge(),
        clock=clock,
    ) as opened:
        yield opened
