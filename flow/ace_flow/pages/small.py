# SPDX-License-Identifier: Apache-2.0
"""What the library would take in small streams: python -m ace_flow small-library.

The library is recoded in a folder of its own under a key that nobody keeps, and `ace library stats` prints it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ace_flow import tools
from ace_flow.build import library_cache
from ace_flow.tools import ROOT


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    if (library := library_cache.library()) is None:
        print(f"error: {library_cache.DEFAULT} is missing", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        key, small = str(Path(folder) / "key"), str(Path(folder) / "small.lib")
        try:
            # Which versions were seen of that key nobody need remember.
            os.environ["XDG_STATE_HOME"] = folder
            tools.output([ace, "library", "keygen", key])
            recode = ["--from", str(library), "--library", small, "--format", "small", "--secret", key]
            tools.output([ace, "library", "recode", *recode])
        except tools.ToolError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        environment = {**os.environ, "ACE_LIBRARY_KEY": f"{key}.pub"}
        stats = [ace, "library", "stats", "--library", small, "--format", "md"]
        return subprocess.run(stats, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
