# SPDX-License-Identifier: Apache-2.0
"""The pictures of runs of the demo: looking ahead, what is hidden, and who accelerates what."""

import json
import textwrap
from pathlib import Path

import theme
from commands import ROOT, ace
from matplotlib.patches import FancyBboxPatch, Patch
from theme import BLUE, GREEN, GREY, OCHRE, ORANGE, PURPLE, RED


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
    title = "Overhead against look-ahead: the demo's 277 packets, two slots"
    x, y = "packets that the controller can look ahead", "all wait for a configuration, ms"
    figure, axes = theme.plot(title, x, y)
    looks = ((ORANGE, "o"), (BLUE, "s"), (GREEN, "^"))
    for (policy, points), (colour, marker) in zip(lines.items(), looks, strict=True):
        axes.plot(*zip(*points, strict=True), f"{marker}-", color=colour, label=policy)
    theme.logarithmic(axes.xaxis, [packets for packets, _ in lines["adaptive"]])
    axes.set_ylim(0)
    theme.legend(figure, 3)
    theme.write(figure, "look-ahead", folder)


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
    title = f"The way of packet {execute['args']['packet']}: section 3.4 with the times of a run"
    row = 58
    figure, axes = theme.plot(title, "", "", high=80 + row * len(steps))
    axes.set(xlim=(0, 640), ylim=(row * len(steps), 0))
    axes.set_axis_off()
    colours = (PURPLE, ORANGE, PURPLE, GREY, BLUE, GREY, PURPLE)
    for at, ((start, took, lines), colour) in enumerate(zip(steps, colours, strict=True)):
        y = row * at + 4
        if at:
            arrow = {"arrowstyle": "-|>", "color": theme.INK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (390, y), (390, y - 16), arrowprops=arrow)
        corners = "round,pad=0,rounding_size=6"
        axes.add_patch(
            FancyBboxPatch((150, y), 480, row - 16, corners, color=colour, alpha=0.25, linewidth=0)
        )
        axes.add_patch(FancyBboxPatch((150, y), 480, row - 16, corners, facecolor="none", edgecolor=colour))
        words = textwrap.fill(" ".join(lines), 56)
        axes.text(390, y + (row - 16) / 2, words, ha="center", va="center", linespacing=1.15)
        when = f"at {start:.1f} µs\ntakes {took:.2f} µs" if took else f"at {start:.1f} µs"
        axes.text(135, y + (row - 16) / 2, when, ha="right", va="center", fontsize=9.5)
    theme.note(figure, "Modelled time of `ace run` on the demo's traffic, two slots, double-buffer.")
    theme.write(figure, "drp-2006-flow", folder)


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
    took = f"{hidden(behind) / 1000:.1f} of {behind['dur'] / 1000:.1f} ms"
    title = f"A load behind other work: {took} hidden"
    figure, axes = theme.plot(title, "modelled time, ms", "where", high=170 + 70 * tracks)
    kinds = {
        "load, hidden": OCHRE,
        "load that all wait for": ORANGE,
        "packets are worked on": BLUE,
        "host link": GREY,
        "host": RED,
    }
    used: dict[str, None] = {}
    for track in range(1, tracks + 1):
        drawn: dict[str, list[tuple[float, float]]] = {}
        for e in sorted((e for e in events if e["pid"] == 1 and e["tid"] == track), key=lambda e: e["ts"]):
            begin, finish = max(e["ts"], start), min(e["ts"] + e["dur"], end)
            if begin >= finish:
                continue
            if e["cat"] != "load":
                kind = {"execute": "packets are worked on", "link": "host link"}.get(e["cat"], "host")
                drawn.setdefault(kind, []).append((begin / 1000, (finish - begin) / 1000))
                continue
            for is_hidden, first, last in pieces(e):
                first, last = max(first, start), min(last, end)
                if first < last:
                    kind = "load, hidden" if is_hidden else "load that all wait for"
                    drawn.setdefault(kind, []).append((first / 1000, (last - first) / 1000))
            words = f"{e['name']}, {e['dur'] / 1000:.1f} ms"
            # A name whose load begins or ends beyond the picture stands within it.
            side = "right" if e["ts"] + e["dur"] > end else "left" if e["ts"] < start else "center"
            place = {"left": begin, "right": finish, "center": (begin + finish) / 2}[side]
            axes.text(place / 1000, track - 0.36, words, ha=side, va="bottom", fontsize=9.5)
        for kind, spans in drawn.items():
            used[kind] = None
            # Frames on the link are shorter than a pixel.
            edge = 0.5 if kind == "host link" else 0
            look = {"facecolors": kinds[kind], "edgecolors": kinds[kind], "linewidth": edge}
            axes.broken_barh(spans, (track - 0.34, 0.68), **look)
    axes.set_xlim(start / 1000, end / 1000)
    axes.set_ylim(tracks + 0.5, 0.4)
    names = [*(f"slot {at}" for at in range(tracks - 1)), "host link"]
    axes.set_yticks(range(1, tracks + 1), names)
    axes.tick_params("y", length=0)
    axes.grid(axis="y", visible=False)
    patches = [Patch(color=colour, label=kind) for kind, colour in kinds.items() if kind in used]
    theme.legend(figure, 2, handles=patches)
    theme.write(figure, "hidden-load", folder)
