"""Which of some memories a reader may see."""

from __future__ import annotations

from collections.abc import Collection

from memwell.domain.lens import Lens, sees_memory
from memwell.domain.memory import MemoryRecord
from memwell.domain.rights import readable
from memwell.engine.ports import View


def seen(view: View, lens: Lens, memories: Collection[MemoryRecord]) -> list[MemoryRecord]:
    """Those of ``memories`` that ``lens`` sees, in their order."""
    if not memories:
        return []
    evidence = view.evidence({source.evidence_id for memory in memories for source in memory.sources})
    return [
        memory for memory in memories if sees_memory(lens, memory, readable=readable(memory, evidence, lens.target))
    ]
