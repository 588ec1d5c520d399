"""Settings: one TOML file, environment variables ``MEMWELL_*`` and arguments, in rising priority."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from memwell.errors import ConfigurationError

FILE_NAME = "memwell.toml"
STORE_NAME = "memwell.db"
_PREFIX = "MEMWELL_"


class Settings(BaseModel):
    """What a user may set.

    Attributes:
        home: folder of the default store and of ``memwell.toml``.
        store: path of the store; ``memwell.db`` in ``home`` where unset.
        user_id: default user; unset means that every call must name one.
        app_id, agent_id: the other two parts of the scope.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    home: Path
    store: Path | None = None
    user_id: str | None = None
    app_id: str = "default"
    agent_id: str = "default"

    @property
    def store_path(self) -> Path:
        return self.store or self.home / STORE_NAME


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
    merged = {**_read_file(home / FILE_NAME), **given, **explicit, "home": home}
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            f"setting {key} is {first['input']!r}: {first['msg']}", remedy="correct it and start again"
        ) from None


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


def _refuse_unknown(values: Mapping[str, Any], describe: Any) -> None:
    for key in values:
        if key not in Settings.model_fields:
            closest = difflib.get_close_matches(key, Settings.model_fields, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f"unknown {describe(key)}", remedy=f"did you mean {closest!r}?", code="unknown_setting"
            )
