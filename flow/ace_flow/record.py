# SPDX-License-Identifier: Apache-2.0
"""What a command prints as JSON, kept: python -m ace_flow record RESULT INPUT … -- COMMAND ….

RESULT is a file of results: what the command printed, with the date, the machine, the command and the digest of each
INPUT, by its path in the repository. Pages are rendered from such files, and say so when an input is another one since.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

from ace_flow.cache import publish
from ace_flow.layout import BUILD
from ace_flow.tools import ROOT


def processor() -> str:
    """This machine's processor, as the kernel names it, and how many of it there are."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{names[0]}, {len(names)} processors" if names else f"{platform.machine()}, {os.cpu_count()}"


def write(result: Path, command: str, inputs: list[str], values: dict) -> None:
    """Writes a file of results, whole or not at all."""
    value = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": processor(),
        "command": command,
        "inputs": {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in sorted(inputs)},
        **values,
    }
    BUILD.mkdir(parents=True, exist_ok=True)
    part = BUILD / f"{result.name}.part"
    part.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    publish(part, result)
    result.chmod(0o644)


def main() -> int:
    """Runs the command and keeps what it printed."""
    arguments, command = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("result", type=Path, help="the file of results")
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="what it is of, from the repository's top")
    found = parser.parse_args(arguments)
    if not command:
        parser.error("which command? It stands behind `--`")
    ended = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE)
    if ended.returncode != 0:
        print(f"error: {shlex.join(command)} ended with {ended.returncode}", file=sys.stderr)
        return 1
    try:
        said = [str(found.result), *found.inputs, "--", *command]
        write(
            ROOT / found.result,
            f"python -m ace_flow record {shlex.join(said)}",
            found.inputs,
            json.loads(ended.stdout),
        )
    except (OSError, ValueError) as error:
        print(f"error: {found.result}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
