#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/pictures, from what `ace` measures and from the library: `make pictures`.

Plain SVG, without another dependency, so that a picture follows the reader's colours and its changes can be read.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "flow"))
from ace_flow import frames

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
        print(f"docs/pictures/{name}.svg")


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


def throughput(binary: Path, folder: Path) -> None:
    """How fast each base of the library is, by its size."""
    rows = []
    for image in ace(binary, "library", "list")["configurations"]:
        if image["base"]:
            continue
        about = ace(binary, "library", "show", image["name"])["manifest"]
        cipher = [
            r for r in about["throughput_mbps"] if r.get("mode") == "cbc" and r["direction"] == "encrypt"
        ]
        rates = cipher or [r for r in about["throughput_mbps"] if not r.get("mode")]
        if not rates:
            continue
        core = about["area_core"]
        hashes = all(can["kind"] == "hash" for can in about["can"])
        colour = COLOURS[2] if hashes else COLOURS[1] if about.get("in_flight", 1) > 1 else COLOURS[0]
        rows.append((core["lut4"] + 2 * core["ccu2c"], max(r["mbps"] for r in rates), colour, image["name"]))
    x = logarithmic("LUTeq of the core (LUT4 + 2 CCU2C)", [row[0] for row in rows])
    y = logarithmic("Mb/s, CBC encryption or hashing, at the slot's Fmax", [row[1] for row in rows])
    plot = Plot("Throughput against size, the bases of the library", x, y)
    plot.points(rows)
    plot.key(
        95,
        60,
        list(
            zip(
                COLOURS, ["one block at a time", "blocks of many packets in one ring", "hashes"], strict=False
            )
        ),
    )
    plot.write("throughput", folder)


def compression(stats: dict, folder: Path) -> None:
    """How many per cent of its frames each base takes in the library, by how full the part is."""
    rows = [
        (c["lut_use_percent"], c["percent"], COLOURS[0], c["name"])
        for c in stats["configurations"]
        if c["base"] is None
    ]
    x = Axis("LUTs in use, %", 0, 14, list(range(0, 15, 2)))
    y = Axis("stored, % of the frames", 0, 18, list(range(0, 19, 2)))
    plot = Plot("Compressed size against LUT use, the bases of the library", x, y)
    plot.points(rows)
    plot.write("compression", folder)


def library_layout(stats: dict, folder: Path) -> None:
    """What the bytes of the library are."""
    parts = [
        ("streams of frames", "stream_bytes"),
        ("manifests and proofs", "text_bytes"),
        ("contents of block RAMs", "block_ram_contents_bytes"),
        ("index", "index_bytes"),
        ("streams home", "home_bytes"),
        ("lists of block RAMs", "block_ram_list_bytes"),
        ("dictionary", "dictionary_bytes"),
        ("runs of frames", "run_bytes"),
    ]
    sizes = [(name, stats[key]) for name, key in parts]
    sizes.append(("header, digest, signatures", stats["bytes"] - sum(size for _, size in sizes)))
    frames_, count = stats["frame_bytes"], len(stats["configurations"])
    picture = Picture(860, 330, f"The library, version {stats['version']}: {count} configurations")
    at, wide = 20.0, 820
    colours = [*COLOURS, "#666666", "#2f6f95", "#7f5a93"]
    for (name, size), colour in zip(sizes, colours, strict=True):
        part = wide * size / stats["bytes"]
        picture.box(at, 45, part, 60, colour, f"{name}: {size} bytes")
        at += part
    for row, ((name, size), colour) in enumerate(zip(sizes, colours, strict=True)):
        y = 140 + 20 * row
        picture.box(20, y - 10, 11, 11, colour)
        picture.text(40, y, name)
        picture.text(340, y, f"{size:,}".replace(",", " "), "end")
        picture.text(430, y, f"{100 * size / stats['bytes']:.2f} %", "end")
    picture.text(470, 140, f"{stats['bytes']:,} bytes in all,".replace(",", " "))
    picture.text(
        470, 160, f"{stats['file_percent']:.2f} % of the {frames_:,} bytes of frames".replace(",", " ")
    )
    picture.text(470, 180, "that the configurations have when they are loaded")
    picture.write("library", folder)


def frame_layout(folder: Path) -> None:
    """A request and its response, beat by beat, as the flow builds them."""
    parts = {"payload": bytes(48), "key": bytes(16), "iv": bytes(16)}
    request = frames.request(1, "cbc", parts["payload"], key=parts["key"], iv=parts["iv"])
    plain = frames.request(1, "cbc", parts["payload"], iv=parts["iv"])
    picture = Picture(860, 260, "A frame: AES-128-CBC over 48 bytes, a beat of 8 bytes each clock")
    header = len(plain) - len(parts["iv"]) - len(parts["payload"])
    rows = [
        (
            "request, fresh key",
            [("header", header), ("key", len(request) - len(plain)), ("IV", 16), ("data", 48)],
        ),
        ("request, key kept", [("header", header), ("IV", 16), ("data", 48)]),
        ("response", [("result", 48), ("trailer", frames.BEAT)]),
    ]
    colours = {"header": COLOURS[0], "key": COLOURS[2], "IV": COLOURS[4], "data": COLOURS[1]}
    colours |= {"result": COLOURS[1], "trailer": COLOURS[3]}
    for row, (name, sections) in enumerate(rows):
        y, x = 55 + 62 * row, 175.0
        picture.text(20, y + 26, name)
        for section, size in sections:
            wide = 50 * size / frames.BEAT
            picture.box(x, y, wide - 2, 42, colours[section], f"{section}: {size} bytes")
            picture.text(x + wide / 2 - 1, y + 18, section, "middle on small")
            picture.text(x + wide / 2 - 1, y + 33, str(size), "middle on small")
            x += wide
    picture.text(20, 246, "Sizes in bytes. docs/slot.md has every field.", "small")
    picture.write("frame", folder)


def run(binary: Path, board: Path, policy: str, out: Path, report: Path | None = None) -> dict:
    """The demo's traffic, protected on a board."""
    arguments = ["run", "demo/traffic.pcap", "--sas", "demo/protect.toml", "--unsigned", "--iv-seed", "1"]
    arguments += ["--board", str(board), "--policy", policy, "-o", str(out)]
    arguments += ["--report", str(report)] if report else []
    return ace(binary, *arguments)["board"]


def look_ahead(binary: Path, scratch: Path, folder: Path) -> None:
    """How the overhead falls when the controller sees more packets."""
    lines: dict[str, list[tuple[int, float]]] = {"on-demand": [], "double-buffer": [], "adaptive": []}
    for packets in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        board = scratch / "board.toml"
        library = json.dumps(str(ROOT / "library/ace.lib"))
        board.write_text(f"packet_buffer = {packets}\n[controller]\nlibrary = {library}\n")
        for policy, points in lines.items():
            totals = run(binary, board, policy, scratch / "out.pcap")["totals"]
            points.append((packets, totals["exposed_load"] / 1e9))
    most = max(y for points in lines.values() for _, y in points)
    step = 10 ** math.floor(math.log10(most))
    step = step if most / step > 4 else step / 2
    y = Axis(
        "all wait for a configuration, ms",
        0,
        most * 1.08,
        [step * n for n in range(int(most * 1.08 / step) + 1)],
    )
    x = Axis("packets that the controller can look ahead", 1, 256, [2**n for n in range(9)], True)
    plot = Plot("Overhead against look-ahead: the demo's 277 packets, two slots", x, y)
    for (policy, points), colour in zip(lines.items(), (COLOURS[2], COLOURS[0], COLOURS[1]), strict=True):
        places = [plot.place(x, y) for x, y in points]
        plot.line(places, f'stroke="{colour}" stroke-width="2"')
        for (packets, time), (x, y) in zip(points, places, strict=True):
            plot.dot(x, y, colour, f"{policy}, {packets} packets: {time:.1f} ms")
    plot.key(110, 420, [(COLOURS[2], "on-demand"), (COLOURS[0], "double-buffer"), (COLOURS[1], "adaptive")])
    plot.write("look-ahead", folder)


def drp_2006(binary: Path, folder: Path) -> None:
    """The 2006 paper's machine: overhead against the length of a load."""
    study = ace(binary, "study", "drp-2006")
    runs = [run for run in study["what_if"] if run["load_us"] and run["load_us"] < 1000]
    y = Axis("overhead of reconfiguration, %", 0, 40, [10 * n for n in range(5)])
    x = Axis("a load, µs", 5, 25, [5, 10, 25], True)
    plot = Plot("The machine of 2006, its traffic and rates", x, y)
    lines = [
        (
            "without double buffering",
            COLOURS[2],
            [(r["load_us"], r["figure9"]["without"]) for r in runs if r["groups"] == 2],
        )
    ]
    for groups, colour in ((2, COLOURS[0]), (3, COLOURS[1]), (4, COLOURS[4])):
        points = [(r["load_us"], r["figure9"]["double"]) for r in runs if r["groups"] == groups]
        lines.append((f"{groups} groups", colour, points))
    for name, colour, points in lines:
        places = [plot.place(x, y) for x, y in points]
        plot.line(places, f'stroke="{colour}" stroke-width="2"')
        for (load, overhead), (x, y) in zip(points, places, strict=True):
            plot.dot(x, y, colour, f"{name}, {load} µs: {overhead:.1f} %")
    plot.key(110, 420, [(colour, name) for name, colour, _ in lines])
    plot.write("drp-2006", folder)
    figure_8(study, folder)
    figure_9(study, folder)


def figure_8(study: dict, folder: Path) -> None:
    """HMAC with the hash on the accelerator, against the processor alone."""
    figures = study["figure8"]
    rows = [row for figure in figures for row in figure["rows"]]
    most = max(value for row in rows for key, value in row.items() if key != "bytes" and value)
    x = Axis("message, bytes", 32, 8192, [2**n for n in range(5, 14)], True)
    y = logarithmic("improvement over the VR5500 alone", [0.6, most])
    plot = Plot("Figure 8 of the 2006 paper: the hash of an HMAC on the accelerator", x, y)
    kinds = [("drp_with_share", "DRP-1"), ("array", "our array, one packet"), ("slot", "our slot")]
    key = []
    for figure, dash in zip(figures, ("", ' stroke-dasharray="6 4"'), strict=True):
        for (kind, name), colour in zip(kinds, COLOURS, strict=False):
            points = [(row["bytes"], row[kind]) for row in figure["rows"] if row[kind]]
            if not points:
                continue
            places = [plot.place(*point) for point in points]
            plot.line(places, f'stroke="{colour}" stroke-width="2"{dash}')
            for (size, gain), place in zip(points, places, strict=True):
                plot.dot(*place, colour, f"{figure['name']}, {name}, {size} bytes: {gain:.2f}")
            if not dash:
                key.append((colour, name))
    plot.key(95, 60, key)
    plot.text(95, 60 + 18 * len(key), "drawn through: HMAC-MD5-96; dashed: HMAC-SHA-1-96", "small")
    plot.write("drp-2006-hmac", folder)


def figure_9(study: dict, folder: Path) -> None:
    """The overhead with and without double buffering, theirs and ours."""
    rows = [("paper", study["paper"]["result"]), ("this model of it", study["figure9"])]
    ours = [w for w in study["what_if"] if w["what"].startswith("our array") and w["groups"] == 2]
    rows += [("our array", w["figure9"]) for w in ours]
    y = Axis("overhead of reconfiguration, %", 0, 24, list(range(0, 25, 4)))
    plot = Plot("Figure 9 of the 2006 paper", Axis("", 0, len(rows), []), y, 560, 420)
    for at, (name, figures) in enumerate(rows):
        for side, (kind, colour) in enumerate((("without", COLOURS[2]), ("double", COLOURS[0]))):
            left, top = plot.place(at + 0.2 + 0.3 * side, figures[kind])
            right, bottom = plot.place(at + 0.47 + 0.3 * side, 0)
            plot.box(left, top, right - left, bottom - top, colour, f"{name}, {kind}: {figures[kind]:.2f} %")
            plot.text((left + right) / 2, top - 6, f"{figures[kind]:.2f}", "middle small")
        plot.text(plot.place(at + 0.5, 0)[0], plot.place(0, 0)[1] + 18, name, "middle")
    plot.key(330, 60, [(COLOURS[2], "without double buffering"), (COLOURS[0], "with it")])
    plot.write("drp-2006-overhead", folder)


def acceleration_flow(binary: Path, scratch: Path, folder: Path) -> None:
    """Section 3.4 of the 2006 paper: the way of one packet, with the times of a run."""
    run(binary, ROOT / "board.toml", "double-buffer", scratch / "out.pcap", scratch / "flow")
    events = json.loads((scratch / "flow/trace.json").read_text())["traceEvents"]
    events = [e for e in events if e.get("ph") == "X"]
    # The first packet whose cipher waited for a load of its configuration.
    execute = min((e for e in events if e["cat"] == "execute"), key=lambda e: e["ts"])
    job, track = execute["args"]["job"], execute["tid"]

    def of(category: str, words: str) -> dict:
        found = (
            e for e in events if e["cat"] == category and e["args"].get("job") == job and words in e["name"]
        )
        return min(found, key=lambda e: e["ts"])

    loads = [e for e in events if e["cat"] == "load" and e["tid"] == track and e["ts"] < execute["ts"]]
    load = max(loads, key=lambda e: e["ts"])
    steps = [
        (
            load["ts"],
            0.0,
            ["the host looks at the packet's", "header and finds its SA;", "the SA names the cipher"],
        ),
        (
            load["ts"],
            load["dur"],
            ["the configuration", load["name"].removeprefix("load "), "goes to a slot"],
        ),
    ]
    for category, words, lines in (
        ("host", "sends", ["the host builds a frame:", "key, IV, data"]),
        ("link", "request", ["the frame goes to the", "slot's input buffer"]),
        ("execute", "", ["the slot works:", execute["name"]]),
        ("link", "response", ["the result comes from the", "slot's output buffer"]),
        ("host", "takes", ["the host takes it;", "what the packet still needs", "goes the same way"]),
    ):
        event = of(category, words)
        steps.append((event["ts"], event["dur"], lines))
    picture = Picture(
        900, 330, f"The way of packet {execute['args']['packet']}: section 3.4 with the times of a run"
    )
    wide, high = 200, 96
    for at, (start, took, lines) in enumerate(steps):
        row, column = divmod(at, 4)
        x, y = 20 + 220 * column, 50 + 140 * row
        picture.box(x, y, wide, high, COLOURS[at % len(COLOURS)])
        for line, words in enumerate(lines):
            picture.text(x + wide / 2, y + 20 + 17 * line, words, "middle on small")
        when = f"from {start:.1f} µs, {took:.2f} µs" if took else f"at {start:.1f} µs"
        picture.text(x + wide / 2, y + high - 10, when, "middle on small")
        if column < 3 and at + 1 < len(steps):
            picture.line([(x + wide, y + high / 2), (x + wide + 20, y + high / 2)], 'class="axis"')
    picture.text(
        20, 318, "Modelled time of `ace run` on the demo's traffic, two slots, double-buffer.", "small"
    )
    picture.write("drp-2006-flow", folder)


def page_table(page: str, title: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the first table below a heading."""
    below = page.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in below.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in rows]
    return cells[0], cells[2:]


POLICIES = {
    "on-demand": COLOURS[2],
    "double-buffer, late kept": "#888888",
    "double-buffer": COLOURS[0],
    "landlord": COLOURS[3],
    "rotation": COLOURS[4],
    "adaptive": COLOURS[1],
}

# By class: what each policy reached, and what none can exceed.
Reached = dict[str, tuple[dict[str, float], float | None]]


def by_class(plot: Plot, rows: Reached) -> None:
    """Policies as dots above each class; a dash is the bound."""
    names = [name for name in POLICIES if any(name in values for values, _ in rows.values())]
    for at, (words, (values, bound)) in enumerate(rows.items()):
        for name, value in values.items():
            x, y = plot.place(at + 0.2 + 0.6 * names.index(name) / max(len(names) - 1, 1), value)
            plot.dot(x, y, POLICIES[name], f"{words}, {name}: {value:.3g}")
        if bound is not None:
            plot.line(
                [plot.place(at + 0.1, bound), plot.place(at + 0.9, bound)], 'class="axis" stroke-width="2"'
            )
        x, bottom = plot.place(at + 0.55, plot.y.low)
        turn = f"translate({x:.1f} {bottom + 14:.1f}) rotate(-24)"
        plot.parts.append(f'<text class="small end" transform="{turn}">{escape(words)}</text>')
    # Names of classes hang below the axis, and who is who below them.
    plot.height += 90
    for at, name in enumerate(names):
        plot.key(80 + 145 * at, plot.height - 14, [(POLICIES[name], name)])


def scheduling(folder: Path) -> None:
    """studies/scheduling/results.md as plots."""
    page = (ROOT / "studies/scheduling/results.md").read_text()
    head, table = page_table(page, "Large traces")
    share = Axis("bytes in time ÷ all bytes", 0, 1.02, [n / 5 for n in range(6)])
    for part, file in (("0.8", "scheduling-below"), ("1.2", "scheduling-above")):
        rows: Reached = {}
        for row in table:
            if row[1] == part:
                reached = [float(cell.split(" ")[0]) for cell in row[6:]]
                rows[row[0]] = (dict(zip(head[6:], reached, strict=True)), float(row[4]) if row[4] else None)
        title = f"Bytes in time at {part} of the capacity by the rotation law; dash: the proven bound"
        plot = Plot(title, Axis("", 0, len(rows), []), share, 980, 560)
        by_class(plot, rows)
        plot.write(file, folder)
    _, table = page_table(page, "Closed loops")
    loops: dict[str, dict[str, float]] = {}
    for row in table:
        # Who starves an association is not compared with.
        if int(row[5]) == 0 or row[1] == "adaptive":
            loops.setdefault(row[0], {})[row[1]] = float(row[2])
    best = {name: max(of.values()) for name, of in loops.items()}
    rows = {
        name: ({policy: mbps / best[name] for policy, mbps in of.items()}, None) for name, of in loops.items()
    }
    y = Axis("Mb/s ÷ those of the best policy", 0, 1.02, [n / 5 for n in range(6)])
    plot = Plot(
        "Closed loops: policies that starve nobody, and adaptive", Axis("", 0, len(rows), []), y, 980, 560
    )
    by_class(plot, rows)
    plot.write("scheduling-closed", folder)


def hidden_load(binary: Path, scratch: Path, folder: Path) -> None:
    """The first load that other work hides."""
    board = run(binary, ROOT / "board.toml", "double-buffer", scratch / "out.pcap", scratch / "report")
    events = json.loads((scratch / "report/trace.json").read_text())["traceEvents"]
    events = [e for e in events if e.get("ph") == "X"]
    busy = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["cat"] in ("execute", "link", "host"))

    def pieces(load: dict) -> list[tuple[bool, float, float]]:
        """A load in pieces: whether anything else works, from when to when."""
        at, found = load["ts"], []
        last = at + load["dur"]
        for start, end in busy:
            if end > at and start < last:
                found += [(False, at, start)] if start > at else []
                found.append((True, max(at, start), min(end, last)))
                at = min(end, last)
        found += [(False, at, last)] if at < last else []
        # What is shorter than a point of the picture is not told apart.
        drawn = found[:1]
        for piece in found[1:]:
            if piece[0] == drawn[-1][0] or piece[2] - piece[1] < 10:
                drawn[-1] = (drawn[-1][0], drawn[-1][1], piece[2])
            else:
                drawn.append(piece)
        return drawn

    def hidden(load: dict) -> float:
        return sum(end - start for is_hidden, start, end in pieces(load) if is_hidden)

    behind = max((e for e in events if e["cat"] == "load"), key=hidden)
    start, end = behind["ts"] - 500, behind["ts"] + behind["dur"] + 500
    tracks = len(board["slots"]) + 1
    picture = Picture(
        860,
        60 + 62 * tracks + 40,
        f"A load behind other work: {hidden(behind) / 1000:.1f} of {behind['dur'] / 1000:.1f} ms hidden",
    )
    left, wide = 90, 740

    def x(time: float) -> float:
        return left + wide * (min(max(time, start), end) - start) / (end - start)

    names = {at: f"slot {at - 1}" for at in range(1, tracks)} | {tracks: "host link"}
    for track, name in names.items():
        y = 45 + 62 * (track - 1)
        picture.text(14, y + 26, name)
        picture.box(left, y, wide, 42, "#c8c8c8")
        for e in sorted((e for e in events if e["pid"] == 1 and e["tid"] == track), key=lambda e: e["ts"]):
            if e["ts"] + e["dur"] < start or e["ts"] > end:
                continue
            from_, to = x(e["ts"]), x(e["ts"] + e["dur"])
            words = f"{e['name']}: {e['dur']:.1f} µs"
            if e["cat"] == "load":
                for is_hidden, begin, finish in pieces(e):
                    colour = COLOURS[4] if is_hidden else COLOURS[2]
                    picture.box(x(begin), y, x(finish) - x(begin), 42, colour, words)
                if to - from_ > 90:
                    picture.text(
                        (from_ + to) / 2, y + 26, f"{e['name']}, {e['dur'] / 1000:.1f} ms", "middle on"
                    )
            else:
                colour = {"execute": COLOURS[0], "link": "#555555"}.get(e["cat"], "#7f0000")
                picture.box(from_, y, to - from_, 42, colour, words)
    y = 45 + 62 * tracks
    for at in range(math.ceil(start / 1000), math.floor(end / 1000) + 1):
        picture.line([(x(1000 * at), 40), (x(1000 * at), y - 12)], 'class="grid"')
        picture.text(x(1000 * at), y + 2, f"{at} ms", "middle small")
    rows = [(COLOURS[4], "load, hidden"), (COLOURS[2], "load that all wait for")]
    rows += [(COLOURS[0], "packets are worked on"), ("#555555", "host link")]
    for at, row in enumerate(rows):
        picture.key(left + 185 * at, y + 26, [row])
    picture.write("hidden-load", folder)


def main() -> None:
    import study_pictures  # which draws with what is here

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ace", default="target/release/ace", help="the binary (default target/release/ace)")
    binary = ROOT / parser.parse_args().ace
    folder = ROOT / "docs/pictures"
    folder.mkdir(exist_ok=True)
    stats = ace(binary, "library", "stats", "--measure", "0.01")
    throughput(binary, folder)
    compression(stats, folder)
    library_layout(stats, folder)
    frame_layout(folder)
    with tempfile.TemporaryDirectory() as scratch:
        look_ahead(binary, Path(scratch), folder)
        hidden_load(binary, Path(scratch), folder)
        acceleration_flow(binary, Path(scratch), folder)
    drp_2006(binary, folder)
    for draw in (
        study_pictures.pilchard_2002,
        study_pictures.molen_2003,
        study_pictures.idea_2004,
        study_pictures.crossover,
    ):
        draw(binary, folder)
    scheduling(folder)


if __name__ == "__main__":
    main()
