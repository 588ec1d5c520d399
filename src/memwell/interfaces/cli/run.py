"""Run the command line: turn every ending into an exit code and at most one line of error."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import typer

from memwell.errors import MemwellError
from memwell.interfaces.cli.app import build_app
from memwell.interfaces.cli.exits import ExitCode, StoppedError, exit_code
from memwell.interfaces.cli.output import say
from memwell.interfaces.cli.safe import dump, one_line


def run(arguments: Sequence[str] | None = None) -> int:
    """See ``memwell.interfaces.cli.main``."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal's charset must not end a listing
    as_json = "--json" in given
    try:
        code = build_app(given[0])(given, prog_name="memwell", standalone_mode=False)
        sys.stdout.flush()
    except MemwellError as error:
        return _fail(exit_code(error), error.code, error.message, error.remedy, as_json)
    except typer.TyperException as error:
        return _fail(ExitCode.USAGE, "usage", error.format_message(), "see `memwell --help`", as_json)
    except StoppedError as error:
        return _fail(ExitCode.INTERRUPTED, "interrupted", "interrupted", str(error), as_json)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(as_json)
    except BrokenPipeError:
        _discard_output()  # the reader has gone (``memwell list | head``): that is no error
        return ExitCode.OK
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # errors of files name them; this is the output
            _discard_output()
            message = f"the output cannot be written: {error.strerror}"
            return _fail(ExitCode.OUTPUT, "output", message, "make room there, or send it elsewhere", as_json)
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__} in {place.name}, line {place.lineno}: {error}"
        return _fail(ExitCode.INTERNAL, "internal", message, "this is a fault of Memwell; please report it", as_json)
    if code == ExitCode.INTERRUPTED:  # typer turns an interruption into this code
        return _interrupted(as_json)
    return code if isinstance(code, int) else ExitCode.OK


def _interrupted(as_json: bool) -> int:
    return _fail(ExitCode.INTERRUPTED, "interrupted", "interrupted", "what was acknowledged is stored", as_json)


def _discard_output() -> None:
    """Keep the interpreter from failing once more when it flushes standard output at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(code: ExitCode, name: str, message: str, remedy: str, as_json: bool) -> int:
    with suppress(OSError):  # where the error cannot be shown either, the code must do
        if as_json:
            sys.stderr.write(dump({"error": {"code": name, "message": message, "remedy": remedy}}) + "\n")
        else:
            say(f"error: {one_line(message)} ({one_line(remedy)})")
    return code
