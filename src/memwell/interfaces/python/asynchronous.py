"""``AsyncMemory``: the engine for asyncio programs, each method of ``Memory`` in a bounded pool of threads."""

from __future__ import annotations

import asyncio
import copy
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from memwell.errors import StorageError
from memwell.interfaces.python.jobs import Jobs
from memwell.interfaces.python.memory import Memory

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8


class _Threaded(Generic[T, P, R]):
    """A method of ``T`` as a coroutine of the same arguments and result."""

    def __init__(self, method: Callable[Concatenate[T, P], R]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: type[_InThreads[T]]) -> Self: ...
    @overload
    def __get__(self, instance: _InThreads[T], owner: type[_InThreads[T]]) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(
        self, instance: _InThreads[T] | None, owner: type[_InThreads[T]]
    ) -> Self | Callable[P, Coroutine[Any, Any, R]]:
        if instance is None:
            return self
        # By name, since what is held may carry the method out in its own way.
        bound: Callable[P, R] = getattr(instance._held, self.method.__name__)

        @functools.wraps(self.method)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            work = functools.partial(bound, *args, **kwargs)
            try:
                done = asyncio.get_running_loop().run_in_executor(instance._threads, work)
            except RuntimeError:  # the pool takes no more work
                raise StorageError("this memory is closed", remedy="open it again") from None
            return await done

        return call


class _InThreads(Generic[T_co]):
    """Something that is held, and the threads in which its methods run."""

    def __init__(self, held: T_co, threads: ThreadPoolExecutor) -> None:
        self._held = held
        self._threads = threads


class AsyncQueue(_InThreads[Jobs]):
    """What ``Jobs`` shows and mends, for asyncio."""

    list = _Threaded(Jobs.list)
    retry = _Threaded(Jobs.retry)


class AsyncJobs(AsyncQueue):
    """``Jobs`` for asyncio."""

    work = _Threaded(Jobs.work)
    run = _Threaded(Jobs.run)


class AsyncCalls(_InThreads[Memory]):
    """What an embedded memory and one on a server have in common, as coroutines."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for the calls that have begun, then release the file or the connections; safe to call twice."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._held.close)

    def scoped(self, *, user_id: str | None = None, app_id: str | None = None, agent_id: str | None = None) -> Self:
        """See ``Memory.scoped``; it shares the threads too."""
        other = copy.copy(self)
        other._held = self._held.scoped(user_id=user_id, app_id=app_id, agent_id=agent_id)
        return other

    add = _Threaded(Memory.add)
    search = _Threaded(Memory.search)
    get = _Threaded(Memory.get)
    list = _Threaded(Memory.list)
    evidence = _Threaded(Memory.evidence)
    people = _Threaded(Memory.people)
    history = _Threaded(Memory.history)
    explain = _Threaded(Memory.explain)
    update = _Threaded(Memory.update)
    delete = _Threaded(Memory.delete)
    resume = _Threaded(Memory.resume)
    status = _Threaded(Memory.status)
    check = _Threaded(Memory.check)
    rebuild = _Threaded(Memory.rebuild)
    reindex = _Threaded(Memory.reindex)
    correct = _Threaded(Memory.correct)
    retract = _Threaded(Memory.retract)
    unarchive = _Threaded(Memory.unarchive)
    mute = _Threaded(Memory.mute)
    unmute = _Threaded(Memory.unmute)
    observe = _Threaded(Memory.observe)
    permit = _Threaded(Memory.permit)
    withdraw = _Threaded(Memory.withdraw)
    preview_forget = _Threaded(Memory.preview_forget)
    forget = _Threaded(Memory.forget)
    receipt = _Threaded(Memory.receipt)
    clean = _Threaded(Memory.clean)
    export_bundle = _Threaded(Memory.export_bundle)
    plan_import = _Threaded(Memory.plan_import)
    apply_import = _Threaded(Memory.apply_import)


class AsyncMemory(AsyncCalls):
    """``Memory`` for asyncio: the same names, arguments, results and errors.

    A cancelled call has either not begun, and then never does, or it runs to its end in its thread; it never stops
    half way. ``close`` waits for those that have begun.

    Args:
        memory: an open ``Memory``; it is closed together with this one.

    Example:
        ``async with AsyncMemory(Memory("notes.db", user_id="alice")) as memory: await memory.add("…")``
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, ThreadPoolExecutor(THREADS, thread_name_prefix="memwell"))

    @property
    def jobs(self) -> AsyncJobs:
        """See ``Memory.jobs``."""
        return AsyncJobs(self._held.jobs, self._threads)

    warm = _Threaded(Memory.warm)
    try_endpoints = _Threaded(Memory.try_endpoints)
