"""Verbs that read memory: search, list, get, history, evidence, explain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.interfaces.cli.options import A_TIME, Json, MemoryId, ReadAt, StorePath, User, moment, opened, owner_of
from memwell.interfaces.cli.output import local, print_fields, print_json, print_table, print_text, say

if TYPE_CHECKING:
    from memwell.domain.evidence import Evidence
    from memwell.domain.memory import MemoryRecord
    from memwell.engine.items import MemoryItem, Quote
    from memwell.engine.results import SearchResult


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or words.")],
    user: User = None,
    limit: Annotated[int, typer.Option("--limit", help="Most memories.")] = 5,
    raw: Annotated[int, typer.Option("--raw", help="Most verbatim sources.")] = 0,
    profile: Annotated[int | None, typer.Option("--profile", help="Most profile entries.")] = None,
    procedures: Annotated[int, typer.Option("--procedures", help="Most experiences.")] = 0,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=f"What held then; {A_TIME}")] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help=f"What was known then; {A_TIME}")
    ] = None,
    target: ReadAt = "local",
    relations: Annotated[bool, typer.Option(help="Show what a memory replaced and conflicts with.")] = True,
    context: Annotated[
        int | None, typer.Option("--context", metavar="CHARS", help="Print context for a prompt instead, this long.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Search what is current, or what held at some time."""
    with opened(store, owner_of(user)) as memory:
        result = memory.search(
            query,
            limit=limit,
            raw_limit=raw,
            profile_limit=profile,
            procedure_limit=procedures,
            as_of=moment("--as-of", as_of),
            known_at=moment("--known-at", known_at),
            target=target,
            include_relations=relations,
        )
    if context is not None:
        text = result.text(max_chars=context)
        print_json({"context": text}) if as_json else print_text(text)
    elif as_json:
        print_json(result.to_dict())
    else:
        _show_result(result)


def list_memories(
    user: User = None,
    history_too: Annotated[bool, typer.Option("--all", help="Also what is no longer current.")] = False,
    kind: Annotated[str | None, typer.Option("--kind", help="Only this kind: fact, event, preference ...")] = None,
    limit: Annotated[int, typer.Option("--limit", help="Most memories on the page.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.")] = None,
    target: ReadAt = "local",
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """List memories, newest first."""
    with opened(store, owner_of(user)) as memory:
        page = memory.list(include_history=history_too, kind=kind, limit=limit, cursor=cursor, target=target)
    if as_json:
        print_json(page.to_dict())
        return
    if page.memories:
        _show_records(page.memories)
    else:
        say("no memories")
    if page.cursor:
        say(f"more: --cursor {page.cursor}")


def get(
    memory_id: MemoryId, target: ReadAt = "local", user: User = None, store: StorePath = None, as_json: Json = False
) -> None:
    """Show one memory."""
    with opened(store, user) as memory:
        record = memory.get(memory_id, target=target)
    if as_json:
        print_json(record.to_dict())
    else:
        print_fields(_fields(record))


def history(
    memory_id: MemoryId, target: ReadAt = "local", user: User = None, store: StorePath = None, as_json: Json = False
) -> None:
    """Show all versions of what a memory is about."""
    with opened(store, user) as memory:
        chain = memory.history(memory_id, target=target)
    if as_json:
        print_json([record.to_dict() for record in chain])
    else:
        _show_records(chain)


def evidence(
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only this session.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="KEY", help="Only what was observed under keys that begin so.")
    ] = None,
    expired: Annotated[bool, typer.Option("--expired", help="Also observations whose time is over.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many.")] = 20,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.")] = None,
    target: ReadAt = "local",
    user: User = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """List the sources as they were said or observed, newest first."""
    with opened(store, owner_of(user)) as memory:
        page = memory.evidence(
            session_id=session,
            source_prefix=source,
            include_expired=expired,
            limit=limit,
            cursor=cursor,
            target=target,
        )
    if as_json:
        print_json(page.to_dict())
        return
    _show_sources(page)
    if page.cursor:
        say(f"more: --cursor {page.cursor}")


def people(target: ReadAt = "local", user: User = None, store: StorePath = None, as_json: Json = False) -> None:
    """List people by the names that are known to be theirs."""
    with opened(store, owner_of(user)) as memory:
        found = memory.people(target=target)
    if as_json:
        print_json({"people": [person.to_dict() for person in found]})
        return
    rows = [(person.name, alias.name, alias.memory_id) for person in found for alias in person.aliases]
    print_table(("person", "name", "told by"), rows, words="name")
    if not found:
        say("nobody of more than one name is known")


def explain(
    memory_id: MemoryId, target: ReadAt = "local", user: User = None, store: StorePath = None, as_json: Json = False
) -> None:
    """Show a memory's source words, decision and fate."""
    with opened(store, user) as memory:
        explanation = memory.explain(memory_id, target=target)
    if as_json:
        print_json(explanation.to_dict())
        return
    record = explanation.memory
    formation = record.formation
    decided = f"{formation.action} ({formation.confidence:.0%}): {formation.reason}"
    fields = _fields(record)
    fields["decided"] = f"{decided}\nby {formation.judge}, read by {formation.extractor}"
    for name, records in (
        ("replaced", explanation.replaced),
        ("replaced by", explanation.replaced_by),
        ("conflicts with", explanation.conflicts),
    ):
        if records:
            fields[name] = "\n".join(_brief(other) for other in records)
    fields["said"] = "\n".join(_quoted(quote) for quote in explanation.quotes)
    fields["since"] = "\n".join(f"{local(step.at)}  {step.cause}: {step.state}" for step in explanation.transitions)
    print_fields(fields)


def _show_result(result: SearchResult) -> None:
    groups = {"memories": result.memories, "profile": result.profile, "procedures": result.procedures}
    shown = {name: items for name, items in groups.items() if items}
    for name, items in shown.items():
        if name != "memories":
            print_text(f"{name}:")
        print_table(
            ("said", "memory", "state", "id"),
            [(local(item.memory.last_said_at), _with_relations(item), _standing(item), item.id) for item in items],
            words="memory",
        )
    if result.pending:
        print_text("corrections under way:")
        print_table(
            ("said", "correction", "waits for", "id"),
            [
                (local(item.said_at), item.text, item.reason.replace("_", " "), item.evidence_id)
                for item in result.pending
            ],
            words="correction",
        )
    for name, quotes in (("said lately, provisional", result.provisional), ("sources", result.raw)):
        if quotes:
            print_text(f"{name}:")
            _show_sources(replace(item.evidence, content=item.content) for item in quotes)
    if not any((shown, result.pending, result.provisional, result.raw)):
        say("nothing found")


def _show_sources(records: Iterable[Evidence]) -> None:
    print_table(
        ("said", "speaker", "words", "id"),
        [(local(record.occurred_at), record.name or record.speaker, record.content, record.id) for record in records],
        words="words",
    )


def _standing(item: MemoryItem) -> str:
    """The state, and whether a correction may change it."""
    return item.state.value if item.correction_status is None else f"{item.state}, correction {item.correction_status}"


def _with_relations(item: MemoryItem) -> str:
    record = item.memory
    parts = [record.content]
    if record.valid_until:
        parts.append(f"(valid: {local(record.valid_from)} → {local(record.valid_until)})")
    parts.extend(f"(previously, {local(old.memory_at)}: {old.content})" for old in item.previous)
    parts.extend(f"(conflicts: {other.content})" for other in item.conflicts)
    return " ".join(parts)


def _show_records(records: Sequence[MemoryRecord]) -> None:
    print_table(
        ("said", "kind", "memory", "state", "id"),
        [
            (local(record.last_said_at), record.kind.value, record.content, record.state.value, record.id)
            for record in records
        ],
        words="memory",
    )


def _fields(record: MemoryRecord) -> dict[str, str]:
    valid = local(record.valid_from) + (f" → {local(record.valid_until)}" if record.valid_until else " → …")
    return {
        "id": record.id,
        "memory": record.content,
        "kind": record.kind.value,
        "state": record.state.value,
        "said": local(record.last_said_at),
        "valid": valid,
        "recorded": local(record.recorded_at),
        "sources": str(len(record.sources)),
    }


def _brief(record: MemoryRecord) -> str:
    return f"{record.id}  {local(record.memory_at)}  {record.content}"


def _quoted(quote: Quote) -> str:
    return f"{local(quote.said_at)}  {quote.name or quote.speaker}: “{quote.text}”  [{quote.evidence_id}]"
