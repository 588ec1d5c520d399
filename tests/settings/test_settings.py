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


def test_model_endpoints_are_read_from_every_place(tmp_path: Path) -> None:
    (tmp_path / "memwell.toml").write_text(
        "[chat]\nmodel = 'file'\nbase_url = 'http://127.0.0.1:1/v1'\n[embedding]\nmodel = 'e'\ndimensions = 64\n"
        "[budget]\ntokens_per_day = 1000\n",
        "utf-8",
    )
    environment = {"MEMWELL_CHAT_MODEL": "env", "MEMWELL_CHAT_TIMEOUT": "2.5", "MEMWELL_JUDGE_PROVIDER": "chat"}
    settings = read(tmp_path, environment, chat={"retries": 0})
    chat = settings.chat
    assert (chat.model, chat.base_url, chat.timeout, chat.retries) == ("env", "http://127.0.0.1:1/v1", 2.5, 0)
    assert (settings.judge.provider, settings.embedding.dimensions) == ("chat", 64)
    assert settings.budget.tokens_per_day == 1000


def test_a_key_may_stand_in_a_variable_of_its_own_and_is_never_shown(tmp_path: Path) -> None:
    settings = read(tmp_path, {"MY_KEY": "sk-secret"}, chat={"model": "m", "api_key_env": "MY_KEY"})
    assert settings.chat.api_key == "sk-secret"
    assert "sk-secret" not in repr(settings)
    with pytest.raises(ConfigurationError, match="MY_KEY"):
        read(tmp_path, chat={"model": "m", "api_key_env": "MY_KEY"})
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, chat={"api_key": ["sk-secret"]})
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "arguments", "hint"),
    [
        ({"MEMWELL_CHAT_MODLE": "x"}, {}, "MEMWELL_CHAT_MODEL"),
        ({}, {"chat": {"modle": "x"}}, r"chat\.model"),
        ({}, {"caht": {"model": "x"}}, "did you mean"),
        ({}, {"chat": "model"}, "unknown"),
        ({"MEMWELL_CHAT_TIMEOUT": "soon"}, {}, "a number from"),
        ({"MEMWELL_CHAT_TIMEOUT": "nan"}, {}, "a number from"),
        ({"MEMWELL_CHAT_RETRIES": "-1"}, {}, "a whole number from 0"),
        ({}, {"embedding": {"dimensions": 0}}, "a whole number from 1"),
        ({}, {"embedding": {"dimensions": 1.5}}, "a whole number from 1"),
        ({}, {"embedding": {"dimensions": True}}, "a whole number from 1"),
        ({"MEMWELL_JUDGE_PROVIDER": "oracle"}, {}, "builtin, chat, jev, decisions"),
    ],
)
def test_unusable_endpoint_settings_are_named(
    tmp_path: Path, environment: dict[str, str], arguments: dict[str, object], hint: str
) -> None:
    with pytest.raises(ConfigurationError, match=hint):
        read(tmp_path, environment, **arguments)
