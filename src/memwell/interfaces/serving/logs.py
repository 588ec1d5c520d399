"""Structured logs on standard error: one JSON object a line, with nothing that a user said."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from memwell.telemetry import trace_id

NAME = "memwell.serving"


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, event and the fields given as ``extra={"fields": …}``.

    Of an exception only its type and where it was raised are told: its words may be a user's.
    """

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if (trace := trace_id()) is not None:
            line["trace_id"] = trace
        if record.exc_info and record.exc_info[0] is not None:
            line |= {"error": record.exc_info[0].__name__, "place": _place(record)}
        return json.dumps(line)


def _place(record: logging.LogRecord) -> str:
    trace = record.exc_info[2] if record.exc_info else None
    place = ""
    while trace is not None:
        place = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def log_to_stderr(level: str) -> None:
    """Send Memwell's logs from ``level`` on, and the server library's troubles, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name, least in (("memwell", level.upper()), ("uvicorn.error", "WARNING")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(least)
