# SPDX-License-Identifier: Apache-2.0
"""The version, which Cargo.toml has under [workspace.package], in every other file that repeats it: python -m ace_flow version.

--check writes nothing and names what differs. `python -m ace_flow cores` writes ace.core, cargo its lock files, and whoever
releases the top of CHANGELOG.md; these are looked at as well.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

from ace_flow.tools import ROOT

# A file, and a pattern whose second group is the version.
WRITTEN = {
    # Crates that others may use without the rest.
    "Cargo.toml": re.compile(r'^(ace-[\w-]+ = \{ path = "[^"]+", version = ")([^"]+)(?=")', re.MULTILINE),
    "flow/pyproject.toml": re.compile(r'^(version = ")([^"]+)(?=")', re.MULTILINE),
    "CITATION.cff": re.compile(r"^(version: )(\S+)", re.MULTILINE),
}
READ = {
    "ace.core": (re.compile(r"^(name: ace:crypto:slots:)(\S+)", re.MULTILINE), "`python -m ace_flow cores`"),
    "Cargo.lock": (
        re.compile(r'^(name = "ace"\nversion = ")([^"]+)', re.MULTILINE),
        "`cargo update -w --offline`",
    ),
    "tests/fuzz/Cargo.lock": (
        re.compile(r'^(name = "ace-ipsec"\nversion = ")([^"]+)', re.MULTILINE),
        "`cargo update -w --offline` there",
    ),
    "CHANGELOG.md": (
        re.compile(r"\A(.*?^## )([^\n]+)", re.MULTILINE | re.DOTALL),
        "its first heading says what changed",
    ),
}


def version(root: Path = ROOT) -> str:
    """The one that counts."""
    return tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def write(root: Path = ROOT) -> list[str]:
    """Writes it; the files that had another one."""
    now, changed = version(root), []
    for name, pattern in WRITTEN.items():
        text = (root / name).read_text()
        new = pattern.sub(rf"\g<1>{now}", text)
        if new != text:
            (root / name).write_text(new)
            changed.append(name)
    return changed


def other(root: Path = ROOT) -> list[str]:
    """Where another version stands, and what writes it there."""
    now, found = version(root), []
    patterns = {name: (pattern, "`python -m ace_flow version`") for name, pattern in WRITTEN.items()} | READ
    for name, (pattern, remedy) in patterns.items():
        text = (root / name).read_text()
        matches = list(pattern.finditer(text))
        if not matches:
            found.append(f"{name}: no version where one is looked for (flow/ace_flow/version.py)")
        for match in matches:
            if match[2].strip() != now:
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(f"{name}:{line}: {match[2]}, and Cargo.toml says {now}: {remedy}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail with what differs")
    parser.add_argument("--print", action="store_true", help="only print it")
    arguments = parser.parse_args()
    if arguments.print:
        print(version())
        return 0
    for name in [] if arguments.check else write():
        print(name)
    left = other()
    for line in left:
        print(line, file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
