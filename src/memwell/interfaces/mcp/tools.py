"""Tools as a model sees them: the words of ``tools.toml`` on the arguments of the use cases."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from memwell.domain.memory import MemoryRecord
from memwell.engine.results import Page, SearchResult, WriteResult
from memwell.interfaces.usecases.arguments import arguments_model
from memwell.interfaces.usecases.table import USE_CASES, Right, UseCase
from memwell.interfaces.usecases.wire import result_schema, to_wire

_NOTHING = "Nothing relevant is remembered."


@dataclass(frozen=True)
class Tool:
    """One tool: a use case with the arguments that a model may give, each in words."""

    case: UseCase
    title: str
    description: str
    arguments: Mapping[str, str]

    @property
    def reads_only(self) -> bool:
        return self.case.right is Right.READ

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        fields = arguments_model(self.case).model_json_schema()
        return {
            "type": "object",
            "properties": {
                name: {**_plain(fields["properties"][name]), "description": words}
                for name, words in self.arguments.items()
            },
            "required": [name for name in fields.get("required", ()) if name in self.arguments],
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON schema of the result, two levels deep: all of it would be ten times the size of the rest."""
        schema = result_schema(self.case)
        return _outline(schema, schema["$defs"], levels=2)


@dataclass(frozen=True)
class Offer:
    """All that a model is told: how to use the whole, and the tools by name."""

    instructions: str
    tools: Mapping[str, Tool]


@cache
def read_offer() -> Offer:
    """The tools of ``tools.toml``."""
    table = tomllib.loads(files(__package__).joinpath("tools.toml").read_text(encoding="utf-8"))
    tools = {
        name: Tool(USE_CASES[name], row["title"], row["description"].strip(), row["arguments"])
        for name, row in table["tools"].items()
    }
    return Offer(table["instructions"].strip(), tools)


def _outline(schema: Mapping[str, Any], definitions: Mapping[str, Any], levels: int) -> dict[str, Any]:
    """``schema`` without words and bounds, and with nothing of what lies deeper than ``levels``."""
    if "$ref" in schema:
        return _outline(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, levels)
    if "anyOf" in schema:
        return {"anyOf": [_outline(option, definitions, levels) for option in schema["anyOf"]]}
    outline = {name: schema[name] for name in ("type", "enum", "const") if name in schema}
    if levels and "properties" in schema:
        parts = schema["properties"].items()
        outline["properties"] = {name: _outline(part, definitions, levels - 1) for name, part in parts}
        outline["required"] = list(schema.get("required", ()))
    if levels and "items" in schema:
        outline["items"] = _outline(schema["items"], definitions, levels - 1)
    return outline


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The plainest form that an argument takes: of a choice with text, the text; no ``null``, which is its absence."""
    choices = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    form = next((option for option in choices if option.get("type") == "string"), choices[0] if choices else schema)
    kept = {name: value for name, value in form.items() if name in ("type", "format", "enum", "items", "const")}
    return kept | ({"default": schema["default"]} if schema.get("default") is not None else {})


def in_words(case: UseCase, result: Any) -> str:
    """A result as a model reads it best."""
    if isinstance(result, SearchResult):
        return _search(result)
    if isinstance(result, WriteResult):
        return _write(result)
    if isinstance(result, Page):
        more = f"\nMore with cursor={result.cursor}" if result.cursor else ""
        return _records(result.memories) + more
    if isinstance(result, Sequence) and not isinstance(result, str):
        return _records([record for record in result if isinstance(record, MemoryRecord)])
    return json.dumps(to_wire(case, result), ensure_ascii=False)


def _search(result: SearchResult) -> str:
    ids = ", ".join(item.id for item in (*result.memories, *result.profile))
    text = result.text()
    return f"{text}\nids in this order: {ids}" if text and ids else text or _NOTHING


def _write(result: WriteResult) -> str:
    lines = [f"{decision.action} {decision.memory_id or ''}: {decision.content}" for decision in result.decisions]
    return "\n".join(lines) or "Kept as said; it holds no lasting fact, so no memory was formed from it."


def _records(records: Sequence[MemoryRecord]) -> str:
    return (
        "\n".join(
            f"{record.id} {record.memory_at:%Y-%m-%d} [{record.kind}, {record.state}] {record.content}"
            for record in records
        )
        or _NOTHING
    )
