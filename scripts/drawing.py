# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn with: shapes, axes and what `ace` prints.

Plain SVG, without another dependency, so that a picture follows the reader's colours and its changes can be read.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COLOURS = ["#2166ac", "#1b7837", "#b5460f", "#762a83", "#846900", "#01665e"]
STYLE = """
text{font:13px system-ui,sans-serif;fill:#222}.small{font-size:11px}.title{font-weight:600}.end{text-anchor:end}
.middle{text-anchor:middle}.on{fill:#fff}.grid{stroke:#888;stroke-opacity:.35}.axis{stroke:#666}
@media(prefers-color-scheme:dark){text{fill:#ddd}.on{fill:#fff}.axis{stroke:#aaa}}
"""


@dataclass
class Picture:
    """Shapes on a canvas."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>')

    def line(self, points: list[tuple[float, float]], style: str) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" {style}/>')

    def box(self, x: float, y: float, width: float, height: float, colour: str, words: str = "") -> None:
        about = f"<title>{escape(words)}</title>" if words else ""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.4):.1f}" height="{height:.1f}" fill="{colour}">'
            f"{about}</rect>"
        )

    def dot(self, x: float, y: float, colour: str, words: str) -> None:
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"><title>{escape(words)}</title></circle>'
        )

    def key(self, x: float, y: float, rows: list[tuple[str, str]]) -> None:
        for at, (colour, words) in enumerate(rows):
            self.box(x, y + 18 * at - 10, 11, 11, colour)
            self.text(x + 17, y + 18 * at, words)

    def write(self, name: str, folder: Path) -> None:
        self.text(self.width / 2, 20, self.title, "title middle")
        body = "\n".join(self.parts)
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self.title)}">'
            f"<style>{STYLE}</style>\n{body}\n</svg>\n"
        )
        (folder / f"{name}.svg").write_text(text)


class Plot(Picture):
    """Two axes, each linear or logarithmic."""

    LEFT, TOP, RIGHT, BOTTOM = 75, 40, 30, 55

    def __init__(self, title: str, x: "Axis", y: "Axis", width: int = 860, height: int = 520):
        super().__init__(width, height, title)
        self.x, self.y, self.labels = x, y, []
        right, bottom = width - self.RIGHT, height - self.BOTTOM
        for tick in x.ticks:
            at = self.place(tick, y.low)[0]
            self.line([(at, self.TOP), (at, bottom)], 'class="grid"')
            self.text(at, bottom + 18, f"{tick:g}", "middle small")
        for tick in y.ticks:
            at = self.place(x.low, tick)[1]
            self.line([(self.LEFT, at), (right, at)], 'class="grid"')
            self.text(self.LEFT - 8, at + 4, f"{tick:g}", "end small")
        self.line([(self.LEFT, self.TOP), (self.LEFT, bottom), (right, bottom)], 'class="axis"')
        self.text((self.LEFT + right) / 2, height - 14, x.name, "middle")
        self.parts.append(
            f'<text transform="translate(20 {(self.TOP + bottom) / 2:.0f}) rotate(-90)" class="middle">'
            f"{escape(y.name)}</text>"
        )

    def place(self, x: float, y: float) -> tuple[float, float]:
        wide, high = self.width - self.LEFT - self.RIGHT, self.height - self.TOP - self.BOTTOM
        return self.LEFT + self.x.part(x) * wide, self.height - self.BOTTOM - self.y.part(y) * high

    def points(self, rows: list[tuple[float, float, str, str]]) -> None:
        """Dots of x, y, colour and name; each name where no other one is."""
        places = [self.place(x, y) for x, y, _, _ in rows]
        taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
        for (_, _, colour, name), (x, y) in zip(rows, places, strict=True):
            self.dot(x, y, colour, name)
            wide = 6.4 * len(name)
            for kind, left, base in (
                *(("", 8, 4), ("end", -8, 4), ("middle", 0, -8), ("middle", 0, 17)),
                *(("", 6, -7), ("", 6, 16), ("end", -6, -7), ("end", -6, 16)),
            ):
                begin = x + left - {"": 0, "end": wide, "middle": wide / 2}[kind]
                label = (begin, y + base - 9, begin + wide, y + base + 2)
                free = all(
                    label[2] < t[0] or t[2] < label[0] or label[3] < t[1] or t[3] < label[1] for t in taken
                )
                if free and label[0] > self.LEFT and label[2] < self.width - 4:
                    taken.append(label)
                    self.text(x + left, y + base, name, f"small {kind}")
                    break


@dataclass
class Axis:
    """What stands on an axis, and where."""

    name: str
    low: float
    high: float
    ticks: list[float]
    logarithmic: bool = False

    def part(self, value: float) -> float:
        scale: Callable[[float], float] = math.log if self.logarithmic else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def logarithmic(name: str, values: list[float]) -> Axis:
    """An axis on which these have room."""
    low, high = min(values) / 1.4, max(values) * 1.4
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10**power for power in powers for step in (1, 2, 5)]
    return Axis(name, low, high, [tick for tick in ticks if low <= tick <= high], logarithmic=True)


def ace(binary: Path, *arguments: str) -> dict:
    """What a command prints for machines."""
    done = subprocess.run(
        [binary, *arguments, "--json"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"ace {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)
