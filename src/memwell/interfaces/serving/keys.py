"""API keys: one small file each, in a folder beside the store, so that no two processes ever write the same file."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memwell.domain.scope import checked_id
from memwell.engine.ports import Clock
from memwell.errors import AccessError, ConfigurationError, NotFoundError
from memwell.interfaces.usecases.table import Right

_TOKEN = re.compile(r"mw_([0-9a-f]{12})_([\w-]{43})")


@dataclass(frozen=True, slots=True)
class Key:
    """One API key as it is kept: a digest instead of the secret.

    Attributes:
        name: what its owner calls it.
        rights: what it allows.
        apps, users: the only ones it reaches; empty: all.
        digest: SHA-256 of the secret, hexadecimal. The secret has 256 random bits, so a slow hash would add nothing.
        revoked_at: since when it is refused; a revoked key stays, so that revoking the last one does not open the door.
    """

    id: str
    name: str
    rights: frozenset[Right]
    apps: tuple[str, ...]
    users: tuple[str, ...]
    digest: str
    created_at: datetime
    revoked_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """What may be shown: all but the digest."""
        return {
            "id": self.id,
            "name": self.name,
            "rights": sorted(self.rights),
            "apps": list(self.apps),
            "users": list(self.users),
            "created_at": self.created_at.isoformat(),
            "revoked_at": self.revoked_at and self.revoked_at.isoformat(),
        }


class KeyFolder:
    """The keys of one store.

    Args:
        store: the store's file; the keys are in ``<store>.keys`` beside it.
    """

    def __init__(self, store: Path) -> None:
        self.folder = store.with_name(f"{store.name}.keys")

    @property
    def in_force(self) -> bool:
        """Whether a key is asked for at all: once one was made, always."""
        try:
            with os.scandir(self.folder) as entries:
                return any(entry.name.endswith(".json") for entry in entries)
        except FileNotFoundError:
            return False

    def create(
        self, name: str, rights: Iterable[Right], apps: Iterable[str], users: Iterable[str], clock: Clock
    ) -> tuple[Key, str]:
        """A new key and its token, which is shown this once.

        Raises:
            InputError: a name is unusable.
            ConfigurationError: the folder cannot be written.
        """
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        key = Key(
            id=key_id,
            name=checked_id("name", name),
            rights=frozenset(rights),
            apps=tuple(checked_id("app", app) for app in apps),
            users=tuple(checked_id("user", user) for user in users),
            digest=_digest(secret),
            created_at=clock.now(),
        )
        self._write(key)
        return key, f"mw_{key_id}_{secret}"

    def list(self) -> tuple[Key, ...]:
        """All keys, revoked ones too, oldest first."""
        keys = [self._read(path.stem) for path in self.folder.glob("*.json")]
        return tuple(sorted((key for key in keys if key), key=lambda key: (key.created_at, key.id)))

    def revoke(self, key_id: str, clock: Clock) -> Key:
        """Refuse the key from now on, also in servers that are running."""
        key = self._read(key_id) if re.fullmatch("[0-9a-f]{12}", key_id) else None
        if key is None:
            raise NotFoundError(f"no key {key_id!r}", remedy="list the keys with `memwell keys list`")
        if key.revoked_at is None:
            key = replace(key, revoked_at=clock.now())
            self._write(key)
        return key

    def find(self, token: str) -> Key:
        """The key of ``token``.

        Raises:
            AccessError: there is none, it is another, or it was revoked; which of them is not told.
        """
        parts = _TOKEN.fullmatch(token)
        key = self._read(parts[1]) if parts else None
        known = key is not None and parts is not None and hmac.compare_digest(key.digest, _digest(parts[2]))
        if key is None or not known or key.revoked_at is not None:
            raise AccessError("the API key is not valid", remedy="use one of `memwell keys create`", code="wrong_key")
        return key

    def _read(self, key_id: str) -> Key | None:
        try:
            row = json.loads((self.folder / f"{key_id}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return Key(
            id=key_id,
            name=row["name"],
            rights=frozenset(map(Right, row["rights"])),
            apps=tuple(row["apps"]),
            users=tuple(row["users"]),
            digest=row["digest"],
            created_at=datetime.fromisoformat(row["created_at"]),
            revoked_at=row["revoked_at"] and datetime.fromisoformat(row["revoked_at"]),
        )

    def _write(self, key: Key) -> None:
        """Put the whole file in place at once, readable by its owner alone."""
        path = self.folder / f"{key.id}.json"
        draft = path.with_suffix(f".{secrets.token_hex(4)}.draft")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump({**key.to_dict(), "digest": key.digest}, file)
            draft.replace(path)
        except OSError as error:
            raise ConfigurationError(
                f"{self.folder} cannot be written: {error.strerror}", remedy="make it writable"
            ) from None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
