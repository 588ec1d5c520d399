"""Spans and figures, as the real SDK of OpenTelemetry exports them, and logs: ids and codes, never words."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memwell import Memory, MemwellError
from memwell.domain.jobs import ATTEMPTS
from memwell.interfaces.rest.app import build_app
from memwell.interfaces.serving.keys import KeyFolder
from memwell.interfaces.serving.logs import JsonLines
from memwell.testing.doubles import FakeClock
from memwell.testing.scripted import EMBEDDINGS, Reply, ScriptedServer
from tests.interfaces.servers import environment

SECRET = "Xyzzy-4711"


@pytest.fixture(scope="module")
def set_up() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """OpenTelemetry as a program sets it up, once for a process."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):  # one can be set once in a process; a snippet of the docs does so too
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    metrics.set_meter_provider(MeterProvider([reader]))
    return exporter, reader


@pytest.fixture
def exporter(set_up: tuple[InMemorySpanExporter, InMemoryMetricReader]) -> Iterator[InMemorySpanExporter]:
    set_up[0].clear()
    yield set_up[0]
    set_up[0].clear()


def spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_every_call_is_a_span(memory: Memory, exporter: InMemorySpanExporter) -> None:
    memory.add(f"My password is {SECRET}. I live in Lyon.")
    memory.search(f"{SECRET} in Lyon?")
    memory.preview_forget(everything=True)
    memory.export_bundle(Path(memory.status().location).with_suffix(".bundle"))
    with pytest.raises(MemwellError):
        memory.get(f"mem_{SECRET}")
    found = spans(exporter)
    assert {*found} == {
        f"memwell.{name}" for name in ("add", "search", "preview_forget", "status", "export_bundle", "get")
    }
    added = dict(found["memwell.add"].attributes or {})
    assert (added["memwell.status"], added["memwell.evidence"]) == ("committed", 1)
    assert added["memwell.seconds.decide"]
    assert found["memwell.add"].status.is_unset
    assert found["memwell.get"].status.description == "not_found"
    assert SECRET not in "".join(span.to_json() for span in found.values())


def test_figures_of_calls(
    memory: Memory, exporter: InMemorySpanExporter, set_up: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    memory.search("anything?")
    with pytest.raises(MemwellError):
        memory.search(" ")
    counted = {
        (point.attributes["memwell.operation"], point.attributes["memwell.outcome"]): point.count
        for point in points(set_up[1], "memwell.operation.duration")
    }
    assert counted["search", "done"] >= 1
    assert counted["search", "empty_text"] >= 1


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    assert data is not None
    return [
        point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


def test_jobs_and_calls_of_models_are_spans(
    tmp_path: Path, exporter: InMemorySpanExporter, set_up: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    with ScriptedServer() as endpoint:
        embedding = {"model": "embedder", "base_url": endpoint.url, "dimensions": 32}
        with Memory(tmp_path / "m.db", user_id="ann", settings={"embedding": embedding}, worker=False) as memory:
            memory.add(f"I live in {SECRET}.", wait=False)
            assert memory.jobs.work() == 1
            endpoint.script(EMBEDDINGS, *[Reply(status=400)] * 5)
            memory.add("I like tea.", wait=False)
            memory.jobs.work()
    finished = exporter.get_finished_spans()
    jobs = [span for span in finished if span.name == "memwell.job"]
    calls = [span for span in finished if span.name == "memwell.model"]
    assert [span.status.description for span in jobs] == [None, "endpoint_refused"]
    assert (jobs[0].attributes or {})["memwell.attempt"] == 1
    assert {(span.attributes or {})["memwell.model"] for span in calls} == {"embedder"}
    assert {span.parent.span_id for span in calls if span.parent} <= {span.context.span_id for span in jobs}
    assert any(point.attributes["memwell.model"] == "embedder" for point in points(set_up[1], "memwell.model.tokens"))
    assert SECRET not in "".join(span.to_json() for span in finished)


def test_gauges_of_the_queue(tmp_path: Path, set_up: tuple[InMemorySpanExporter, InMemoryMetricReader]) -> None:
    """One figure for all stores of the process, and none of one that is closed."""

    def gauges() -> dict[str, float]:
        names = ("waiting", "failed", "oldest")
        found = {name: points(set_up[1], f"memwell.jobs.{name}") for name in names}
        return {name: point.value for name, (point,) in found.items()}

    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    with ScriptedServer() as endpoint, Memory(tmp_path / "other.db", user_id="bob", worker=False) as other:
        embedding = {"model": "embedder", "base_url": endpoint.url, "dimensions": 32}
        settings = {"embedding": embedding}
        with Memory(tmp_path / "m.db", user_id="ann", settings=settings, clock=clock, worker=False) as memory:
            assert gauges() == {"waiting": 0, "failed": 0, "oldest": 0}
            memory.add("I live in Lyon.", wait=False)
            clock.advance(timedelta(seconds=40))
            memory.add("I like tea.", wait=False)
            other.add("I like maps.", wait=False)
            clock.advance(timedelta(seconds=2))
            assert (gauges()["waiting"], gauges()["failed"]) == (3, 0)
            assert gauges()["oldest"] == memory.status().to_dict()["oldest_job_seconds"] == 42
            endpoint.script(EMBEDDINGS, *[Reply(status=400)] * 100)
            for _ in range(ATTEMPTS):
                memory.jobs.work()
                clock.advance(timedelta(minutes=10))
            assert (gauges()["waiting"], gauges()["failed"]) == (1, 2)
            assert memory.status().to_dict()["oldest_job_seconds"] == 0
        assert gauges()["failed"] == 0
    assert not points(set_up[1], "memwell.jobs.waiting")


def test_a_request_belongs_to_the_trace_of_who_made_it(memory: Memory, exporter: InMemorySpanExporter) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(JsonLines().format(record))

    log = logging.getLogger("memwell.serving")
    handler = Kept()
    log.addHandler(handler)
    log.setLevel("INFO")

    async def story() -> None:
        app = build_app(memory, KeyFolder(Path(memory.status().location)), hosts=["x"])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http:
            headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
            body = {"query": SECRET, "user_id": "ann"}
            assert (await http.post("/v1/memories/search", json=body, headers=headers)).status_code == 200

    try:
        asyncio.run(story())
    finally:
        log.removeHandler(handler)
        log.setLevel("NOTSET")
    found = spans(exporter)
    request, search = found["memwell.request"], found["memwell.search"]
    assert f"{request.context.trace_id:032x}" == f"{search.context.trace_id:032x}" == "a" * 32
    assert {*found} == {"memwell.request", "memwell.search", "memwell.status"}  # none of the web framework's own
    assert search.parent is not None
    assert search.parent.span_id == request.context.span_id
    attributes = dict(request.attributes or {})
    assert (attributes["memwell.route"], attributes["memwell.status"]) == ("/v1/memories/search", 200)
    (line,) = lines
    assert json.loads(line)["trace_id"] == "a" * 32
    assert SECRET not in line


def test_calls_are_in_the_debug_log_without_words(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "memwell"):
        memory.add(f"I live in {SECRET}.")
        with pytest.raises(MemwellError):
            memory.get(SECRET)
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [(line["use_case"], line["outcome"]) for line in lines] == [("add", "done"), ("get", "not_found")]
    assert all(line["ms"] >= 0 for line in lines)
    assert SECRET not in str(lines)


def test_without_a_program_that_wants_it_nothing_of_opentelemetry_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; from memwell import Memory\n"
        "with Memory(sys.argv[1], user_id='ann') as memory: memory.add('I live in Lyon.')\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m.db")],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
