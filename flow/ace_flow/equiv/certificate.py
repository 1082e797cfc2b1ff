# SPDX-License-Identifier: Apache-2.0
"""Points of a graph as clauses, for a solver that writes down why they are equal, and a checker that follows it.

The clauses say what every node is, that one of the points' pairs differs, and nothing else: nothing was swept before.
CaDiCaL (the wheel python-sat) shows that they cannot all be true, with a proof in LRAT; `ace certificate` (crates/ace-lrat)
checks it by propagation, with no search. So neither the solver nor what it does to the clauses is trusted. If they can all be
true, the solver gives values of the inputs; what differs under them is worked out from the graph.
"""

import json
import os
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pysolvers
from pysat.solvers import Cadical195

from ace_flow import tools
from ace_flow.prove.gates import Graph, Literal

CHECKER = tools.ROOT / "crates" / "ace-lrat" / "src" / "lib.rs"
Clause = tuple[int, ...]
Points = dict[str, list[tuple[Literal, Literal]]]
# How many conflicts of the solver all certificates of a configuration may take, and how many one may. One needs about 20,000.
CONFLICTS, TOGETHER = 1_000_000, 4_000_000
# How often the solver is asked for more points that differ.
ROUNDS = 16
# CaDiCaL: proofs as LRAT, as text.
OPTIONS = {"lrat": 1, "binary": 0}


class Certificate(NamedTuple):
    """What was proven together, and what it took."""

    points: int
    clauses: int
    steps: int
    proof_bytes: int
    solver_seconds: float
    checker_seconds: float


class Verdict(NamedTuple):
    """What is known of the points that were asked for."""

    certificates: list[Certificate]
    # Points that are in no certificate, and those of them of which a difference was found.
    unproven: list[str]
    differ: list[str]


@cache
def cover(table: int, count: int) -> tuple[Clause, ...]:
    """Clauses that say that variable 0 is the table of variables 1 to `count`; a literal is a variable + 1, or that
    negated. They are no more than needed, and all together say just that."""
    cubes = [
        (value, dict(enumerate(cares)))
        for value in (0, 1)
        for cares in product((None, 0, 1), repeat=count)
        if all(
            table >> row & 1 == value
            for row in range(1 << count)
            if all(bit in (None, row >> place & 1) for place, bit in enumerate(cares))
        )
    ]
    # Fewest literals first; a cube that adds no row is not needed.
    cubes.sort(key=lambda cube: sum(bit is not None for bit in cube[1].values()))
    done: set[int] = set()
    clauses = []
    for value, cares in cubes:
        rows = {
            row
            for row in range(1 << count)
            if all(bit in (None, row >> place & 1) for place, bit in cares.items())
        }
        if rows - done:
            done |= rows
            literals = [-(place + 2) if bit else place + 2 for place, bit in cares.items() if bit is not None]
            clauses.append((1 if value else -1, *literals))
    return tuple(clauses)


class Clauses:
    """What is asked: whether a pair of these points can differ."""

    def __init__(self, graph: Graph, points: Points):
        self.graph, self.points = graph, points
        wanted = graph.needed(literal for pairs in points.values() for pair in pairs for literal in pair)
        # A node comes after those that it takes; node 0, the constant 0, has variable 1, which no clause has.
        self.variables = {node: number for number, node in enumerate(wanted, 1)}
        self.clauses: list[Clause] = []
        for node in wanted[1:]:
            table, inputs = graph.nodes[node]
            if isinstance(table, int):
                own = [self.variables[one] for one in (node, *inputs)]
                for clause in cover(table, len(inputs)):
                    self._add(own[abs(at) - 1] * (1 if at > 0 else -1) for at in clause)
        # A variable for every pair: if it is 1, they differ.
        pairs = dict.fromkeys(pair for pairs in points.values() for pair in pairs)
        self.count = len(self.variables)
        for one, other in pairs:
            self.count += 1
            a, b = self.literal(one), self.literal(other)
            self._add((-self.count, a, b))
            self._add((-self.count, -a, -b))
        self._add(range(len(self.variables) + 1, self.count + 1))

    def _add(self, literals: Iterable[int]) -> None:
        """A clause without the constant 0; one that is always true says nothing. The solver would make such clauses
        shorter while it takes them, and count them anew."""
        clause = dict.fromkeys(literals)
        clause.pop(1, None)
        if -1 not in clause and not any(-one in clause for one in clause):
            self.clauses.append(tuple(clause))

    def literal(self, literal: Literal) -> int:
        """A literal of the graph in clauses."""
        variable = self.variables[literal >> 1]
        return -variable if literal & 1 else variable

    def write(self, path: Path) -> None:
        """As DIMACS, with the names of the points before them."""
        with path.open("w") as out:
            out.writelines(f"c {name}\n" for name in self.points)
            out.write(f"p cnf {self.count} {len(self.clauses)}\n")
            out.writelines(" ".join(map(str, (*clause, 0))) + "\n" for clause in self.clauses)

    def differ(self, model: Iterable[int]) -> list[str]:
        """The points that differ if the inputs have these values; all else is worked out anew."""
        true = {literal for literal in model if literal > 0}
        values = self.graph.values(self.variables, lambda node: self.variables[node] in true)

        def value(literal: Literal) -> int:
            return values[literal >> 1] ^ (literal & 1)

        return [
            name
            for name, pairs in self.points.items()
            if any(value(one) != value(other) for one, other in pairs)
        ]


def solve(clauses: Clauses, proof: Path, conflicts: int) -> tuple[bool | None, list[int], int]:
    """Whether the clauses can all be true, or nothing if the solver gave up; values with which they are, and how many
    conflicts it took. The proof that they cannot goes into a file."""
    solver = Cadical195()
    solver.configure(OPTIONS)
    # The solver wants its options before it begins to write; `with_proof` would be too early.
    solver.prfile = proof.open("wb+")
    solver.prfp = pysolvers.cadical195_tracepr(solver.cadical, solver.prfile)
    try:
        for clause in clauses.clauses:
            solver.add_clause(clause)
        solver.conf_budget(conflicts)
        found = solver.solve_limited()
        pysolvers.flushpr(solver.prfp)
        return found, (solver.get_model() or []) if found else [], solver.accum_stats()["conflicts"]
    finally:
        solver.delete()


def check(clauses: Path, proof: Path) -> dict:
    """What the checker says of a proof that holds; ToolError if it does not."""
    ace = os.environ.get("ACE_BIN", str(tools.ROOT / "target" / "release" / "ace"))
    return json.loads(tools.output([ace, "certificate", "--json", str(clauses), str(proof)]))


def certify(
    graph: Graph, points: Points, folder: Path, rounds: int = ROUNDS, conflicts: int = CONFLICTS
) -> Verdict:
    """Proves points of a graph with certificates, which stay in the folder as NUMBER.cnf and NUMBER.lrat. What differs is
    left out and the rest asked again, so often; what is too hard together is asked in halves."""
    folder.mkdir(exist_ok=True)
    certificates: list[Certificate] = []
    unproven: list[str] = []
    differ: list[str] = []
    waiting, spent = [points] if points else [], 0
    while waiting:
        now = waiting.pop()
        if spent >= TOGETHER or not rounds:
            unproven += now
            continue
        clauses = Clauses(graph, now)
        files = [folder / f"{len(certificates)}.{kind}" for kind in ("cnf", "lrat")]
        start = tools.cpu_seconds()
        found, model, took = solve(clauses, files[1], conflicts)
        spent += took
        solved = tools.cpu_seconds()
        if found:
            rounds -= 1
            shown = clauses.differ(model)
            if not shown:
                raise tools.ToolError("the solver's values show no difference")
            differ += shown
            unproven += shown
            if rest := {name: pairs for name, pairs in now.items() if name not in shown}:
                waiting.append(rest)
        elif found is None:
            names = list(now)
            if len(names) == 1:
                unproven += names
            else:
                half = len(names) // 2
                waiting += [{name: now[name] for name in some} for some in (names[half:], names[:half])]
        else:
            clauses.write(files[0])
            checked = check(*files)
            if checked["clauses"] != len(clauses.clauses):
                raise tools.ToolError("the checker was given other clauses")
            took_check = tools.cpu_seconds() - solved
            size = files[1].stat().st_size
            figures = (len(now), checked["clauses"], checked["steps"], size)
            certificates.append(Certificate(*figures, round(solved - start, 2), round(took_check, 2)))
    return Verdict(certificates, unproven, differ)
