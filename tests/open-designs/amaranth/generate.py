# SPDX-License-Identifier: Apache-2.0
"""Writes uart.v and flash.v, which stand beside it, from Amaranth (pip install amaranth==0.5.10).

python generate.py
"""

from pathlib import Path

from amaranth.back import verilog
from amaranth.hdl import (
    Array,
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    IOPort,
    Module,
    Mux,
    ResetSignal,
    Signal,
)
from amaranth.lib.fifo import SyncFIFOBuffered


class Uart(Elaboratable):
    """A LED that blinks, and a UART at 115200 baud of 25 MHz that sends back what it gets, letters in the other case,
    through a buffer of 16 bytes."""

    def __init__(self):
        self.led, self.rx, self.tx = Signal(8, name="led"), Signal(name="rx"), Signal(name="tx")
        self.divisor = 217

    def elaborate(self, platform):
        m = Module()
        count = Signal(24)
        m.d.sync += count.eq(count + 1)
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=8, depth=16)
        # Receiver.
        seen = Signal(3, init=7)
        m.d.sync += seen.eq(Cat(self.rx, seen))
        wait, bits, shift = Signal(8), Signal(4), Signal(8)
        with m.FSM(name="receiver"):
            with m.State("IDLE"):
                m.d.sync += wait.eq(self.divisor // 2)
                with m.If(~seen[2]):
                    m.next = "START"
            with m.State("START"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.sync += [wait.eq(self.divisor - 1), bits.eq(0)]
                    m.next = "DATA"
            with m.State("DATA"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.sync += [
                        wait.eq(self.divisor - 1),
                        shift.eq(Cat(shift[1:], seen[2])),
                        bits.eq(bits + 1),
                    ]
                    with m.If(bits == 7):
                        m.next = "STOP"
            with m.State("STOP"):
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.comb += fifo.w_en.eq(seen[2])
                    m.next = "IDLE"
        letter = (shift[5:8] == 3) | (shift[5:8] == 2)
        m.d.comb += fifo.w_data.eq(shift ^ Mux(letter, 0x20, 0))
        # Transmitter.
        pause, left, out = Signal(8), Signal(4), Signal(9, init=0x1FF)
        m.d.comb += self.tx.eq(out[0])
        with m.If(pause != 0):
            m.d.sync += pause.eq(pause - 1)
        with m.Elif(left != 0):
            m.d.sync += [out.eq(Cat(out[1:], Const(1, 1))), left.eq(left - 1), pause.eq(self.divisor - 1)]
        with m.Elif(fifo.r_rdy):
            m.d.comb += fifo.r_en.eq(1)
            m.d.sync += [out.eq(Cat(Const(0, 1), fifo.r_data)), left.eq(10), pause.eq(self.divisor - 1)]
        m.d.comb += self.led.eq(Cat(count[23], shift[:7]))
        return m


class Flash(Elaboratable):
    """Reads a flash memory over four bidirectional lines, and its clock through the pin that only the configuration
    logic has (USRMCLK); a register at every pad, a PLL, the oscillator of the device, and a wire of two directions."""

    def __init__(self):
        self.clock, self.select, self.led = Signal(name="clock"), Signal(name="select"), Signal(4, name="led")
        self.data, self.wire = IOPort(4, name="data"), IOPort(1, name="wire")

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = ClockDomain("sync", reset_less=False)
        m.domains.slow = ClockDomain("slow", reset_less=True)
        locked, fast = Signal(), Signal()
        m.submodules.pll = Instance(
            "EHXPLLL",
            a_ICP_CURRENT="12",
            a_LPF_RESISTOR="8",
            p_CLKI_DIV=1,
            p_CLKFB_DIV=2,
            p_CLKOP_ENABLE="ENABLED",
            p_CLKOP_DIV=12,
            p_CLKOP_CPHASE=5,
            p_FEEDBK_PATH="CLKOP",
            i_CLKI=self.clock,
            i_CLKFB=fast,
            i_RST=0,
            i_STDBY=0,
            o_CLKOP=fast,
            o_LOCK=locked,
        )
        m.submodules.oscillator = Instance("OSCG", p_DIV=32, o_OSC=ClockSignal("slow"))
        m.d.comb += [ClockSignal("sync").eq(fast), ResetSignal("sync").eq(~locked)]
        ticks = Signal(20)
        m.d.slow += ticks.eq(ticks + 1)
        # A nibble every second clock: the command EB, an address of 24 bits, six idle clocks, then data.
        command = Array([*(Const(0xEB >> bit & 1, 4) for bit in reversed(range(8)))])
        step, half, address = Signal(6), Signal(), Signal(24)
        drive, out, got, word = Signal(4), Signal(4), Signal(4), Signal(16)
        chip = Signal(init=1)
        for bit in range(4):
            read_bit, drive_bit, out_bit = Signal(), Signal(), Signal()
            for cell, data, output in (
                ("IFS1P3DX", read_bit, got[bit]),
                ("OFS1P3DX", out[bit], out_bit),
                ("OFS1P3BX", ~drive[bit], drive_bit),
            ):
                reset = {"i_PD" if "BX" in cell else "i_CD": 0}
                m.submodules += Instance(
                    cell, i_D=data, i_SP=1, i_SCLK=ClockSignal("sync"), o_Q=output, **reset
                )
            m.submodules += Instance("BB", i_I=out_bit, i_T=drive_bit, o_O=read_bit, io_B=self.data[bit])
        m.submodules += Instance("USRMCLK", i_USRMCLKI=half & ~chip, i_USRMCLKTS=0)
        m.d.sync += half.eq(~half)
        with m.If(half):
            m.d.sync += step.eq(step + 1)
            with m.If(step < 8):
                m.d.comb += [drive.eq(1), out.eq(command[step[:3]])]
            with m.Elif(step < 14):
                m.d.comb += [drive.eq(15), out.eq(address.word_select((13 - step)[:3], 4))]
            with m.Elif(step >= 20):
                m.d.sync += word.eq(Cat(got, word[:12]))
            with m.If(step == 36):
                m.d.sync += [step.eq(0), address.eq(address + 2)]
            m.d.sync += chip.eq(step == 36)
        m.d.comb += self.select.eq(chip)
        # One wire: pulled low for a while, then read.
        level = Signal()
        m.submodules += Instance("BB", i_I=0, i_T=~ticks[19] | ticks[5], o_O=level, io_B=self.wire)
        seen = Signal(2)
        m.d.sync += seen.eq(Cat(level, seen))
        m.d.comb += self.led.eq(Cat(word[12:15] ^ word[:3], seen[1]))
        return m


if __name__ == "__main__":
    here = Path(__file__).parent
    uart, flash = Uart(), Flash()
    for name, top, ports in (
        ("uart", uart, [uart.led, uart.rx, uart.tx]),
        ("flash", flash, [flash.clock, flash.select, flash.led, flash.data, flash.wire]),
    ):
        (here / f"{name}.v").write_text(
            verilog.convert(top, name=name, ports=ports, strip_internal_attrs=True, emit_src=False)
        )
