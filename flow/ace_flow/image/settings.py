# SPDX-License-Identifier: Apache-2.0
"""What an image's bits may say besides its logic: how pads and the device are set, and what registers in pads and the PLL are
told. All of it follows from the board's file, from the netlist, or stands here as nextpnr writes it of what is not in use."""

from __future__ import annotations

import json

from ace_flow import tools
from ace_flow.image.board import Board
from ace_flow.open_designs.boxes import PLL_ATTRIBUTES, number
from ace_flow.open_designs.form import Box
from ace_flow.prove import bitstream

# Registers of the configuration port that no image sets (crates/ace-ecp5-netlist/src/closed.rs).
CONTROL0, USERCODE = 0x4000_0000, 0
# How a device wakes up and which of its configuration pins stay what they are: what nextpnr writes of each design.
SETTINGS = {
    "SYSCONFIG.DONEPHASE": "T3",
    "SYSCONFIG.GSRPHASE": "T2",
    "SYSCONFIG.GWEPHASE": "T2",
    "SYSCONFIG.SLAVE_SPI_PORT": "DISABLE",
    "SYSCONFIG.WAKE_UP": "21",
}
BANK = "BANK.VCCIO"
# What nextpnr sets of a pad that drives and whose file of pins says no pull.
DRIVEN = {"PULLMODE": "DOWN"}
# The registers of a pad in double rate: what of them is in use the pins of the blocks say, the rest is off.
LOGIC = {
    "MODE": "IDDRX1_ODDRX1",
    **dict.fromkeys(("CLKIMUX", "CLKOMUX"), "CLK"),
    **dict.fromkeys(("CEIMUX", "CEOMUX"), "1"),
    **dict.fromkeys(("LSRIMUX", "LSROMUX"), "0"),
    **dict.fromkeys(("FF.INREGMODE", "OUTREG.OUTREGMODE", "TSREG.OUTREGMODE"), "FF"),
    **dict.fromkeys(("FF.REGSET", "OUTREG.REGSET", "TSREG.REGSET", "MTDDRX.REGSET"), "RESET"),
    **dict.fromkeys(("IDDRXN.MODE", "ODDRXN.MODE", "MIDDRX.MODE", "MODDRX.MODE", "MTDDRX.MODE"), "NONE"),
    **dict.fromkeys(("DELAY.OUTDEL", "DELAY.WAIT_FOR_EDGE", "MTDDRX.DQSW_INVERT"), "DISABLED"),
    "MIDDRX_MODDRX.WRCLKMUX": "NONE",
    "CEMUX": "INV",
    "LSRMUX": "LSR",
    "LOADNMUX": "1",
    "IOLTOMUX": "TS",
    "SRMODE": "ASYNC",
    "GSR": "ENABLED",
}
OF_BLOCK = {
    "IDDRX1F": {"LSRIMUX": "LSRMUX"},
    "ODDRX1F": {"LSROMUX": "LSRMUX"},
    "DELAYF": {"LOADNMUX": "LOADN"},
}
# What the netlist does not say of a PLL.
PLL = {
    "CLKI_DIV": 1,
    "CLKFB_DIV": 1,
    **{f"CLKO{output}_DIV": 8 for output in ("P", "S", "S2", "S3")},
    **{f"CLKO{output}_{phase}PHASE": 0 for output in ("P", "S", "S2", "S3") for phase in "CF"},
    **{f"CLKO{output}_ENABLE": "DISABLED" for output in ("S", "S2", "S3")},
    "CLKOP_ENABLE": "ENABLED",
    **{f"CLKO{output}_TRIM_DELAY": 0 for output in "PS"},
    **{f"CLKO{output}_TRIM_POL": "RISING" for output in "PS"},
    **{f"OUTDIVIDER_MUX{letter}": f"DIV{letter}" for letter in "ABCD"},
    "FEEDBK_PATH": "CLKOP",
    "INT_LOCK_STICKY": "ENABLED",
    "PLL_LOCK_MODE": 0,
    **dict.fromkeys(("DPHASE_SOURCE", "INTFB_WAKE", "PLLRST_ENA", "REFIN_RESET"), "DISABLED"),
    **dict.fromkeys(("STDBY_ENABLE", "SYNC_ENABLE"), "DISABLED"),
    **PLL_ATTRIBUTES,
}


class ImageProofError(bitstream.ProofError):
    """The image is not what it is said to be."""


def settings_of(board: Board, reading: dict) -> None:
    """How pads and the device are set has to be what follows from the board's file; raises ImageProofError."""
    if reading["untold"]:
        raise ImageProofError(f"{reading['untold']}: an image is nothing but its memory")
    for name, wanted in (("control0", CONTROL0), ("usercode", USERCODE)):
        if reading[name] != wanted:
            raise ImageProofError(f"{name} is {reading[name]:#010x}, and an image's is {wanted:#010x}")
    if reading["device"] != board.device:
        raise ImageProofError(
            f"the bits are of an {reading['device']}, and {board.name} has an {board.device}"
        )
    if unexplained := reading["unexplained"]:
        raise ImageProofError(
            f"nothing that the circuit rests on explains {len(unexplained)} bits, first {unexplained[0]}"
        )
    told = {name: (pin, ball) for pin in board.pins for name, ball in pin.bits()}
    seen = {pad["port"]: pad for pad in reading["pads"]}
    if lost := sorted(told.keys() ^ seen.keys()):
        whose = (
            "has no pad in the bits"
            if lost[0] in told
            else "is in use, and the board's file does not name it"
        )
        raise ImageProofError(f"{lost[0]} {whose}")
    banks = set()
    for name, pad in seen.items():
        pin, ball = told[name]
        wanted = {key: value for key, value in pin.settings.items() if key != "IO_TYPE"}
        if pad["direction"] == "OUTPUT":
            wanted = DRIVEN | wanted
        if pad["direction"] != "INPUT":
            banks.add(bank_of(board, ball))
        found = {"ball": pad["ball"], "IO_TYPE": pad["io_type"], **pad["attributes"]}
        wanted = {"ball": ball, "IO_TYPE": pin.settings["IO_TYPE"], **wanted}
        if found != wanted:
            some = min(key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key))
            raise ImageProofError(
                f"pad {name}: {some} is {found.get(some, 'not set')} in the bits, and "
                f"{wanted.get(some, 'not set')} in {board.path}"
            )
    whole = {name: value for _, name, value in reading["settings"] if name != BANK}
    if whole != SETTINGS:
        some = min(key for key in whole.keys() | SETTINGS.keys() if whole.get(key) != SETTINGS.get(key))
        raise ImageProofError(f"{some} is {whole.get(some)} in the bits; {SETTINGS.get(some)} is wanted")
    volts = f"{board.bank_volts:g}".replace(".", "V")
    for place, name, value in reading["settings"]:
        if name == BANK and value != volts:
            raise ImageProofError(f"{place}: {name} is {value} in the bits; {volts} is wanted")
    supplied = {place.rpartition("BANKREF")[2] for place, name, _ in reading["settings"] if name == BANK}
    for bank in sorted(banks):
        if str(bank) not in supplied:
            raise ImageProofError(f"bank {bank} has outputs, and its supply is not set to {volts}")


def bank_of(board: Board, ball: str) -> int:
    """The bank of a ball."""
    about = json.loads((tools.trellis_database() / "ECP5" / board.device / "iodb.json").read_text())
    place = about["packages"][board.package][ball]
    keys = ("row", "col", "pio")
    return next(pad["bank"] for pad in about["pio_metadata"] if all(pad[key] == place[key] for key in keys))


def logic_of(board: Board, reading: dict, pairs: list[tuple[str, Box, Box]]) -> None:
    """Registers and delays of pads are set as the blocks at these pads want it, setting by setting."""
    about = json.loads((tools.trellis_database() / "ECP5" / board.device / "iodb.json").read_text())
    balls, own = about["packages"][board.package], board.balls()
    kinds: dict[str, set[str]] = {}
    for _, _, box in pairs:
        kinds.setdefault(box.name.partition("_")[0], set()).add(box.kind)
    for port, found in reading["logic"].items():
        place = "R{row}C{col}{pio}".format(**balls[own[port]])
        wanted = dict(LOGIC)
        for kind in kinds.get(place, ()):
            wanted |= OF_BLOCK.get(kind, {})
        if found != wanted:
            some = min(key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key))
            raise ImageProofError(
                f"pad {port}: {some} of its registers is {found.get(some)} in the bits; {wanted.get(some)} is wanted"
            )


def pll_of(pairs: list[tuple[str, Box, Box]]) -> None:
    """All parameters of PLLs are those of the netlist, or what nextpnr writes where that says nothing; of outputs that nothing
    uses, too."""
    for name, netlist, bits in pairs:
        if bits.kind != "EHXPLLL":
            continue
        for parameter, usual in PLL.items():
            told = netlist.parameters.get(parameter, netlist.attributes.get(parameter))
            wanted = usual if told is None else number(told)
            found = number(bits.parameters.get(parameter, ""))
            if found != wanted:
                raise ImageProofError(f"{name}: {parameter} is {found} in the bits; {wanted} is wanted")
        if strange := sorted(bits.parameters.keys() - PLL.keys()):
            raise ImageProofError(f"{name}: {strange[0]} of the bits is not known")
