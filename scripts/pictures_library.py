# SPDX-License-Identifier: Apache-2.0
"""The pictures of the library: how fast and how large its configurations are, and where their bits lie."""

from pathlib import Path

from ace_flow.sim import frames
from drawing import COLOURS, Axis, Picture, Plot, ace, logarithmic


def throughput(binary: Path, folder: Path) -> None:
    """How fast each base of the library is, by its size."""
    rows = []
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
