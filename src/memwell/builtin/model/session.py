"""How onnxruntime is asked to run the graphs of the package."""

from __future__ import annotations

import os
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import Any

from memwell.engine.machine import cores

_MOST_THREADS = 4
# Level of onnxruntime's log from which it writes to standard error.
_ERRORS = 3


def runtime() -> Any:
    """The ``onnxruntime`` module. From its import on it would report its use to its makers and keep a file about it."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime


def session_options() -> Any:
    """``onnxruntime.SessionOptions`` for a guest on someone's machine: few threads, quiet, nothing kept."""
    options = runtime().SessionOptions()
    options.log_severity_level = _ERRORS
    options.intra_op_num_threads = min(_MOST_THREADS, cores())
    # Threads that spin while they wait fight over the cores as soon as anything else runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Kept memory makes nothing faster here, and long texts would leave hundreds of megabytes of it behind.
    options.enable_cpu_mem_arena = False
    return options


def open_session(graph: Traversable, options: Any) -> Any:
    """An ``onnxruntime.InferenceSession`` on a graph file."""
    with as_file(graph) as path:
        return runtime().InferenceSession(path, options, providers=["CPUExecutionProvider"])
