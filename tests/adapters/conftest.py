"""Servers and memories for the adapters, which take both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interfaces.servers import Running, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running
