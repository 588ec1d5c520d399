from __future__ import annotations

from pathlib import Path

import pytest

from memwell.errors import ConfigurationError
from memwell.settings import Settings, read_settings


def read(home: Path, environment: dict[str, str] | None = None, **arguments: object) -> Settings:
    return read_settings(environment or {}, arguments, default_home=home)


def test_arguments_win_over_environment_over_file(tmp_path: Path) -> None:
    (tmp_path / "memwell.toml").write_text("user_id = 'file'\napp_id = 'file'\nagent_id = 'file'\n", "utf-8")
    settings = read(tmp_path, {"MEMWELL_USER_ID": "env", "MEMWELL_APP_ID": "env", "OTHER": "x"}, user_id="arg")
    assert (settings.user_id, settings.app_id, settings.agent_id) == ("arg", "env", "file")
    assert settings.store_path == tmp_path / "memwell.db"


def test_home_may_come_from_the_environment(tmp_path: Path) -> None:
    settings = read(Path("/nowhere"), {"MEMWELL_HOME": str(tmp_path)}, store=None)
    assert settings.store_path == tmp_path / "memwell.db"


@pytest.mark.parametrize(
    ("environment", "file", "hint"),
    [
        ({"MEMWELL_USERID": "x"}, "", "user_id"),
        ({}, "stroe = 'x'", "store"),
        ({}, "store = 5", "a path"),
        ({}, "user_id = 5", "text"),
        ({}, "no toml at all", "correct or remove"),
    ],
)
def test_what_cannot_be_used_is_named_with_a_remedy(
    tmp_path: Path, environment: dict[str, str], file: str, hint: str
) -> None:
    (tmp_path / "memwell.toml").write_text(file, "utf-8")
    with pytest.raises(ConfigurationError, match=hint):
        read(tmp_path, environment)
