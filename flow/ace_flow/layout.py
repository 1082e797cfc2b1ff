# SPDX-License-Identifier: Apache-2.0
"""Where things lie below build/."""

from pathlib import Path

from ace_flow.tools import ROOT

BUILD = ROOT / "build"
CONFIGURATIONS = BUILD / "configurations"
RUNTIME = BUILD / "runtime" / "verilated.o"
READY = BUILD / "runtime" / "tools.txt"


class Places:
    """The files of one configuration."""

    def __init__(self, name: str, below: Path = CONFIGURATIONS):
        self.folder = below / name
        self.netlist_json = self.folder / "netlist.json"
        # The command of the flow that makes it.
        self.makes = f"build --only-netlists {name}"
        self.netlist_verilog = self.folder / "netlist.v"
        self.area = self.folder / "area.json"
        # Of a variant: its base's placed and routed design with other contents.
        self.filled = self.folder / "filled.config"
        self.bitstream = self.folder / f"{name}.bit"
        self.model = self.folder / f"lib{name}.so"
        # What the model was made of, and what that took.
        self.model_about = self.folder / "model.json"
        self.netlist_model = self.folder / f"lib{name}_netlist.so"
        self.cycles = self.folder / "cycles.json"
        self.memory = self.folder / "memory.json"
        # That the bits are the netlist; and the record of the whole, with what ties the netlist to the RTL.
        self.bits_proof = self.folder / "bits-proof.json"
        self.proof = self.folder / "proof.json"
        self.manifest = self.folder / "manifest.json"

    def config(self, seed: int) -> Path:
        """The routed design of one seed."""
        return self.folder / f"route-{seed}.config"

    def route(self, seed: int) -> Path:
        """What nextpnr reports of one seed."""
        return self.folder / f"route-{seed}.json"

    def unpinned(self, seed: int) -> Path:
        """What nextpnr reports of one seed if kept LUTs go wherever it puts them."""
        return self.folder / f"unpinned-{seed}.json"

    def sweep(self, device: str, seed: int) -> Path:
        """What nextpnr reports of one seed on one part, in a sweep."""
        return BUILD / "sweeps" / self.folder.name / f"{device}-{seed}.json"

    def routed(self, seed: int) -> Path:
        """What nextpnr has placed and routed, of a row that has variants."""
        return self.folder / f"routed-{seed}.json.gz"

    def log(self, step: str) -> Path:
        """The log of a step."""
        return self.folder / "log" / f"{step}.log"
