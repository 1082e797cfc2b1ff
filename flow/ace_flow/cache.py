# SPDX-License-Identifier: Apache-2.0
"""Results by content: a step whose inputs, commands and tools are those of an earlier run is not run again.

Snakemake decides by its own records which steps to look at; this store decides which of them have anything to
do. An entry is a folder named after the digest of all that went in, and it appears at once, by a rename: a run
that is killed leaves no half results.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ace_flow.tools import ROOT, sha256

# A change of what steps put into their entries, or of how they work, that their keys do not see.
SCHEMA = 2
UNUSED_DAYS = 14


def store() -> Path:
    """Where entries live."""
    return ROOT / "build" / "cache"


def key_of(step: str, settings: dict, inputs: Iterable[Path]) -> str:
    """The digest of a step: its settings (commands, versions) and, in order, the contents of its inputs."""
    digests = [[Path(p).name, sha256(p)] for p in inputs]
    text = json.dumps([SCHEMA, step, settings, digests], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def publish(source: Path, target: Path) -> None:
    """Copies a file to its place at once, by a rename."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    os.close(handle)
    try:
        shutil.copyfile(source, name)
        os.chmod(name, source.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def cached(
    step: str, settings: dict, inputs: Iterable[Path], outputs: dict[str, Path], work: Callable
) -> bool:
    """Puts the results of a step at `outputs` (name in the entry → place). `work(folder)` has to write files of
    those names into the folder; it is called only if there is no entry yet. True if it was called."""
    inputs = list(inputs)
    key = key_of(step, settings, inputs)
    entry = store() / step / key
    ran = False
    if not all((entry / name).is_file() for name in outputs):
        ran = True
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=entry.parent, prefix=".work-") as folder:
            result = Path(folder) / "result"
            result.mkdir()
            work(result)
            missing = [name for name in outputs if not (result / name).is_file()]
            if missing:
                raise RuntimeError(f"step {step} wrote no {', '.join(missing)}")
            if key_of(step, settings, inputs) != key:
                raise RuntimeError("its inputs changed while it ran; run it again")
            if entry.exists():
                shutil.rmtree(entry)
            os.replace(result, entry)
    os.utime(entry)
    for name, place in outputs.items():
        publish(entry / name, place)
    return ran


def prune() -> None:
    """Removes entries that no run has used for two weeks, and what killed runs have left."""
    now = time.time()
    for folder in store().glob("*/*"):
        age = now - folder.stat().st_mtime
        limit = 3600 if folder.name.startswith(".work-") else UNUSED_DAYS * 86400
        if age > limit:
            shutil.rmtree(folder, ignore_errors=True)
