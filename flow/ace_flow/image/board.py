# SPDX-License-Identifier: Apache-2.0
"""A board: its data file (boards/NAME/board.toml), and what follows from it: constraints, and the dividers of its PLL."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ace_flow import tools

FOLDER = tools.ROOT / "boards"
# The PLL of an ECP5 (FPGA-DS-02012, "sysCLOCK PLL Timing"): its oscillator's MHz, and how far its dividers go.
VCO_MHZ = (400, 800)
MOST_DIVIDER = 128
# Clocks that differ by less are the same, in MHz: a file says 104.17.
NEAR = 0.01
FEEDBACK, SECOND = "CLKOP", "CLKOS"


class BoardError(tools.ToolError):
    """A board's file that cannot be used, or an option that it does not allow; the message names file and line."""


@dataclass(frozen=True)
class Pin:
    """A port, the ball of each of its bits, and how their pads are set."""

    port: str
    balls: tuple[str, ...]
    settings: dict[str, str]

    def bits(self) -> list[tuple[str, str]]:
        """The bits by their names, with their balls."""
        if len(self.balls) == 1:
            return [(self.port, self.balls[0])]
        return [(f"{self.port}[{number}]", ball) for number, ball in enumerate(self.balls)]


@dataclass(frozen=True)
class Clock:
    """A clock: of a port, or of an output of the PLL."""

    name: str
    mhz: float
    port: str = ""
    pll: str = ""


@dataclass(frozen=True)
class Pll:
    """The PLL: whose clock it takes, and which parameters of the top its dividers are."""

    instance: str
    port: str
    mhz: float
    parameters: dict[str, str]


@dataclass(frozen=True)
class Crossings:
    """The modules that may be between clocks."""

    words: tuple[str, ...]
    memories: tuple[str, ...]
    resets: tuple[str, ...]
    # Pads that no clock goes with, and the modules whose registers take them.
    pads: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """One change of the RTL, which the proof has to refute."""

    what: str
    file: str
    find: str
    replace: str


@dataclass(frozen=True)
class Board:
    """A board's file."""

    path: Path
    name: str
    summary: str
    device: str
    package: str
    speed: int
    top: str
    # The parameter that says what an image was made from, if there is one; and where the RTL is.
    identity: str
    sources: tuple[str, ...]
    loader: str
    warnings: tuple[str, ...]
    clocks: dict[str, Clock]
    pll: Pll
    crossings: Crossings
    # Parameters of the top: of each image, and by names of what else than slots is behind its pads.
    told: dict[str, int]
    variants: dict[str, dict[str, int]]
    pins: tuple[Pin, ...]
    # Of all banks with outputs.
    bank_volts: float
    # Changes of the RTL that the proof has to refute.
    faults: tuple[Fault, ...]

    def at(self, mhz: float) -> Board:
        """The same with another clock of the slot."""
        return replace(self, clocks=self.clocks | {"slot": replace(self.clocks["slot"], mhz=mhz)})

    def dividers(self) -> dict[str, int]:
        """The dividers of the PLL: that of the feedback, of the clock that is fed back, and of the slot's."""
        first, second = self._made(FEEDBACK), self._made(SECOND)
        feedback = first.mhz / self.pll.mhz
        if feedback != int(feedback) or not 1 <= feedback <= MOST_DIVIDER:
            raise BoardError(
                f"{self.path}: {first.name} is {first.mhz:g} MHz, no whole multiple of {self.pll.mhz:g}"
            )
        known = []
        for divider in range(1, MOST_DIVIDER + 1):
            oscillator = first.mhz * divider
            if not VCO_MHZ[0] <= oscillator <= VCO_MHZ[1]:
                continue
            for other in range(1, MOST_DIVIDER + 1):
                known.append(oscillator / other)
                if abs(oscillator / other - second.mhz) < NEAR:
                    return {"CLKFB_DIV": int(feedback), "CLKOP_DIV": divider, "CLKOS_DIV": other}
        near = sorted({round(mhz, 2) for mhz in known}, key=lambda mhz: abs(mhz - second.mhz))[:4]
        raise BoardError(
            f"{self.path}: {second.name} cannot have {second.mhz:g} MHz beside {first.name}'s {first.mhz:g}: "
            f"the nearest are {', '.join(f'{mhz:g}' for mhz in sorted(near))}"
        )

    def _made(self, output: str) -> Clock:
        for clock in self.clocks.values():
            if clock.pll == output:
                return clock
        raise BoardError(f"{self.path}: [clocks] has none with pll = {output!r}")

    def exact_mhz(self) -> dict[str, float]:
        """The clocks as they are with these dividers."""
        dividers = self.dividers()
        oscillator = self.pll.mhz * dividers["CLKFB_DIV"] * dividers["CLKOP_DIV"]
        return {
            name: oscillator / dividers[f"{clock.pll}_DIV"] if clock.pll else clock.mhz
            for name, clock in self.clocks.items()
        }

    def parameters(self) -> dict[str, int | str]:
        """The parameters of the top but those of what is behind it."""
        return self.told | {
            parameter: self.dividers()[divider] for divider, parameter in self.pll.parameters.items()
        }

    def constraints(self) -> str:
        """The constraint file (LPF). nextpnr derives the PLL's clocks from the PLL's own parameters."""
        lines = [
            "# SPDX-License-Identifier: Apache-2.0",
            f"# Pins and clocks of {self.name}: generated from {self.path.name} by ace_flow/image/board.py.",
        ]
        for pin in self.pins:
            settings = " ".join(f"{key}={value}" for key, value in pin.settings.items())
            for name, ball in pin.bits():
                lines.append(f'LOCATE COMP "{name}" SITE "{ball}";')
                lines.append(f'IOBUF PORT "{name}" {settings};')
        frequencies = {self.pll.port: self.pll.mhz}
        frequencies |= {clock.port: clock.mhz for clock in self.clocks.values() if clock.port}
        lines += [f'FREQUENCY PORT "{port}" {mhz:g} MHZ;' for port, mhz in frequencies.items()]
        return "\n".join([*lines, ""])

    def balls(self) -> dict[str, str]:
        """Balls by the names of bits of ports."""
        return {name: ball for pin in self.pins for name, ball in pin.bits()}


class _Reader:
    """A table of the file; an error names the file and the line of what is wrong."""

    def __init__(self, path: Path, text: str, where: str, table: dict[str, Any]):
        self.path, self.text, self.where, self.table = path, text, where, dict(table)

    def fail(self, key: str, what: str) -> BoardError:
        header = 0
        lines = self.text.splitlines()
        if self.where:
            header = next((n for n, line in enumerate(lines) if line.strip() == f"[{self.where}]"), 0)
        line = next(
            (n for n, line in enumerate(lines[header:], header) if re.match(rf"{key}\b", line)), header
        )
        dotted = f"{self.where}.{key}" if self.where else key
        return BoardError(f"{self.path}:{line + 1}: {dotted}: {what}")

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        if key not in self.table:
            if default is None:
                raise self.fail(key, "is missing")
            return default
        value = self.table.pop(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = kind if isinstance(kind, type) else kind[-1]
            raise self.fail(key, f"is {value!r}; a {wanted.__name__} is wanted")
        return value

    def words(self, key: str, default: list | None = None) -> tuple[str, ...]:
        value = self.take(key, list, default)
        if not all(isinstance(word, str) for word in value):
            raise self.fail(key, f"is {value!r}; a list of strings is wanted")
        return tuple(value)

    def finish(self) -> None:
        for key in self.table:
            raise self.fail(key, "is not known")


def load(name: str, folder: Path = FOLDER) -> Board:
    """The board of this name, of boards/, or of another folder of boards."""
    path = folder / name / "board.toml"
    if not path.is_file():
        known = sorted(place.parent.name for place in folder.glob("*/board.toml"))
        raise BoardError(f"there is no board {name!r} ({path}): {', '.join(known)}")
    text = path.read_text()
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BoardError(f"{path}: {error}") from error
    try:
        shown = path.relative_to(tools.ROOT)
    except ValueError:
        shown = path
    if like := table.pop("like", None):
        other = folder / str(like) / "board.toml"
        if like == name or not other.is_file() or "like" in (rest := tomllib.loads(other.read_text())):
            raise BoardError(f"{shown}: like: {like!r} is no board with a file of its own ({other})")
        load(str(like), folder)
        table = _over(rest, table)
    return _board(shown, text, table)


def _over(rest: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """A table with what another one says differently, table by table."""
    both = {key: _over(rest[key], value) for key, value in table.items() if isinstance(rest.get(key), dict)}
    return rest | table | both


def _board(path: Path, text: str, table: dict[str, Any]) -> Board:
    def reader(where: str, values: dict[str, Any]) -> _Reader:
        return _Reader(path, text, where, values)

    whole = reader("", table)
    io = reader("io", whole.take("io", dict))
    common = io.take("all", dict)
    volts = io.take("bank_volts", (int, float))
    io.finish()
    board = Board(
        path,
        *(whole.take(key, str) for key in ("name", "summary", "device", "package")),
        whole.take("speed", int),
        whole.take("top", str),
        whole.take("identity", str, ""),
        whole.words("sources"),
        whole.take("loader", str),
        whole.words("warnings", []),
        _clocks(whole, reader),
        _pll(reader("pll", whole.take("pll", dict))),
        _crossings(reader("crossings", whole.take("crossings", dict))),
        whole.take("parameters", dict, {}),
        whole.take("variants", dict, {}),
        _pins(whole, reader, common),
        volts,
        _faults(whole),
    )
    whole.finish()
    board.dividers()
    return board


def _clocks(whole: _Reader, reader: Any) -> dict[str, Clock]:
    found = {}
    own = reader("clocks", whole.take("clocks", dict))
    for name, values in own.table.items():
        one = reader("clocks", values)
        clock = Clock(
            name, one.take("mhz", (int, float)), one.take("port", str, ""), one.take("pll", str, "")
        )
        if bool(clock.port) == bool(clock.pll):
            raise own.fail(name, "is of a port or of an output of the PLL: one of both")
        if clock.pll and clock.pll not in (FEEDBACK, SECOND):
            raise own.fail(name, f"is of {clock.pll}; {FEEDBACK} or {SECOND} is wanted")
        for key in one.table:
            raise own.fail(name, f"has {key!r}, which is not known")
        found[name] = clock
    if "slot" not in found:
        raise own.fail("slot", "is missing")
    return found


def _pll(table: _Reader) -> Pll:
    pll = Pll(
        table.take("instance", str),
        table.take("port", str),
        table.take("mhz", (int, float)),
        table.take("parameters", dict),
    )
    table.finish()
    return pll


def _crossings(table: _Reader) -> Crossings:
    found = Crossings(
        *(table.words(key) for key in ("words", "memories", "resets")), table.take("pads", dict, {})
    )
    table.finish()
    return found


def _faults(whole: _Reader) -> tuple[Fault, ...]:
    found = []
    for values in whole.take("fault", list, []):
        if not isinstance(values, dict) or {*values} != {"what", "file", "find", "replace"}:
            raise whole.fail("fault", "has what, file, find and replace")
        found.append(Fault(**values))
    return tuple(found)


def _pins(whole: _Reader, reader: Any, common: dict[str, str]) -> tuple[Pin, ...]:
    found: list[Pin] = []
    used: dict[str, str] = {}
    for port, values in whole.take("pins", dict).items():
        table = reader(f"pins.{port}", values)
        pin = Pin(port, table.words("balls"), common | table.take("settings", dict, {}))
        for ball in pin.balls:
            if ball in used:
                raise table.fail("balls", f"{ball} is {used[ball]}'s already")
            used[ball] = port
        table.finish()
        found.append(pin)
    return tuple(found)
