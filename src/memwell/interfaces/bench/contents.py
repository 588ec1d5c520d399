"""All that a user's memories say."""

from __future__ import annotations

from memwell.interfaces.python.memory import Memory

_PAGE = 1000


def contents(memory: Memory, user_id: str, *, include_history: bool = False) -> list[str]:
    """Texts of all current memories of a user, with ``include_history`` also of past ones, newest recorded first."""
    found: list[str] = []
    cursor = None
    while True:
        page = memory.list(user_id=user_id, include_history=include_history, limit=_PAGE, cursor=cursor)
        found.extend(record.content for record in page.memories)
        cursor = page.cursor
        if cursor is None:
            return found
