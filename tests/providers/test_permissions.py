"""What may not leave this machine is never sent away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwell import Memory
from memwell.builtin.extractor import BuiltinExtractor
from memwell.domain.evidence import Target
from memwell.providers.chat import ChatModel
from memwell.providers.embedding import EndpointEmbedder
from memwell.providers.endpoint import Endpoint
from memwell.providers.extraction import ChatExtractor
from memwell.providers.paid import Paid
from memwell.providers.typed_judge import TypedJudge
from memwell.testing.doubles import FakeClock, HashEmbedder
from memwell.testing.scripted import CHAT, EMBEDDINGS, ScriptedServer
from tests.providers.test_jobs import choose_all
from tests.providers.test_typed_judge import Injected, moved

PRIVATE = "The door camera saw a parcel from Graz."


class Away(Endpoint):
    """An endpoint on this machine that counts as elsewhere."""

    @property
    def target(self) -> Target:
        return Target.CLOUD


def sent(server: ScriptedServer, provider: Injected) -> str:
    """Everything that left the machine."""
    bodies = [request.body for path in (CHAT, EMBEDDINGS) for request in server.received(path)]
    states: list[Mapping[str, Any]] = [state for state, _ in provider.requests]
    return json.dumps([*bodies, *states], ensure_ascii=False)


def test_observed_material_stays_here(tmp_path: Path, server: ScriptedServer, paid: Paid, clock: FakeClock) -> None:
    server.answer(CHAT, choose_all)
    away = Away("m", server.url, retries=0)
    provider = Injected(moved)
    provider.target = Target.CLOUD
    embedder = EndpointEmbedder(away, paid, dimensions=32, relation_threshold=-1)
    with Memory(
        tmp_path / "private.db",
        user_id="alice",
        embedder=embedder,
        extractor=ChatExtractor(ChatModel(away, paid), BuiltinExtractor(), lambda turn: False),
        judge=TypedJudge(provider),
        clock=clock,
    ) as memory:
        memory.add([{"role": "observed", "content": PRIVATE}])
        memory.add("I ordered a parcel from Graz.")
        assert PRIVATE in {item.content for item in memory.search("parcel", limit=5).memories}
        assert memory.status().indexed == 1.0
        assert memory.reindex() == 0
        assert memory.status().figures["staying"] == 2
    assert "parcel from Graz" in sent(server, provider)
    assert PRIVATE not in sent(server, provider)
    with Memory(tmp_path / "private.db", user_id="alice", embedder=HashEmbedder(), clock=clock) as local:
        assert local.reindex() == 4
        assert {item.content for item in local.search("door camera", limit=1).memories} == {PRIVATE}
