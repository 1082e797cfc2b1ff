# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn from: what `ace` prints for machines."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def ace(binary: Path, *arguments: str) -> dict:
    """What a command prints for machines."""
    done = subprocess.run(
        [binary, *arguments, "--json"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"ace {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)
