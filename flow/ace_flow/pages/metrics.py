# SPDX-License-Identifier: Apache-2.0
"""The metrics of a gateway, as Markdown: python -m ace_flow metrics.

They are read from crates/ace-gateway/src/page/metrics, where each has its name, its kind and a line of help.
"""

import argparse
import re
import sys

from ace_flow.tools import ROOT

SOURCES = ROOT / "crates" / "ace-gateway" / "src" / "page"
FILES = ("metrics.rs", "metrics/tunnels.rs")
NAME = r'"(?P<name>(?:ace|process)_\w+)"'
# The help stands behind the name, or in the call that comes next.
FAMILY = re.compile(NAME + r'(?:;\s*[\w.]+\(\w+)?,\s*(?:"(?P<kind>gauge|counter)",\s*)?"(?P<help>[^"]*)"')


class MetricsError(Exception):
    """A metric without help; the message names it."""


def families(text: str) -> dict[str, tuple[str, str]]:
    """Kind and help of each, by name."""
    found = {}
    for row in FAMILY.finditer(text):
        kind = row["kind"] or ("counter" if row["name"].endswith("_total") else "gauge")
        found[row["name"]] = (kind, row["help"])
    if without := sorted(set(re.findall(r'"((?:ace|process)_\w+)"', text)) - found.keys()):
        raise MetricsError(f"{SOURCES}: {without[0]} has no line of help behind its name")
    return found


def page(text: str) -> str:
    """A table of all."""
    rows = [f"| `{name}` | {kind} | {words} |" for name, (kind, words) in sorted(families(text).items())]
    return "\n".join(["| series | kind | meaning |", "|---|---|---|", *rows]) + "\n"


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    try:
        print(page("".join((SOURCES / name).read_text() for name in FILES)), end="")
    except MetricsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
