"""Settings: one TOML file, environment variables ``MEMWELL_*`` and arguments, in rising priority."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from memwell.errors import ConfigurationError

FILE_NAME = "memwell.toml"
STORE_NAME = "memwell.db"
_PREFIX = "MEMWELL_"
_PATHS = ("home", "store")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may set.

    Attributes:
        home: folder of the default store and of ``memwell.toml``.
        store: path of the store; ``memwell.db`` in ``home`` where unset.
        user_id: default user; unset means that every call must name one.
        app_id, agent_id: the other two parts of the scope.
    """

    home: Path
    store: Path | None = None
    user_id: str | None = None
    app_id: str = "default"
    agent_id: str = "default"

    @property
    def store_path(self) -> Path:
        return self.store or self.home / STORE_NAME


_KEYS = tuple(field.name for field in fields(Settings))


def read_settings(environment: Mapping[str, str], arguments: Mapping[str, Any], *, default_home: Path) -> Settings:
    """Merge file, environment and arguments.

    Args:
        environment: the process environment; only ``MEMWELL_*`` is looked at.
        arguments: explicit arguments; ``None`` counts as not given.
        default_home: used where ``home`` is not set.

    Raises:
        ConfigurationError: an unknown key (the message names the closest known one) or an unusable value.
    """
    given = {
        name.removeprefix(_PREFIX).lower(): value for name, value in environment.items() if name.startswith(_PREFIX)
    }
    _refuse_unknown(given, lambda key: f"environment variable {_PREFIX}{key.upper()}")
    explicit = {key: value for key, value in arguments.items() if value is not None}
    home = Path(explicit.get("home") or given.get("home") or default_home).expanduser()
    merged = {**_read_file(home / FILE_NAME), **given, **explicit}
    values = {key: _usable(key, value) for key, value in merged.items()}
    return Settings(**{**values, "home": home})


def _usable(key: str, value: object) -> Any:
    if key in _PATHS and isinstance(value, (str, Path)) and str(value).strip():
        return Path(value).expanduser()
    if key not in _PATHS and isinstance(value, str):
        return value
    wanted = "a path" if key in _PATHS else "text"
    raise ConfigurationError(f"setting {key} is {value!r}", remedy=f"set it to {wanted}")


def _read_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            values = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}", remedy="correct or remove the file") from None
    _refuse_unknown(values, lambda key: f"key {key!r} in {path}")
    return values


def _refuse_unknown(keys: Iterable[str], describe: Callable[[str], str]) -> None:
    for key in keys:
        if key not in _KEYS:
            closest = difflib.get_close_matches(key, _KEYS, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f"unknown {describe(key)}", remedy=f"did you mean {closest!r}?", code="unknown_setting"
            )
