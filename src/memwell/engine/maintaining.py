"""Care of a store: figures, checks, and vectors for the embedder in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from memwell.domain.evidence import Target
from memwell.domain.jobs import JobState
from memwell.domain.plan import Plan, Unit
from memwell.domain.scope import Scope
from memwell.engine.calls import target_of
from memwell.engine.indexing import Indexable, embed, index_operation, indexable_evidence, indexable_memory
from memwell.engine.ports import Clock, Embedder, Ids, Store
from memwell.engine.results import Status
from memwell.telemetry import Queued

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Maintaining:
    """Status, check, rebuild and reindex."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids
    location: str
    extractor: str
    judge: str

    def status(self) -> Status:
        """Figures of the whole store."""
        with self.store.view() as view:
            figures = dict(view.stats())
        backlog = self.store.queue.backlog()
        figures["jobs"] = dict(backlog.counts)
        figures["oldest_job_seconds"] = round(backlog.waits_for(self.clock.now()))
        figures["calls"] = self.store.spending.totals()
        done = figures["models"].get(self.embedder.model, {"memories": 0, "evidence": 0})
        stays = figures["staying"] if target_of(self.embedder) is not Target.LOCAL else 0
        records = figures["indexable"] - stays
        indexed = (done["memories"] + done["evidence"]) / records if records else 1.0
        return Status(self.location, self.embedder.model, self.extractor, self.judge, indexed, figures)

    def queued(self) -> Queued:
        """How full the queue of jobs is."""
        backlog = self.store.queue.backlog()
        failed = backlog.counts.get(JobState.DEAD, 0)
        return Queued(sum(backlog.counts.values()) - failed, failed, backlog.waits_for(self.clock.now()))

    def check(self) -> list[str]:
        """Problems found by a whole check; empty when sound."""
        return self.store.check()

    def rebuild(self) -> None:
        """Make the keyword index and derived rows again from the records."""
        self.store.rebuild()

    def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed every record that lacks vectors of the embedder in use; search goes on meanwhile.

        Args:
            progress: called with the number of records done so far.

        Returns:
            The number of records embedded.
        """
        done = 0
        for unit in Unit:
            while count := self._reindex_batch(unit):
                done += count
                if progress is not None:
                    progress(done)
        return done

    def reindex_some(self) -> bool:
        """Embed one batch of what lacks vectors of the embedder in use; ``False`` where nothing does."""
        return any(self._reindex_batch(unit) for unit in Unit)

    def _reindex_batch(self, unit: Unit) -> int:
        """How many records of one batch were embedded."""
        batch = self._missing(unit)
        rows = embed(self.embedder, (text for _, item in batch for text in item.texts))
        for scope, items in groupby(batch, key=lambda entry: entry[0]):
            operations = tuple(index_operation(item, self.embedder.model, rows) for _, item in items)
            self.store.apply(Plan(self.ids.new("plan"), scope, self.clock.now(), operations))
        return len(batch)

    def _missing(self, unit: Unit) -> list[tuple[Scope, Indexable]]:
        with self.store.view() as view:
            rows = view.unindexed(unit, self.embedder.model, _BATCH, target_of(self.embedder))
            if unit is Unit.MEMORY:
                memories = view.memories(rows)
                return [(memory.scope, indexable_memory(memory_id, memory)) for memory_id, memory in memories.items()]
            evidence = view.evidence(rows)
        return [(record.scope, indexable_evidence(record)) for record in evidence.values()]
