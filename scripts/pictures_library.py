# SPDX-License-Identifier: Apache-2.0
"""The pictures of the library: how fast and how large its configurations are, and where their bits lie."""

from pathlib import Path

import theme
from ace_flow.sim import frames
from commands import ace
from theme import BLUE, GREEN, OCHRE, ORANGE, PURPLE


def throughput(binary: Path, folder: Path) -> None:
    """How fast each base of the library is, by its size."""
    rows: dict[str, list[tuple[float, float, str]]] = {"block": [], "ring": [], "hash": []}
    for image in ace(binary, "library", "list")["configurations"]:
        if image["base"]:
            continue
        about = ace(binary, "library", "show", image["name"])["manifest"]
        cipher = [
            r
            for r in about.get("throughput_mbps", [])
            if r.get("mode") == "cbc" and r["direction"] == "encrypt"
        ]
        rates = cipher or [r for r in about.get("throughput_mbps", []) if not r.get("mode")]
        if not rates:
            continue
        core = about["area_core"]
        hashes = all(can["kind"] == "hash" for can in about["can"])
        kind = "hash" if hashes else "ring" if about.get("in_flight", 1) > 1 else "block"
        size = core["lut4"] + 2 * core["ccu2c"]
        rows[kind].append((size, max(r["mbps"] for r in rates), image["name"]))
    title = "Throughput against size: the bases of the library"
    y = "CBC encryption or hashing at the slot's Fmax, Mb/s"
    figure, axes = theme.plot(title, "size of the core, LUTeq (LUT4 + 2 CCU2C)", y, 640)
    for kind, name, colour, marker in (
        ("block", "one block at a time", BLUE, "o"),
        ("ring", "blocks of many packets in one ring", GREEN, "s"),
        ("hash", "hashes", ORANGE, "^"),
    ):
        x, y = [row[0] for row in rows[kind]], [row[1] for row in rows[kind]]
        axes.plot(x, y, marker, color=colour, label=name)
    theme.logarithmic(axes.xaxis)
    theme.logarithmic(axes.yaxis)
    axes.margins(0.08)
    theme.legend(figure, 3)
    theme.name_points(axes, [row for group in rows.values() for row in group])
    theme.write(figure, "throughput", folder)


def compression(stats: dict, folder: Path) -> None:
    """How many per cent of its frames each base takes in the library, by how full the part is."""
    rows = [
        (c["lut_use_percent"], c["percent"], c["name"]) for c in stats["configurations"] if c["base"] is None
    ]
    title = "Compressed size against LUT use: the bases of the library"
    figure, axes = theme.plot(title, "LUTs in use, %", "stored, % of the frames", 700)
    axes.plot([row[0] for row in rows], [row[1] for row in rows], "o", color=BLUE)
    theme.logarithmic(axes.xaxis)
    theme.logarithmic(axes.yaxis)
    axes.margins(0.08)
    theme.name_points(axes, rows)
    theme.write(figure, "compression", folder)


def library_layout(stats: dict, folder: Path) -> None:
    """What the bytes of the library are."""
    parts = [
        ("streams of frames", "stream_bytes"),
        ("context sets", "context_set_bytes"),
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
    sizes.sort(key=lambda part: -part[1])
    count = len(stats["configurations"])
    title = f"The library, version {stats['version']}: {count} configurations in {theme.plain(stats['bytes'])} bytes"
    figure, axes = theme.plot(title, "size, kB", "part of the file", 420)
    bars = axes.barh([name for name, _ in sizes], [size / 1000 for _, size in sizes], 0.7, color=BLUE)
    labels = [f"{theme.plain(size)} bytes, {100 * size / stats['bytes']:.2f} %" for _, size in sizes]
    axes.bar_label(bars, labels, padding=4, fontsize=9.5)
    axes.tick_params("y", length=0)
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.65 * max(size for _, size in sizes) / 1000)
    theme.note(
        figure,
        f"The file is {stats['file_percent']:.2f} % of the {theme.plain(stats['frame_bytes'])} bytes of frames "
        "that configurations and images of boards have when they are loaded.",
    )
    theme.write(figure, "library", folder)


def frame_layout(folder: Path) -> None:
    """A request and its response, beat by beat, as the flow builds them."""
    parts = {"payload": bytes(48), "key": bytes(16), "iv": bytes(16)}
    request = frames.request(1, "cbc", parts["payload"], key=parts["key"], iv=parts["iv"])
    plain = frames.request(1, "cbc", parts["payload"], iv=parts["iv"])
    header = len(plain) - len(parts["iv"]) - len(parts["payload"])
    rows = [
        (
            "request, fresh key",
            [("header", header), ("key", len(request) - len(plain)), ("IV", 16), ("data", 48)],
        ),
        ("request, key kept", [("header", header), ("IV", 16), ("data", 48)]),
        ("response", [("result", 48), ("trailer", frames.BEAT)]),
    ]
    colours = {"header": BLUE, "key": ORANGE, "IV": OCHRE, "data": GREEN, "result": GREEN, "trailer": PURPLE}
    title = "A frame: AES-128-CBC over 48 bytes, a beat of 8 bytes each clock"
    figure, axes = theme.plot(title, "beats", "frame", 300)
    for row, (_, sections) in enumerate(rows):
        start = 0.0
        for section, size in sections:
            beats = size / frames.BEAT
            axes.barh(row, beats, 0.7, start, color=colours[section], alpha=0.45)
            axes.barh(row, beats, 0.7, start, color="none", edgecolor=colours[section], linewidth=1.4)
            words = f"{section}\n{size}"
            axes.text(start + beats / 2, row, words, ha="center", va="center", fontsize=9.5, linespacing=1.5)
            start += beats
    axes.set_yticks(range(len(rows)), [name.replace(", ", ",\n") for name, _ in rows])
    axes.tick_params("y", length=0)
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    theme.note(figure, "Sizes in bytes. docs/slot.md has every field.")
    theme.write(figure, "frame", folder)
