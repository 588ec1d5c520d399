"""How servers listen."""

from __future__ import annotations

import asyncio
import socket

from memwell.interfaces.serving.listen import _bound


def test_answers_are_sent_at_once_and_do_not_wait_for_the_client() -> None:
    async def ask() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            taken = writer.get_extra_info("socket")
            found.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with _bound("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(answer, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await asyncio.wait_for(found, 10)

    assert asyncio.run(ask())
