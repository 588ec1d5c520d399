"""Print what an installation costs: size on disk and time of import. Run it with the installation's own Python."""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

ROUNDS = 5
OWN_TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")  # of the virtual environment, not of Memwell


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def installed_megabytes() -> float:
    site = Path(sysconfig.get_paths()["purelib"])
    return (
        sum(size_of(entry) for entry in site.iterdir() if entry.is_dir() and not entry.name.startswith(OWN_TOOLS)) / 1e6
    )


def milliseconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print((time.perf_counter() - t) * 1e3)"
    rounds = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True) for _ in range(ROUNDS)]
    return statistics.median(float(done.stdout) for done in rounds)


def main() -> None:
    lines = {
        "installed size": f"{installed_megabytes():.0f} MB",
        "import memwell": f"{milliseconds('import memwell'):.0f} ms",
        "from memwell import Memory": f"{milliseconds('from memwell import Memory'):.0f} ms",
    }
    for name, value in lines.items():
        sys.stdout.write(f"{name}: {value}\n")


if __name__ == "__main__":
    main()
