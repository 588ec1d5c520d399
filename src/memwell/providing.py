"""Wiring of model endpoints: the parts that settings ask for. Where they ask for none, nothing here is imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memwell.engine.faults import Reach, pass_by
from memwell.engine.ports import Clock, Embedder, Extractor, Judge, Store, Turn
from memwell.errors import ConfigurationError, ExtractionError
from memwell.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from memwell.providers.chat import ChatModel
    from memwell.providers.decisions import DecisionProvider
    from memwell.providers.endpoint import Endpoint
    from memwell.providers.paid import Paid

# From this confidence on, what the local extractor proposes is plainly stated.
_PLAIN = 0.9


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to try an endpoint: ``attempt`` raises what is wrong with it."""

    name: str
    attempt: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Provided:
    """What comes from endpoints; ``None`` where the builtin part stays."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    judge: Judge | None = None
    probes: tuple[Probe, ...] = ()

    @property
    def paid(self) -> bool:
        """Whether forming costs something, so that answers have to be kept."""
        return any(part is not None for part in (self.embedder, self.extractor, self.judge))


def provided(
    settings: Settings,
    store: Store,
    clock: Clock,
    local: Extractor,
    decisions: DecisionProvider | None = None,
    reach: Reach = pass_by,
) -> Provided:
    """The parts that ``settings`` ask for.

    Args:
        local: the keyless extractor, for what must not leave this machine.
        decisions: a provider of typed questions of the caller's own, in place of the judge that is set.
        reach: called at fault points.

    Raises:
        ConfigurationError: a setting is missing.
    """
    chat = settings.chat.model is not None
    extraction = settings.extraction.provider or ("chat" if chat else "builtin")
    asked = extraction == "chat" or settings.judge.provider != "builtin" or settings.embedding.model is not None
    if not asked and decisions is None:
        return Provided()
    from memwell.providers.paid import Paid

    paid = Paid(store.spending, clock, settings.budget.tokens_per_day, reach)
    embedder = _embedder(settings, paid) if settings.embedding.model is not None else None
    extractor = _extractor(settings, paid, local) if extraction == "chat" else None
    provider = decisions or _decisions(settings, paid)
    return Provided(embedder, extractor, _judge(provider), _probes(settings, paid, extraction, embedder, provider))


def _probes(
    settings: Settings,
    paid: Paid,
    extraction: str,
    embedder: Embedder | None,
    provider: DecisionProvider | None,
) -> tuple[Probe, ...]:
    found = []
    if extraction == "chat":
        chat = _chat(settings, paid)
        hello = [{"role": "user", "content": "Say: ready"}]
        found.append(Probe(f"chat model {chat.name}", lambda: chat.ask("doctor", hello, ExtractionError)))
    if provider is not None:
        found.append(Probe(f"judge {provider.name}", lambda: _try_decisions(provider)))
    if embedder is not None:
        found.append(Probe(f"embedding model {embedder.model}", lambda: embedder.passages(["ready"])))
    return tuple(found)


def _try_decisions(provider: DecisionProvider) -> None:
    from memwell.providers.decisions import DecisionQuestion, checked

    question = DecisionQuestion("ready", "Is the lamp on?", {"yes": "It is on.", "no": "It is off."})
    checked([question], provider.evaluate({"lamp": "on"}, [question]), provider.name)


def _endpoint(section: str, settings: ModelSettings, default_model: str | None = None) -> Endpoint:
    from memwell.providers.endpoint import Endpoint

    model = settings.model or default_model
    if model is None:
        raise ConfigurationError(
            f"{section}.model is not set",
            remedy=f"set {section}.model in memwell.toml, or MEMWELL_{section.upper()}_MODEL",
        )
    return Endpoint(model, settings.base_url, settings.api_key, settings.timeout, settings.retries)


def _chat(settings: Settings, paid: Paid) -> ChatModel:
    from memwell.providers.chat import ChatModel

    options: dict[str, object] = {}
    if settings.chat.temperature is not None:
        options["temperature"] = settings.chat.temperature
    if settings.chat.json != "off":
        options["response_format"] = {"type": f"json_{settings.chat.json}"}
    return ChatModel(_endpoint("chat", settings.chat), paid, options)


def _extractor(settings: Settings, paid: Paid, local: Extractor) -> Extractor:
    from memwell.providers.extraction import ChatExtractor

    return ChatExtractor(_chat(settings, paid), local, plainly(local))


def plainly(local: Extractor) -> Callable[[Turn], bool]:
    """Whether the keyless extractor finds something plainly stated in a turn."""

    def is_declarative(turn: Turn) -> bool:
        return any(proposal.confidence >= _PLAIN for proposal in local.extract([turn], []).proposals)

    return is_declarative


def _judge(provider: DecisionProvider | None) -> Judge | None:
    if provider is None:
        return None
    from memwell.providers.typed_judge import TypedJudge

    return TypedJudge(provider)


def _decisions(settings: Settings, paid: Paid) -> DecisionProvider | None:
    """Who answers typed questions; ``None`` where the builtin judge stays."""
    match settings.judge.provider:
        case "chat":
            from memwell.providers.chat_decisions import ChatDecisions

            return ChatDecisions(_chat(settings, paid))
        case "jev":
            from memwell.providers.jev import Jev

            return Jev(_endpoint("judge", settings.judge, "jev-latest"), paid)
        case "decisions":
            from memwell.providers.openai_decisions import OpenAIDecisions

            return OpenAIDecisions(_endpoint("judge", settings.judge), paid)
    return None


def _embedder(settings: Settings, paid: Paid) -> Embedder:
    from memwell.providers.embedding import EndpointEmbedder

    own = settings.embedding
    if own.dimensions is None:
        raise ConfigurationError(
            f"embedding.dimensions is not set for {own.model}",
            remedy="set it to the length of the model's vectors, such as 1536 for text-embedding-3-small",
        )
    return EndpointEmbedder(
        _endpoint("embedding", own),
        paid,
        dimensions=own.dimensions,
        batch=own.batch,
        query_prefix=own.query_prefix,
        passage_prefix=own.passage_prefix,
        relation_threshold=own.relation_threshold,
    )
