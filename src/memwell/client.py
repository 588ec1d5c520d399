"""Clients of ``memwell serve`` with the methods of ``Memory``: moving from embedded to a server is one line.

>>> from memwell.client import Client
>>> memory = Client("http://127.0.0.1:8765", user_id="alice")
"""

from memwell.interfaces.client.asynchronous import AsyncClient
from memwell.interfaces.client.sync import Client

__all__ = ["AsyncClient", "Client"]
