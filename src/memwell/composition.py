"""Wiring: puts stores, providers and use cases together as the settings say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memwell.builtin import naming
from memwell.builtin.embedder import bundled_embedder
from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.judge import BuiltinJudge
from memwell.builtin.language import Language, compiled
from memwell.builtin.model.decide import DecisionModel, bundled_model
from memwell.builtin.packs import abbreviations, joints, load_languages
from memwell.builtin.question import BuiltinQuestionReader
from memwell.builtin.ranking import load_weights
from memwell.builtin.rules import RuleJudge, corrects
from memwell.builtin.system import SystemClock, TimeOrderedIds, cache_budget
from memwell.engine.calls import Placed
from memwell.engine.correcting import Correcting
from memwell.engine.faults import Reach, pass_by
from memwell.engine.forgetting import Forgetting
from memwell.engine.forming import Forming
from memwell.engine.governing import Governing
from memwell.engine.jobs import Jobs
from memwell.engine.maintaining import Maintaining
from memwell.engine.managing import Managing
from memwell.engine.observing import Observing
from memwell.engine.portable import Portable
from memwell.engine.ports import Clock, Embedder, Extractor, Ids, Judge, Store
from memwell.engine.reading import Reading
from memwell.engine.recall import Recall
from memwell.engine.remember import Remember
from memwell.engine.weights import Weights
from memwell.errors import ConfigurationError
from memwell.providing import Probe, provided
from memwell.settings import Settings
from memwell.storage.sqlite import SqliteStore
from memwell.telemetry import Watched
from memwell.worker import Owners, Warming, Worker, never

if TYPE_CHECKING:
    from memwell.providers.decisions import DecisionProvider


_WORDS = "warm"  # any words do to load a model


@dataclass(frozen=True, slots=True)
class Engine:
    """The use cases of one open store."""

    settings: Settings
    location: str
    store: Store
    clock: Clock
    remember: Remember
    recall: Recall
    reading: Reading
    managing: Managing
    governing: Governing
    correcting: Correcting
    forgetting: Forgetting
    portable: Portable
    observing: Observing
    maintaining: Maintaining
    worker: Worker
    warming: Warming
    watched: Watched
    probes: tuple[Probe, ...] = ()

    def close(self) -> None:
        """Stop the worker and release the store; safe to call twice."""
        self.watched.end()
        self.warming.stop()
        self.worker.stop()
        self.store.close()


def open_engine(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    decisions: DecisionProvider | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    weights: Weights | None = None,
    reach: Reach = pass_by,
) -> Engine:
    """Open the store that ``settings`` name and wire the use cases.

    A part that is given is used; else the model endpoint that the settings name; else the builtin one. ``reach`` is
    called at fault points.
    """
    clock, ids = clock or SystemClock(), ids or TimeOrderedIds()
    languages = load_languages()
    model = bundled_model()
    local = BuiltinExtractor(languages, model)
    location = settings.store_path.expanduser()
    store = SqliteStore(location, clock=clock, cache_bytes=cache_budget(), reach=reach)
    try:
        found = provided(settings, store, clock, local, decisions, reach)
    except ConfigurationError:
        store.close()
        raise
    embedder = embedder or found.embedder or bundled_embedder()
    extractor = extractor or found.extractor or local
    local_judge = BuiltinJudge(model, RuleJudge(languages)) if model else RuleJudge(languages)
    judge = judge or found.judge or local_judge
    cut = (abbreviations(languages), joints(languages))
    forming = Forming(store, embedder, extractor, judge, clock, ids, *cut, local_judge)
    owners = Owners(location.with_name(f"{location.name}.owners"))
    jobs = Jobs(store, forming, clock, owners.name, owners.is_alive)
    correcting = Correcting(store, embedder, clock, ids)
    maintaining = Maintaining(store, embedder, clock, ids, str(location), extractor.name, judge.name)
    return Engine(
        settings=settings,
        location=str(location),
        store=store,
        clock=clock,
        remember=Remember(store, forming, jobs, correcting, clock, ids, durable=found.paid),
        recall=Recall(store, embedder, BuiltinQuestionReader(languages), clock, weights or load_weights(), corrects),
        reading=Reading(store, clock),
        managing=Managing(store, embedder, clock, ids),
        governing=Governing(store, embedder, clock, ids),
        correcting=correcting,
        forgetting=Forgetting(store, embedder, clock, ids, naming),
        portable=Portable(store, embedder, clock, ids),
        observing=Observing(store, embedder, clock, ids),
        maintaining=maintaining,
        worker=Worker(
            store, jobs, owners, maintaining.reindex_some if found.embedder is not None else never, found.paid
        ),
        warming=Warming(_loads(embedder, model, languages)),
        watched=Watched(maintaining.queued),
        probes=found.probes,
    )


def _loads(
    embedder: Embedder, model: DecisionModel | None, languages: tuple[Language, ...]
) -> Iterator[Callable[[], object]]:
    """What the parts of this machine load at their first use, the parts of a search first."""
    if not isinstance(embedder, Placed):  # one that sends nothing anywhere
        yield partial(embedder.query, _WORDS)
    if model is not None:
        yield partial(model.describe, _WORDS, _WORDS)
    for language in languages:
        for pattern in language.patterns():
            yield partial(compiled, pattern)
