"""``AsyncClient``: ``Memory`` on a server, for asyncio programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import cast

from memwell.interfaces.client.calls import TIMEOUT_SECONDS
from memwell.interfaces.client.sync import Client
from memwell.interfaces.python.asynchronous import AsyncCalls, AsyncQueue
from memwell.interfaces.python.memory import Memory

THREADS = 32  # they wait for the server


class AsyncClient(AsyncCalls):
    """``Client`` for asyncio programs.

    A cancelled call has either not been sent, and then never is, or the server carries it out.

    Args:
        url, api_key, user_id, app_id, agent_id, timeout: as for ``Client``.

    Raises:
        UnreachableError: (from every method) no Memwell server answers there.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        user_id: str | None = None,
        app_id: str | None = None,
        agent_id: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        client = Client(url, api_key=api_key, user_id=user_id, app_id=app_id, agent_id=agent_id, timeout=timeout)
        # A client has the methods of a memory, and a test that they are the same ones.
        super().__init__(cast(Memory, client), ThreadPoolExecutor(THREADS, thread_name_prefix="memwell client"))

    @property
    def jobs(self) -> AsyncQueue:
        """See ``Memory.jobs``."""
        return AsyncQueue(self._held.jobs, self._threads)
