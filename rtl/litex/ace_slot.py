# SPDX-License-Identifier: Apache-2.0
"""A slot inside LiteX: two AXI streams of 64 bits, `sink` for requests and `source` for responses (docs/slot.md).

    from ace_slot import AceSlot
    self.aes = AceSlot("aes_slot", platform)
    self.comb += [dma_reader.source.connect(self.aes.sink), self.aes.source.connect(dma_writer.sink)]

Frames are whole beats, so `keep` is not looked at and is all ones in answers. The slot runs in the clock domain that is named,
and that domain's reset makes it forget its key.
"""

from pathlib import Path

import yaml
from litex.gen import ClockDomain, ClockSignal, Instance, LiteXModule, ResetSignal, Signal
from litex.gen.fhdl import verilog
from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import AXIStreamInterface

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 64


def sources(top: str) -> list[Path]:
    """The files of a slot, packages first: FuseSoC's ace.core lists them."""
    filesets = yaml.safe_load((ROOT / "ace.core").read_text().removeprefix("CAPI=2:\n"))["filesets"]
    if top not in filesets:
        raise ValueError(f"{top}: no such slot; ace.core has {', '.join(sorted(filesets))}")
    return [ROOT / file for file in filesets[top]["files"] if isinstance(file, str)]


class AceSlot(LiteXModule):
    """A slot's top by its name, with parameters of its module if there are any (`Modes=…`)."""

    def __init__(self, top, platform=None, clock_domain="sys", **parameters):
        self.sink = sink = AXIStreamInterface(WIDTH, clock_domain=clock_domain)
        self.source = source = AXIStreamInterface(WIDTH, clock_domain=clock_domain)
        self.specials += Instance(
            top,
            **{f"p_{name}": value for name, value in parameters.items()},
            i_clk_i=ClockSignal(clock_domain),
            i_rst_ni=~ResetSignal(clock_domain),
            i_s_axis_tdata=sink.data,
            i_s_axis_tvalid=sink.valid,
            o_s_axis_tready=sink.ready,
            i_s_axis_tlast=sink.last,
            o_m_axis_tdata=source.data,
            o_m_axis_tvalid=source.valid,
            i_m_axis_tready=source.ready,
            o_m_axis_tlast=source.last,
        )
        self.comb += source.keep.eq(2 ** (WIDTH // 8) - 1)
        if platform is not None:
            platform.add_verilog_include_path(str(ROOT / "rtl" / "slot"))
            for file in sources(top):
                platform.add_source(str(file))


class Buffered(LiteXModule):
    """A slot between two FIFOs of LiteX, behind pins that are called as a slot's: what the test simulates."""

    def __init__(self, top):
        self.pins = pins = {
            name: Signal(WIDTH if name.endswith("tdata") else 1, name=name)
            for name in (
                "clk_i",
                "rst_ni",
                *(f"{side}_axis_t{part}" for side in "sm" for part in ("data", "valid", "ready", "last")),
            )
        }
        self.cd_sys = ClockDomain("sys")
        self.slot = AceSlot(top)
        self.into = stream.SyncFIFO([("data", WIDTH)], 4)
        self.out_of = stream.SyncFIFO([("data", WIDTH)], 4)
        self.comb += [
            self.cd_sys.clk.eq(pins["clk_i"]),
            self.cd_sys.rst.eq(~pins["rst_ni"]),
            self.into.sink.data.eq(pins["s_axis_tdata"]),
            self.into.sink.valid.eq(pins["s_axis_tvalid"]),
            self.into.sink.last.eq(pins["s_axis_tlast"]),
            pins["s_axis_tready"].eq(self.into.sink.ready),
            self.into.source.connect(self.slot.sink, omit={"keep"}),
            self.slot.source.connect(self.out_of.sink, omit={"keep", "id", "dest", "user"}),
            pins["m_axis_tdata"].eq(self.out_of.source.data),
            pins["m_axis_tvalid"].eq(self.out_of.source.valid),
            pins["m_axis_tlast"].eq(self.out_of.source.last),
            self.out_of.source.ready.eq(pins["m_axis_tready"]),
        ]


def written(top: str, folder: Path) -> tuple[str, Path]:
    """Writes a buffered slot as Verilog into a folder: the name of its module, and the file."""
    name = f"litex_{top}"
    buffered = Buffered(top)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.v"
    file.write_text(str(verilog.convert(buffered, set(buffered.pins.values()), name=name)))
    return name, file
