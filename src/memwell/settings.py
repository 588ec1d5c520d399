"""Settings: one TOML file, environment variables ``MEMWELL_*`` and arguments, in rising priority."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from memwell.errors import ConfigurationError

FILE_NAME = "memwell.toml"
STORE_NAME = "memwell.db"
_PREFIX = "MEMWELL_"
_PATHS = ("home", "store")
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model endpoint is reached.

    Attributes:
        model: its name there; unset: no endpoint.
        base_url: such as ``http://127.0.0.1:11434/v1``; unset: the official client's default.
        api_key: secret, never shown; or ``api_key_env``, the environment variable that holds it.
        timeout: seconds to wait for an answer.
        retries: how often a busy or failing endpoint is asked again within one call.
    """

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    timeout: float = 60.0
    retries: int = 2


@dataclass(frozen=True, slots=True)
class ChatSettings(ModelSettings):
    """A chat model. ``json``: ``"off"``, ``"object"`` or what else the endpoint offers to make its answers JSON."""

    json: str = "off"
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """Who chooses what is stated: ``"builtin"`` or ``"chat"``; unset: the chat model, where one is set."""

    provider: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeSettings(ModelSettings):
    """Who decides: ``"builtin"``, ``"chat"`` (the chat model), ``"jev"`` or ``"decisions"`` (at ``base_url``)."""

    provider: str = "builtin"


@dataclass(frozen=True, slots=True)
class EmbeddingSettings(ModelSettings):
    """An embedding model.

    Attributes:
        dimensions: length of its vectors; must be set with the model.
        batch: texts in one request.
        query_prefix, passage_prefix: what the model wants before questions and before stored texts.
        relation_threshold: similarity below which two statements are unrelated.
    """

    dimensions: int | None = None
    batch: int = 64
    query_prefix: str = ""
    passage_prefix: str = ""
    relation_threshold: float = 0.6


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What each scope may spend on models on a (UTC) day; unset: any number of tokens."""

    tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may set.

    Attributes:
        home: folder of the default store and of ``memwell.toml``.
        store: path of the store; ``memwell.db`` in ``home`` where unset.
        user_id: default user; unset means that every call must name one.
        app_id, agent_id: the other two parts of the scope.
        chat, extraction, judge, embedding, budget: model endpoints; nothing is asked of any where they are unset.
    """

    home: Path
    store: Path | None = None
    user_id: str | None = None
    app_id: str = "default"
    agent_id: str = "default"
    chat: ChatSettings = ChatSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    judge: JudgeSettings = JudgeSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    budget: BudgetSettings = BudgetSettings()

    @property
    def store_path(self) -> Path:
        return self.store or self.home / STORE_NAME


_SECTIONS: Mapping[str, type[Any]] = {
    "chat": ChatSettings,
    "extraction": ExtractionSettings,
    "judge": JudgeSettings,
    "embedding": EmbeddingSettings,
    "budget": BudgetSettings,
}
_KEYS = tuple(item.name for item in fields(Settings) if item.name not in _SECTIONS)
_DOTTED = (*_KEYS, *(f"{name}.{item.name}" for name, section in _SECTIONS.items() for item in fields(section)))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "extraction.provider": ("builtin", "chat"),
    "judge.provider": ("builtin", "chat", "jev", "decisions"),
}
# Numbers, and the least that each may be.
_NUMBERS: Mapping[str, float] = {"timeout": 0.001, "temperature": 0, "relation_threshold": -1}
_WHOLE: Mapping[str, int] = {"retries": 0, "dimensions": 1, "batch": 1, "tokens_per_day": 0}


def read_settings(environment: Mapping[str, str], arguments: Mapping[str, Any], *, default_home: Path) -> Settings:
    """Merge file, environment and arguments.

    Args:
        environment: the process environment; only ``MEMWELL_*`` is looked at, and variables that ``api_key_env`` names.
        arguments: explicit arguments; ``None`` counts as not given. A section is a mapping of its keys.
        default_home: used where ``home`` is not set.

    Raises:
        ConfigurationError: an unknown key (the message names the closest known one) or an unusable value.
    """
    given = {
        _dotted(name.removeprefix(_PREFIX).lower()): value
        for name, value in environment.items()
        if name.startswith(_PREFIX)
    }
    _refuse_unknown(given, lambda key: f"environment variable {_PREFIX}{key.replace('.', '_').upper()}", _variable)
    explicit = _flat({key: value for key, value in arguments.items() if value is not None})
    _refuse_unknown(explicit, lambda key: f"argument {key!r}")
    home = Path(explicit.get("home") or given.get("home") or default_home).expanduser()
    merged = {**_read_file(home / FILE_NAME), **given, **explicit}
    values = {key: _usable(key, value) for key, value in merged.items() if key != "home"}
    return Settings(
        home=home,
        **{key: value for key, value in values.items() if "." not in key},
        **{name: _section(name, values, environment) for name in _SECTIONS},
    )


def _section(name: str, values: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    own = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{name}.")}
    variable = own.get("api_key_env")
    if variable is not None and own.get("api_key") is None:
        key = environment.get(variable, "").strip()
        if not key:
            raise ConfigurationError(
                f"environment variable {variable}, named by {name}.api_key_env, is not set",
                remedy="set it to the key, or name another variable",
            )
        own["api_key"] = key
    return _SECTIONS[name](**own)


def _dotted(key: str) -> str:
    """``chat_base_url`` as ``chat.base_url``; other keys as they are."""
    section, _, rest = key.partition("_")
    return f"{section}.{rest}" if section in _SECTIONS and key not in _KEYS else key


def _variable(key: str) -> str:
    return f"{_PREFIX}{key.replace('.', '_').upper()}" if "." in key else key


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Sections taken apart: ``{"chat": {"model": "m"}}`` as ``{"chat.model": "m"}``."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key in _SECTIONS and isinstance(value, Mapping):
            found.update({f"{key}.{name}": inner for name, inner in value.items()})
        else:
            found[key] = value
    return found


def _usable(key: str, value: object) -> Any:
    name = key.rpartition(".")[2]
    if key in _PATHS:
        if isinstance(value, (str, Path)) and str(value).strip():
            return Path(value).expanduser()
        raise _unusable(key, value, "a path")
    if name in _WHOLE or name in _NUMBERS:
        return _number(key, name, value)
    if not isinstance(value, str):
        raise _unusable(key, value, "text")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise _unusable(key, value, f"one of {', '.join(_CHOICES[key])}")
    return value


def _number(key: str, name: str, value: object) -> float:
    whole = name in _WHOLE
    least = _WHOLE[name] if whole else _NUMBERS[name]
    wanted = f"a {'whole ' if whole else ''}number from {least} on"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _unusable(key, value, wanted)
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        raise _unusable(key, value, wanted) from None
    if not number >= least or (whole and number != float(value)):
        raise _unusable(key, value, wanted)
    return number


def _unusable(key: str, value: object, wanted: str) -> ConfigurationError:
    shown = "not usable" if key.endswith("api_key") else repr(value)[:_SHOWN_CHARS]
    return ConfigurationError(f"setting {key} is {shown}", remedy=f"set it to {wanted}")


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            values = _flat(tomllib.load(file))
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}", remedy="correct or remove the file") from None
    _refuse_unknown(values, lambda key: f"key {key!r} in {path}")
    return values


def _refuse_unknown(
    keys: Iterable[str], describe: Callable[[str], str], name: Callable[[str], str] = lambda key: key
) -> None:
    for key in keys:
        if key not in _DOTTED:
            closest = difflib.get_close_matches(key, _DOTTED, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f"unknown {describe(key)}", remedy=f"did you mean {name(closest)!r}?", code="unknown_setting"
            )
