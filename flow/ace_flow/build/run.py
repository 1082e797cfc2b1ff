# SPDX-License-Identifier: Apache-2.0
"""Builds configurations: python -m ace_flow build [--set demo | NAME …] [--seeds N] [--netlists which] [--models].

What the committed library holds as the sources are now is taken out of it; only the rest is placed and routed. Of what
is taken out, --netlists says which netlists are made anew, held against the library's, proven and simulated: a fifth,
which the commit chooses, all, those without a proof in the library, or none.

Takes the lock of build/, so that a second run in the same checkout waits, and hands over to Snakemake. The
lock belongs to the process: a run that was killed leaves none behind.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ace_flow import cache, configurations, tools
from ace_flow.build import library_cache
from ace_flow.layout import BUILD, CONFIGURATIONS, Places
from ace_flow.tools import ROOT

LARGEST_CHECKED_FILE = 1 << 30


def choose(table: dict[str, configurations.Configuration], names: list[str], group: str | None) -> list[str]:
    """The names asked for, by name, by set, or all."""
    for name in names:
        if name not in table:
            raise configurations.ConfigurationError(
                f"{configurations.TABLE}: no configuration {name!r}; there are {', '.join(table)}"
            )
    if names:
        return names
    return [name for name, row in table.items() if group is None or group in row.sets]


def discard_spoiled(folder: Path) -> list[Path]:
    """Removes what is no longer as the manifest in `folder` says, so that it is made again: an artefact that was
    altered has no changed input, and Snakemake would keep it."""
    try:
        files = json.loads((folder / "manifest.json").read_text())["files"].values()
        listed = [(folder / entry["path"], entry["sha256"]) for entry in files]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # no manifest, or none that can be read: the flow writes it
    spoiled = [
        path
        for path, digest in listed
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != digest
    ]
    for path in spoiled:
        path.unlink()
    return spoiled


def take_out(
    rows: list[configurations.Configuration],
    seeds: int,
    ace: str,
    unpinned: bool = False,
    renewed: frozenset[str] = frozenset(),
) -> list[str]:
    """Unpacks the library; the names of the rows that it holds as they are now, or whose sources may have changed.
    Says what it came to."""
    path = library_cache.library()
    if path is None:
        return []
    library_cache.unpack(path, ace)
    found = library_cache.find(rows, seeds, unpinned, renewed)
    missing = [row.name for row in rows if row.name not in found]
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    print(
        f"{len(found)} of {len(rows)} configurations are in {place}{' as their sources are now' if not renewed else ''}",
        flush=True,
    )
    if missing:
        print(f"built from their sources: {', '.join(missing)}", flush=True)
    return found


def commit() -> str:
    """The commit that is checked out; of no repository, the library stands for it."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        path = library_cache.library()
        return "0" if path is None else tools.sha256(path)


def a_fifth(rows: list[configurations.Configuration], chosen_by: str) -> list[str]:
    """A fifth of the rows, or a little more, in their order: whole domains, in the order of a digest of their names
    and of what chooses."""
    domains: dict[str, list[str]] = {}
    for row in rows:
        domains.setdefault(row.of or row.name, []).append(row.name)
    chosen: set[str] = set()
    for name in sorted(domains, key=lambda name: hashlib.sha256(f"{chosen_by} {name}".encode()).digest()):
        if 5 * len(chosen) >= len(rows):
            break
        chosen.update(domains[name])
    return [row.name for row in rows if row.name in chosen]


def netlists(which: str, rows: list[configurations.Configuration], chosen_by: str) -> list[str]:
    """The rows, of those that the library holds, of which netlists are made. Says which a commit has chosen."""
    if which in ("all", "none"):
        return [row.name for row in rows] if which == "all" else []
    unproven = [
        row.name for row in rows if not library_cache.Places(row.name).proven(with_tie=which == "unproven")
    ]
    if which == "unproven":
        return unproven
    fifth = a_fifth([row for row in rows if row.name not in unproven], chosen_by)
    if fifth:
        print(
            f"netlists of {len(fifth)} of them are made anew, held against the library's, proven and simulated "
            f"(--netlists all: of all; --commit: others), chosen by {chosen_by}: {', '.join(fifth)}",
            flush=True,
        )
    return [row.name for row in rows if row.name in {*unproven, *fifth}]


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Holds the lock of build/, for as long as the process lives at most."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another run builds configurations in this checkout; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def report_proofs(rows: list[configurations.Configuration]) -> None:
    """Says which rows of the library have a proof that their bits are their netlist, and which have none."""
    wanted = [row.name for row in rows if "library" in row.sets]
    places = {name: Places(name) for name in wanted}
    missing = [n for n in wanted if not library_cache.proves(places[n].proof, places[n].manifest)]
    if wanted:
        print(f"{len(wanted) - len(missing)} of {len(wanted)} have a proof that their bits are their netlist")
    if missing:
        print(f"without proof: {', '.join(missing)}")


def snakemake(
    names: list[str],
    settings: dict[str, str | int],
    jobs: int,
    targets: list[str],
    options: tuple[str, ...] = (),
) -> int:
    """Runs Snakemake over the flow, with more of its own options if need be; its exit code."""
    command = [
        sys.executable,
        "-m",
        "ace_flow",
        "snake",
        "--snakefile",
        "flow/Snakefile",
        "--cores",
        str(jobs),
    ]
    command += ["--logger", "ace", "--nolock", "--rerun-incomplete", "--keep-going"]
    command += ["--max-checksum-file-size", str(LARGEST_CHECKED_FILE)]
    command += [*options, "--config", f"names={','.join(names)}"]
    command += [*(f"{key}={value}" for key, value in settings.items()), "--", *targets]
    environment = os.environ | {
        "PYTHONPATH": str(tools.FLOW),
        "PYTHONDONTWRITEBYTECODE": "1",
        "YOWASP_CACHE_DIR": os.environ.get("YOWASP_CACHE_DIR", str(ROOT / ".venv" / "yowasp")),
    }
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="configurations; default: all of the set")
    parser.add_argument("--set", dest="group", choices=configurations.SETS)
    parser.add_argument("--seeds", type=int, default=1, help="place and route with so many seeds each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--models", action="store_true", help="only the simulation models")
    parser.add_argument(
        "--only-netlists", action="store_true", help="only the netlists of synthesis, of the RTL as it is"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="place and route everything, whatever the library holds"
    )
    parser.add_argument(
        "--renew",
        action="store_true",
        help="take over from the library what has other sources there but comes to the same netlist; another netlist "
        "is an error",
    )
    parser.add_argument(
        "--netlists",
        choices=("all", "fifth", "unproven", "none"),
        default="all",
        help="of which rows that the library holds netlists are made, proven and simulated (default: all)",
    )
    parser.add_argument("--commit", help="what chooses the fifth (default: the commit that is checked out)")
    parser.add_argument(
        "--unpinned", action="store_true", help="measure what the places of kept LUTs cost: twice the routes"
    )
    parser.add_argument("--list", action="store_true", help="only print the names of these rows")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        table = configurations.load()
        names = choose(table, arguments.names, arguments.group)
        most = min(len(table[name].seeds) for name in names)
        if not 1 <= arguments.seeds <= most:
            raise configurations.ConfigurationError(f"--seeds {arguments.seeds}: 1 to {most} are possible")
    except configurations.ConfigurationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(names))
        return 0
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    part = arguments.models or arguments.only_netlists
    if not part and not os.path.exists(ROOT / ace):
        print(
            f"error: {ace} is missing (it inspects bitstreams): run `cargo build --release`", file=sys.stderr
        )
        return 2
    with alone():
        cache.prune()
        for name in names:
            for path in discard_spoiled(CONFIGURATIONS / name):
                print(f"{path} is not the file in its manifest any more: made anew", flush=True)
        rows = [table[name] for name in names]
        try:
            renewed = frozenset(names if arguments.renew else ())
            found = (
                []
                if arguments.fresh or part
                else take_out(rows, arguments.seeds, ace, arguments.unpinned, renewed)
            )
        except tools.ToolError as error:
            print(
                f"error: {error}\n--fresh builds without the library; "
                f"{library_cache.VARIABLE} names another one, empty for none",
                file=sys.stderr,
            )
            return 1
        settings = {
            "seeds": arguments.seeds,
            "unpinned": int(arguments.unpinned),
        }
        if found:
            held_rows = [row for row in rows if row.name in found]
            wanted = netlists(arguments.netlists, held_rows, arguments.commit or commit())
            settings |= {"held": ",".join(found)} | ({"netlists": ",".join(wanted)} if wanted else {})
            settings |= {"renewed": ",".join(found)} if renewed else {}
        targets = ["models" if arguments.models else "all"]
        if arguments.only_netlists:
            targets = [str(Places(name).netlist_json.relative_to(ROOT)) for name in names]
        code = snakemake(names, settings, arguments.jobs, targets)
    seconds = time.monotonic() - start
    if code == 0:
        print(f"{len(names)} configurations are up to date ({seconds:.0f} s)")
        if not part:
            report_proofs(rows)
    else:
        print(f"configurations failed after {seconds:.0f} s; the errors stand above", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
