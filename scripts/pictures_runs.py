# SPDX-License-Identifier: Apache-2.0
"""The pictures of runs of the demo: looking ahead, what is hidden, and who accelerates what."""

import json
import math
from pathlib import Path

from drawing import COLOURS, ROOT, Axis, Picture, Plot, ace


def run(binary: Path, board: Path, policy: str, out: Path, report: Path | None = None) -> dict:
    """The demo's traffic, protected on a board."""
    arguments = [
        "run",
        "tests/demo/traffic.pcap",
        "--sas",
        "tests/demo/protect.toml",
        "--unsigned",
        "--iv-seed",
        "1",
    ]
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
