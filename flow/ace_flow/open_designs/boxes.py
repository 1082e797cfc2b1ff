# SPDX-License-Identifier: Apache-2.0
"""Blocks that are not looked into: which there are, which of the RTL is which of the bits, and whether they are told the
same."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ace_flow.open_designs.form import Box, Form
from ace_flow.prove.gates import Signal


class Kind(NamedTuple):
    """A kind of block: its pins, what it is called, and whether what it is given reaches its outputs without a clock."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    called: str = ""
    through: bool = False


PLL_OUTPUTS = ("CLKOP", "CLKOS", "CLKOS2", "CLKOS3")
_PLL_INPUTS = "CLKI CLKFB RST STDBY PHASESEL0 PHASESEL1 PHASEDIR PHASESTEP PHASELOADREG PLLWAKESYNC"
_PLL_INPUTS += " ENCLKOP ENCLKOS ENCLKOS2 ENCLKOS3"
_JTAG = "JTCK JTDI JRSTN JSHIFT JUPDATE JCE1 JCE2 JRTI1 JRTI2"
KINDS = {
    "EHXPLLL": Kind(tuple(_PLL_INPUTS.split()), (*PLL_OUTPUTS, "LOCK", "INTLOCK", "CLKINTFB")),
    "OSCG": Kind((), ("OSC",)),
    "DCCA": Kind(("CLKI", "CE"), ("CLKO",), through=True),
    "USRMCLK": Kind(("USRMCLKI", "USRMCLKTS"), ()),
    "ODDRX1F": Kind(("D0", "D1", "SCLK", "RST"), ("Q",)),
    "IDDRX1F": Kind(("D", "SCLK", "RST"), ("Q0", "Q1")),
    "DELAYF": Kind(("A", "LOADN", "MOVE", "DIRECTION"), ("Z", "CFLAG"), through=True),
    "DELAYG": Kind(("A",), ("Z",), "DELAYF", through=True),
    "JTAGG": Kind(("JTDO1", "JTDO2"), tuple(_JTAG.split())),
}
# Parameters of a PLL that are compared always, and attributes, with their values where nothing is said.
PLL_ALWAYS = (
    "CLKI_DIV",
    "CLKFB_DIV",
    "FEEDBK_PATH",
    "PLLRST_ENA",
    "STDBY_ENABLE",
    "DPHASE_SOURCE",
    "INTFB_WAKE",
    "REFIN_RESET",
    "SYNC_ENABLE",
    "INT_LOCK_STICKY",
    "PLL_LOCK_MODE",
)
PLL_ATTRIBUTES = {
    **dict.fromkeys(("KVCO", "LPF_CAPACITOR", "LPF_RESISTOR", "ICP_CURRENT", "FREQ_LOCK_ACCURACY"), 0),
    **dict.fromkeys(("MFG_GMC_GAIN", "MFG1_TEST", "MFG2_TEST", "MFG_FORCE_VFILTER", "MFG_ICP_TEST"), 0),
    **dict.fromkeys(("MFG_EN_UP", "MFG_FLOAT_ICP", "MFG_GMC_PRESET", "MFG_LF_PRESET", "MFG_GMC_RESET"), 0),
    **dict.fromkeys(("MFG_LF_RESET", "MFG_LF_RESGRND", "MFG_GMCREF_SEL", "MFG_ENABLE_FILTEROPAMP"), 0),
    "MFG_GMC_TEST": 14,
}
# Outputs of a PLL, and the letter of their dividers' multiplexers.
PLL_LETTERS = dict(zip(PLL_OUTPUTS, "ABCD", strict=True))


def number(value: str) -> int | str:
    """A parameter as a number, or as what it says."""
    value = value.strip()
    if value and set(value) <= {"0", "1"} and len(value) > 7:
        return int(value, 2)
    return int(value) if value.isdigit() else value


def _pll(rtl: Box, bits: Box) -> Iterator[tuple[str, object, object]]:
    """What two PLLs are told, in pairs. What an output without a reader is told makes no difference."""
    feedback = rtl.parameters.get("FEEDBK_PATH", "CLKOP")
    used = {pin for pin in PLL_OUTPUTS if pin in rtl.outputs} | {
        pin for pin in PLL_OUTPUTS if feedback.endswith(pin)
    }
    names = list(PLL_ALWAYS)
    for output in sorted(used):
        names += [f"{output}_{what}" for what in ("ENABLE", "DIV", "CPHASE", "FPHASE")]
        names.append(f"OUTDIVIDER_MUX{PLL_LETTERS[output]}")
        if output in ("CLKOP", "CLKOS"):
            names += [f"{output}_TRIM_POL", f"{output}_TRIM_DELAY"]
    for name in names:
        if name in rtl.parameters:
            yield name, number(rtl.parameters[name]), number(bits.parameters.get(name, ""))
    for name, missing in PLL_ATTRIBUTES.items():
        # Bits have all of them; a netlist, as an RTL, has those that are not as usual.
        both = (box.attributes.get(name, box.parameters.get(name)) for box in (rtl, bits))
        one, other = (missing if told is None else number(told) for told in both)
        yield name, one, other


def told(rtl: Box, bits: Box) -> Iterator[tuple[str, object, object]]:
    """What two blocks are told, in pairs."""
    match rtl.kind:
        case "EHXPLLL":
            yield from _pll(rtl, bits)
        case "OSCG":
            divider = number(rtl.parameters.get("DIV", "128"))
            yield (
                "DIV",
                min(divider, 127) if isinstance(divider, int) else divider,
                number(bits.parameters["DIV"]),
            )
        case "DELAYF":
            mode = rtl.parameters.get("DEL_MODE", "USER_DEFINED")
            if mode != "USER_DEFINED":
                yield "DEL_MODE", mode, "USER_DEFINED"
            value = rtl.parameters.get("DEL_VALUE", "0").removeprefix("DELAY")
            yield "DEL_VALUE", number(value), number(bits.parameters["DEL_VALUE"])
        case "JTAGG":
            for name in ("ER1", "ER2"):
                yield name, rtl.parameters.get(name, "ENABLED"), bits.parameters[name]


def asked(box: Box, parameters: dict[str, str]) -> list[str]:
    """The inputs of a block that make a difference; where the RTL connects nothing, that is 0."""
    pins = list(KINDS[box.kind].inputs)
    if box.kind != "EHXPLLL":
        return pins
    needs = {"RST": "PLLRST_ENA", "STDBY": "STDBY_ENABLE", "PLLWAKESYNC": "SYNC_ENABLE"}
    needs |= dict.fromkeys((pin for pin in pins if pin.startswith("PHASE")), "DPHASE_SOURCE")
    internal = parameters.get("FEEDBK_PATH", "CLKOP").startswith("INT_")
    return [
        pin
        for pin in pins
        if not (pin in needs and parameters.get(needs[pin], "DISABLED") == "DISABLED")
        and not (pin == "CLKFB" and internal)
        and (not pin.startswith("ENCLK") or pin in box.inputs)
    ]


def _origin(form: Form, signal: Signal) -> str:
    """Where a signal is at a port, for telling blocks of pads apart."""
    for ports in (form.inputs, form.outputs):
        for name, bit in ports.items():
            if form.of(bit) == signal:
                return name
    return ""


def ends(form: Form, box: Box) -> tuple[str, ...]:
    """The ports at which a block is; through a delay as well."""
    found = set()
    through = {"DELAYF": ("A", "Z")}
    signals = [*box.inputs.values(), *box.outputs.values()] if box.kind.endswith("F") else []
    for signal in signals:
        found.add(_origin(form, signal))
        for other in form.boxes:
            if other is not box and other.kind in through and signal in other.outputs.values():
                found.add(_origin(form, other.inputs["A"]))
    # Outputs that are masked where the pad is off.
    for name, cell in form.cells.items():
        if name.rstrip("_").endswith(".on") and {*signals} & {*cell["connections"]["A"]}:
            found |= {
                port
                for port, bit in form.outputs.items()
                if bit in cell["connections"].get("Y", cell["connections"].get("Z"))
            }
    return tuple(sorted(found - {""}))


def pair(rtl: Form, bits: Form) -> tuple[list[tuple[str, Box, Box]], list[str]]:
    """Which block is which, with a name for each pair, and what has no partner. A wrong pair makes no proof succeed."""
    sides: list[dict[str, list[Box]]] = []
    for form in (rtl, bits):
        kinds: dict[str, list[Box]] = defaultdict(list)
        for box in form.boxes:
            kinds[box.kind].append(box)
        sides.append(kinds)
    pairs, lost = [], []
    for kind in sorted({*sides[0], *sides[1]}):
        ours, theirs = sides[0][kind], list(sides[1][kind])
        for box in ours:
            if not theirs:
                lost.append(f"{kind} {box.name} of the RTL is not in the bits")
                continue
            mine = ends(rtl, box)

            def unlike(other: Box, box: Box = box, mine: tuple = mine) -> tuple:
                at = len({*mine} ^ {*ends(bits, other)})
                return at, sum(a != b for _, a, b in told(box, other))

            best = min(theirs, key=unlike)
            theirs.remove(best)
            pairs.append((f"{kind}:{box.name}", box, best))
        lost += [f"{kind} {box.name} of the bits is not in the RTL" for box in theirs]
    return pairs, lost


def differences(pairs: Iterable[tuple[str, Box, Box]]) -> list[str]:
    """Where the blocks are told something else."""
    found = []
    for name, rtl, bits in pairs:
        for what, one, other in told(rtl, bits):
            if one != other:
                found.append(f"{name}: {what} is {one} in the RTL and {other} in the bits ({bits.name})")
    return found


def open_ports(form: Form, pairs: Iterable[tuple[str, Box]], told: dict[str, list[str]]) -> None:
    """Makes ports of the pins of blocks. `told`: the inputs that are compared, by the name of the pair."""
    for name, box in pairs:
        for pin, signal in box.outputs.items():
            form.inputs[f"{name}.{pin}"] = signal
        for pin in told[name]:
            signal = box.inputs.get(pin, "0")
            form.outputs[f"{name}.{pin}"] = "0" if signal == "x" else signal


def circles(module: dict, pairs: Iterable[tuple[str, Box, Box]]) -> list[str]:
    """Blocks through which logic of the RTL runs in a circle within a clock: a proof that is cut there would rest on
    itself."""
    through = {name: box for name, box, _ in pairs if KINDS[box.kind].through}
    drivers = {}
    for cell in module["cells"].values():
        if cell["type"] in ("$dff", "$aldff", "$adff") or cell["type"].startswith("$mem"):
            continue
        pins = cell["connections"]
        given = [bit for pin, bits in pins.items() if pin not in ("Y", "Q", "DATA") for bit in bits]
        drivers |= {bit: given for pin in ("Y",) for bit in pins.get(pin, [])}
    for box in through.values():
        drivers |= {bit: list(box.inputs.values()) for bit in box.outputs.values()}
    found = []
    for name, box in through.items():
        seen, waiting = set(), list(box.inputs.values())
        while waiting:
            bit = waiting.pop()
            if bit in box.outputs.values():
                found.append(f"{name}: logic in a circle through it")
                break
            if bit not in seen:
                seen.add(bit)
                waiting += drivers.get(bit, [])
    return found
