"""The verb status: figures of a store or a server, once or again and again."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.options import Json, StorePath, needs_extra, opened
from memwell.interfaces.cli.output import figures_table, live, print_json, print_table_of


def status(
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="SECONDS", min=0.1, help="Show them every so often, until Ctrl-C."),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="Of this server instead of a store.")] = None,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="File that holds the server's API key.")] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Show the figures of the store, and what each says."""
    with _source(store, url, key_file) as ask:
        if watch is None:
            figures = ask()
            print_json(figures) if as_json else print_table_of(_table(figures))
        else:
            _watch(ask, watch, as_json)


def _watch(ask: Callable[[], Mapping[str, Any]], seconds: float, as_json: bool) -> None:
    if as_json:
        while True:
            print_json(ask())
            time.sleep(seconds)
    with live() as show:
        while True:
            show(_table(ask()))
            time.sleep(seconds)


@contextmanager
def _source(store: Path | None, url: str | None, key_file: Path | None) -> Iterator[Callable[[], Mapping[str, Any]]]:
    """A function that gives the figures at the moment."""
    if url is None:
        with opened(store) as memory:
            yield lambda: memory.status().to_dict()
        return
    needs_extra("client", "httpx", "pydantic")
    from memwell.interfaces.client.sync import Client

    with Client(url, api_key=None if key_file is None else _key(key_file)) as client:
        yield lambda: client.status().to_dict()


def _key(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r}: {error}", remedy="name a file that holds the key") from None


def _table(figures: Mapping[str, Any]) -> Any:
    words = tomllib.loads(files("memwell.interfaces.cli").joinpath("status.toml").read_text(encoding="utf-8"))
    return figures_table(
        [(name.replace("_", " "), _shown(name, value), words.get(name, "")) for name, value in figures.items()]
    )


def _shown(name: str, value: Any) -> str:
    if name == "indexed":
        return f"{value:.0%}"
    if name == "bytes":
        return f"{value / 1_000_000:,.1f} MB"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(key, item)}" for key, item in value.items()) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
