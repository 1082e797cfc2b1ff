# SPDX-License-Identifier: Apache-2.0
"""Which of several registers that are always the same synthesis has put into the place of one that is gone: the one that the
netlist uses where the RTL used that.

What is found is a proposal, like all that matching finds."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ace_flow.prove.gates import Literal

if TYPE_CHECKING:
    from ace_flow.equiv.observe import Key, Observed


class Users:
    """Of what next values and outputs of both machines are made."""

    def __init__(self, observed: Observed, colours: dict[Key, object]):
        """`colours`: what names say."""
        self.graph = observed.graph
        # The ends of logic, by the name that both machines have for them or by register.
        self.ends: dict[object, dict[str, Literal]] = defaultdict(dict)
        for machine in observed.machines:
            for name, literal in machine.outputs():
                self.ends["output", name][machine.prefix] = literal
        for key, colour in colours.items():
            if colour[0] == "net":
                self.ends[colour][key[0]] = observed.next[key][0]
        self.behind: dict[Literal, set[str]] = {}
        self.users: dict[str, list[object]] = defaultdict(list)
        for end, sides in self.ends.items():
            if len(sides) == 2:
                for name in self._behind(sides["rtl"]):
                    self.users[name].append(end)

    def _behind(self, literal: Literal) -> set[str]:
        """The inputs of the logic of a literal."""
        if literal not in self.behind:
            found, seen, pending = set(), set(), [literal >> 1]
            while pending:
                node = pending.pop()
                if node not in seen:
                    seen.add(node)
                    table, inputs = self.graph.nodes[node]
                    if isinstance(table, str):
                        found.add(table)
                    pending += inputs
            self.behind[literal] = found
        return self.behind[literal]

    def instead(self, gone: Key, candidates: dict[object, list[Key]]) -> object:
        """The class that is used instead of a register of the RTL; the first one where nothing tells."""
        votes: Counter = Counter()
        for end in self.users[":".join(gone)]:
            mine, theirs = (self._behind(self.ends[end][prefix]) for prefix in ("rtl", "netlist"))
            for colour, members in candidates.items():
                here = {prefix for prefix, name in members if f"{prefix}:{name}" in (mine | theirs)}
                votes[colour] += here == {"netlist"}
        return max(candidates, key=votes.__getitem__)
