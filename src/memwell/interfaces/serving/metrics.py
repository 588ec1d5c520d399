"""Figures for Prometheus: requests as they are answered, and the store at the moment it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from memwell.domain.jobs import JobState
from memwell.interfaces.python.memory import Memory

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The figures of one server."""

    def __init__(self, memory: Memory) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_StoreFigures(memory))
        self._requests = Counter(
            "memwell_requests_total", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "memwell_request_seconds", "Time to answer.", ("method", "route"), buckets=_BUCKETS, registry=self.registry
        )
        self._under_way = Gauge("memwell_requests_under_way", "Requests being answered.", registry=self.registry)

    def began(self) -> None:
        self._under_way.inc()

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        self._under_way.dec()
        known = method if method in ("GET", "POST", "PUT", "DELETE") else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def text(self) -> bytes:
        """All figures in Prometheus' text format."""
        return generate_latest(self.registry)


class _StoreFigures(Collector):
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def collect(self) -> Iterable[Metric]:
        status = self._memory.status()
        figures = status.figures
        by_state = GaugeMetricFamily("memwell_memories", "Memories by state.", labels=["state"])
        for state, count in figures["by_state"].items():
            by_state.add_metric([state], count)
        yield by_state
        jobs = GaugeMetricFamily("memwell_jobs", "Unfinished jobs by state.", labels=["state"])
        for job_state in JobState:
            if job_state is not JobState.DONE:
                jobs.add_metric([job_state], figures["jobs"].get(job_state, 0))
        yield jobs
        age = figures["oldest_job_seconds"]
        yield GaugeMetricFamily("memwell_oldest_job_seconds", "Age of the oldest job that waits.", value=age)
        yield from _spending(figures["calls"])
        for name in ("scopes", "evidence", "unformed", "bytes"):
            yield GaugeMetricFamily(f"memwell_{name}", f"{name.capitalize()} in the store.", value=figures[name])
        yield GaugeMetricFamily(
            "memwell_indexed_ratio", "Share of records with vectors of the embedder in use.", value=status.indexed
        )


def _spending(calls: Mapping[str, Mapping[str, float]]) -> Iterable[Metric]:
    asked = CounterMetricFamily("memwell_model_calls", "Calls of model endpoints.", labels=["model", "outcome"])
    tokens = CounterMetricFamily("memwell_model_tokens", "Tokens of model endpoints.", labels=["model", "direction"])
    for model, totals in calls.items():
        asked.add_metric([model, "failed"], totals["failed"])
        asked.add_metric([model, "answered"], totals["calls"] - totals["failed"])
        tokens.add_metric([model, "in"], totals["tokens_in"])
        tokens.add_metric([model, "out"], totals["tokens_out"])
    return asked, tokens
