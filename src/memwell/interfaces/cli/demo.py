"""A short story on a temporary store; after every step what must be true is checked, aloud where it is not."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memwell.domain.memory import MemoryRecord
    from memwell.engine.items import Quote
    from memwell.engine.results import SearchResult
    from memwell.interfaces.python.memory import Memory

_PAGE = 100  # far more memories than a story forms


class DemoFailedError(Exception):
    """A step of the story did not do what it shows."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the story; see ``demo.toml`` for what each field means."""

    title: str
    now: str
    at: str | None = None
    say: str | None = None
    delete: str | None = None
    forget: str | None = None
    gone: Sequence[str] = ()
    ask: str | None = None
    as_of: str | None = None
    answer: str | None = None
    quote: str | None = None
    explain: str | None = None
    current: Sequence[str] = ()
    not_current: Sequence[str] = ()
    history: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Story:
    language: str
    user: str
    steps: tuple[Step, ...]


class StoryClock:
    """A clock that shows the moment the story is at."""

    def __init__(self) -> None:
        self._now = datetime.min.replace(tzinfo=UTC)

    def set(self, moment: str) -> None:
        self._now = datetime.fromisoformat(moment).astimezone(UTC)

    def now(self) -> datetime:
        return self._now


def read_stories() -> tuple[Story, ...]:
    """The stories of ``demo.toml``."""
    table: dict[str, Any] = tomllib.loads(files(__package__).joinpath("demo.toml").read_text(encoding="utf-8"))
    return tuple(
        Story(story["language"], story["user"], tuple(Step(**step) for step in story["steps"]))
        for story in table["story"]
    )


def run_demo(show: Callable[[str], None], stories: Iterable[Story] | None = None) -> int:
    """Tell the stories on a temporary store.

    Args:
        show: prints one line.

    Returns:
        The number of steps told.

    Raises:
        DemoFailedError: a step did not do what it shows; names it.
    """
    from memwell.interfaces.python.memory import Memory

    told = 0
    clock = StoryClock()
    with tempfile.TemporaryDirectory(prefix="memwell-demo-") as folder:
        for number, story in enumerate(read_stories() if stories is None else stories, 1):
            show(f"== {story.language} ==")
            with Memory(Path(folder) / f"demo-{number}.db", user_id=story.user, clock=clock) as memory:
                teller = _Teller(memory, show)
                for step in story.steps:
                    clock.set(step.now)
                    teller.tell(step)
                    told += 1
    show(f"All {told} steps hold.")
    return told


class _Teller:
    """Tells one step at a time and checks it."""

    def __init__(self, memory: Memory, show: Callable[[str], None]) -> None:
        self._memory = memory
        self._show = show

    def tell(self, step: Step) -> None:
        self._show(f"\n{step.now[:10]}  {step.title}")
        if step.say is not None:
            self._say(step, step.say)
        if step.delete is not None:
            record = self._memory.delete(self._find(step, step.delete).id)
            self._show(f"   put away: {record.content}")
        if step.forget is not None:
            self._forget(step, step.forget)
        if step.ask is not None:
            self._ask(step, step.ask)
        if step.explain is not None:
            self._explain(step, step.explain)
        self._check(step)

    def _say(self, step: Step, words: str) -> None:
        dated = f", dated {step.at[:10]}" if step.at else ""
        self._show(f"   says{dated}: {words}")
        for decision in self._memory.add(words, at=step.at or step.now).decisions:
            self._show(f"   {decision.action}: {decision.content}")

    def _forget(self, step: Step, words: str) -> None:
        preview = self._memory.preview_forget([self._find(step, words).id])
        for item in preview.items:
            self._show(f"   {item.fate.replace('_', ' ')} {item.what}: {item.words}")
        done = self._memory.forget(preview.token)
        files = _bytes_of_store(Path(self._memory.status().location))
        for text in step.gone:
            self._require(step, text.encode() not in files, f"{text!r} is still in a file of the store")
            self._show(f"   in no file of the store: {text}")
        self._show(f"   receipt: {done.receipt.command_id}")

    def _ask(self, step: Step, question: str) -> None:
        then = f", as of {step.as_of[:10]}" if step.as_of else ""
        self._show(f"   asks{then}: {question}")
        result = self._memory.search(question, as_of=step.as_of)
        first = next(iter((*result.memories, *result.profile)), None)
        self._require(step, first is not None and (step.answer or "") in first.content, _answer_is_not(step, result))
        if first is not None:
            self._show(f"   answer: {first.content}  [{first.state}]")
            self._show_quotes(step, first.quotes)

    def _explain(self, step: Step, words: str) -> None:
        explanation = self._memory.explain(self._find(step, words).id)
        formation = explanation.memory.formation
        self._show(f"   {explanation.memory.content}  {formation.action}: {formation.reason}")
        self._show_quotes(step, explanation.quotes)
        for record in explanation.replaced:
            self._show(f"   replaced: {record.content}  [{record.state}]")

    def _show_quotes(self, step: Step, quotes: Sequence[Quote]) -> None:
        for quote in quotes:
            self._show(f"   quote: “{quote.text}”, {quote.said_at:%Y-%m-%d}")
        if step.quote is not None:
            self._require(step, any(step.quote in quote.text for quote in quotes), f"no quote says {step.quote!r}")

    def _check(self, step: Step) -> None:
        current = self._memory.list(limit=_PAGE).memories
        texts = [record.content for record in current]
        for words in step.current:
            self._require(step, any(words in text for text in texts), f"{words!r} is not current; current: {texts}")
        for words in step.not_current:
            self._require(step, not any(words in text for text in texts), f"{words!r} is still current: {texts}")
        everything = self._memory.list(include_history=True, limit=_PAGE).memories if step.history else ()
        for words, state in step.history.items():
            states = [record.state.value for record in everything if words in record.content]
            self._require(step, state in states, f"{words!r} should be {state}, found {states}")
            self._show(f"   {state}: {words}")
        if step.current:
            self._show(f"   current: {' | '.join(texts)}")

    def _find(self, step: Step, words: str) -> MemoryRecord:
        for record in self._memory.list(limit=_PAGE).memories:
            if words in record.content:
                return record
        raise DemoFailedError(f"step {step.title!r}: no current memory says {words!r}")

    def _require(self, step: Step, holds: bool, otherwise: str) -> None:
        if not holds:
            raise DemoFailedError(f"step {step.title!r}: {otherwise}")


def _bytes_of_store(path: Path) -> bytes:
    """Every byte of the database, its log and its shared memory."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def _answer_is_not(step: Step, result: SearchResult) -> str:
    found = [item.content for item in (*result.memories, *result.profile)]
    return f"the first answer should hold {step.answer!r}, found {found}"
