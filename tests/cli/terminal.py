"""Commands on a terminal of some width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


def on_terminal(
    command: str | Sequence[str], *, width: int, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Exit code of a command, in a shell where it is text, and all that it shows on a terminal ``width`` columns wide.

    Args:
        environment: what it runs in, this process's where omitted; the size and colours it may set do not count.
    """
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    shown = b""
    with subprocess.Popen(
        command,
        shell=isinstance(command, str),
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**kept, "TERM": "xterm"},
    ) as process:
        os.close(inner)
        with suppress(OSError):  # Linux reports the closed terminal as an error
            while part := os.read(outer, 65_536):
                shown += part
    os.close(outer)
    return process.returncode, _CONTROL.sub("", shown.decode())
