"""Results on their way between processes: to JSON, back to the values of ``Memory``, and the schema of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any

from pydantic import TypeAdapter

from memwell.engine.items import MemoryItem, RawItem
from memwell.engine.results import SearchResult, Status
from memwell.interfaces.usecases.table import UseCase

# Values that ``to_dict`` lays out on the same level as the rest of their owner.
_LAID_OUT = {MemoryItem: "memory", RawItem: "evidence", Status: "figures"}
# What ``to_dict`` adds to the fields, by type name.
_ADDED: Mapping[str, Mapping[str, Any]] = {
    "MemoryRecord": {"layer": {"type": "string"}, "confidence": {"type": "number"}},
    "Explanation": {"formation": {"$ref": "#/$defs/Formation"}},
    "SearchResult": {"dependencies": {"type": "array", "items": {"type": "string"}}},
}


# What ``to_dict`` keeps to the process, by type name.
_KEPT_BACK = {"Job": ("input_hash", "refunds", "owner", "token", "lease_until")}


def to_wire(case: UseCase, result: Any) -> dict[str, Any]:
    """``result`` of ``case`` as a JSON object."""
    if case.returns:
        return {case.returns: _plain(result)}
    return {} if result is None else dict(_plain(result))


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def from_wire(case: UseCase, answer: Mapping[str, Any]) -> Any:
    """The value that ``answer`` stands for, as the method of ``Memory`` returns it."""
    if case.result is NoneType:
        return None
    value: Any = answer[case.returns] if case.returns else answer
    if case.result is SearchResult:
        value = {
            **value,
            **{name: [_gathered(item, MemoryItem) for item in value[name]] for name in _MEMORY_GROUPS},
            **{name: [_gathered(item, RawItem) for item in value[name]] for name in _QUOTE_GROUPS},
        }
    if case.result is Status:
        rest = {name: item for name, item in value.items() if name not in Status.__slots__}
        value = {**value, "figures": rest}
    return _adapter(case).validate_python(value)


_MEMORY_GROUPS = ("memories", "profile", "procedures")
_QUOTE_GROUPS = ("raw", "provisional")


def _gathered(item: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {**item, _LAID_OUT[kind]: item}


@cache
def _adapter(case: UseCase) -> TypeAdapter[Any]:
    return TypeAdapter(case.result)


@cache
def result_schema(case: UseCase) -> dict[str, Any]:
    """JSON schema of what ``to_wire`` gives for ``case``; types that are shared stand in ``$defs``."""
    if case.result is NoneType:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    schema = _adapter(case).json_schema(mode="serialization")
    definitions = schema.pop("$defs", {})
    if case.returns:
        schema = {"type": "object", "properties": {case.returns: schema}, "title": case.name}
    for definition in (*definitions.values(), schema):
        _completed(definition)
    for kind in (MemoryItem, RawItem):
        if kind.__name__ in definitions:
            _lay_out(definitions[kind.__name__], _LAID_OUT[kind], definitions)
    if case.result is Status:
        schema["properties"].pop("figures")
        schema["required"].remove("figures")
    return {**schema, "$defs": definitions}


def _completed(schema: dict[str, Any]) -> None:
    """Name what ``to_dict`` adds, and that it always gives everything."""
    if schema.get("type") != "object" or "properties" not in schema:
        return
    for name in _KEPT_BACK.get(schema.get("title", ""), ()):
        del schema["properties"][name]
    schema["properties"] |= _ADDED.get(schema.get("title", ""), {})
    schema["required"] = [*schema["properties"]]
    for part in schema["properties"].values():
        part.pop("default", None)


def _lay_out(schema: dict[str, Any], inner: str, definitions: Mapping[str, Any]) -> None:
    reference = schema["properties"].pop(inner)["$ref"]
    laid = definitions[reference.rsplit("/", 1)[-1]]["properties"]
    schema["properties"] = {**laid, **schema["properties"]}
    schema["required"] = [*schema["properties"]]
