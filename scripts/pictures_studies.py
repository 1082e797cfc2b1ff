# SPDX-License-Identifier: Apache-2.0
"""The pictures of the studies of 2002, 2003 and 2004, and of where a slot overtakes a processor."""

import tomllib
from pathlib import Path

from drawing import COLOURS, ROOT, Axis, Plot, ace, logarithmic

LINES = [*COLOURS, "#7f0000", "#555555"]


def lines(plot: Plot, rows: list[tuple[str, list[tuple[float, float]]]], unit: str) -> None:
    """A line of dots for each row, and what it is below."""
    for number, (name, points) in enumerate(rows):
        colour = LINES[number % len(LINES)]
        plot.line([plot.place(x, y) for x, y in points], f'stroke="{colour}" stroke-width="2"')
        for x, y in points:
            plot.dot(*plot.place(x, y), colour, f"{name}, {x:g}: {y:.3g} {unit}")
    height = plot.height - plot.BOTTOM - 18 * len(rows)
    plot.key(plot.width - 330, height, [(LINES[n % len(LINES)], name) for n, (name, _) in enumerate(rows)])


def pilchard_2002(binary: Path, folder: Path) -> None:
    """Figure 7: triple DES against size, software and accelerators."""
    figure = ace(binary, "study", "pilchard-2002")["figure7"]
    sizes = [bytes_ for bytes_, _ in figure["points"]]
    rows = [(s["name"], [(size, s["mbps"]) for size in (sizes[0], sizes[-1])]) for s in figure["software"]]
    rows += [
        (curve["accelerator"]["name"], [(size, mbps[number]) for size, mbps in figure["points"]])
        for number, curve in enumerate(figure["curves"])
    ]
    values = [y for _, points in rows for _, y in points]
    title = "Triple DES in CBC against size, software and accelerators behind the block interface (2002)"
    x = Axis("bytes", 8, 65536, [8, 64, 512, 4096, 32768], True)
    plot = Plot(title, x, logarithmic("Mb/s", values))
    lines(plot, rows, "Mb/s")
    plot.write("pilchard-2002", folder)


def molen_2003(binary: Path, folder: Path) -> None:
    """Sets that are hidden, against what a set takes."""
    study = ace(binary, "study", "molen-2003")
    mix = [m for m in study["programs"]["mix"] if m["set_clocks"]]
    hidden = [(m["set_clocks"], 100 * (1 - m["waited"] / m["taken"])) for m in mix]
    x = logarithmic("clocks of a set", [clocks for clocks, _ in hidden])
    plot = Plot(
        "Four algorithms in turns on the Molen machine (2003)",
        x,
        Axis("hidden, %", 0, 100, [0, 25, 50, 75, 100]),
    )
    rows = [("of what sets take, hidden behind the core's work", hidden)]
    # Those that the loader carries out, whole and in part.
    loaded = study["programs"]["loaded"]["mix"]
    part = {key: loaded[f"partial_{key}"] for key in ("taken", "waited")}
    count = {"p-sets": loaded["partial"], "c-sets": loaded["sets"] - loaded["partial"]}
    whole = {key: loaded[key] - part[key] for key in part}
    for name, of in (("p-sets", part), ("c-sets", whole)):
        rows.append(
            (
                f"the library's {name}, by the loader",
                [(of["taken"] / count[name], 100 * (1 - of["waited"] / of["taken"]))],
            )
        )
    lines(plot, rows, "%")
    plot.write("molen-2003", folder)


def idea_2004(binary: Path, folder: Path) -> None:
    """Throughput against size of the data paths."""
    study = ace(binary, "study", "idea-2004")
    rows = [
        (b["lut_sites"], b["mbps"], COLOURS[b["multipliers"] != "lut"], f"{b['path']}, {b['multipliers']}")
        for b in study["built"]
    ]
    stages = study["substages"]
    rows.append((stages["lut_sites"], stages["mbps"], COLOURS[2], "stages, mult18"))
    netlist, bits = study["constant"]["netlist"], study["constant"]["bits"]
    area, mhz = netlist["area"], bits["median"]["fmax_mhz"]
    luts = area["lut4"] + 2 * area["ccu2c"]
    rows.append((luts, 64 * mhz, COLOURS[3], "constant key, no multiplier"))
    x = logarithmic("LUT4", [row[0] for row in rows])
    plot = Plot("IDEA in ECB by its data paths (2004)", x, logarithmic("Mb/s", [row[1] for row in rows]))
    plot.points(rows)
    # What another key costs where it stands in the contents of LUTs.
    with (ROOT / "board.toml").open("rb") as file:
        port = tomllib.load(file)["configuration_port"]
    delta = max(bits["deltas"], key=lambda d: d["bytes"])
    us = 8 * delta["bytes"] / port["width"] / port["clock_mhz"]
    labels = [
        f"constant key: {luts} LUT4 ({area['kept']} hold it), {mhz:.0f} MHz; any key, stages: {stages['lut_sites']} LUT4, {stages['median_mhz']:.0f} MHz",
        f"another constant key: {delta['frames']} frames, {delta['bytes']} bytes, {us:.0f} µs at the port (all: {delta['whole_bytes']} bytes)",
    ]
    for number, words in enumerate(labels):
        plot.text(plot.LEFT + 12, plot.TOP + 18 + 18 * number, words, "small")
    plot.write("idea-2004", folder)


def crossover(binary: Path, folder: Path) -> None:
    """Figure 7 of the 2002 paper for today's slot: a full-sized machine's triple DES, and AES on a small processor."""
    for name, algorithm, processor in (
        ("crossover", "3des", "this-machine"),
        ("crossover-small", "aes", "vr5500"),
    ):
        profile = f"studies/processors/{processor}.toml"
        table = ace(binary, "bench", "crossover", algorithm, "--processor", profile)
        # What this processor was measured with in wall time is compared with nothing modelled.
        words = {"processor": "stated processor", "slot": "slot", "slot_with_load": "slot, loaded for it"}
        rows = [(words[key], [(row["bytes"], row[key]) for row in table]) for key in words]
        earlier = [(key, [(row["bytes"], row[key]) for row in table]) for key in ("auto", "auto_with_load")]
        values = [rate for _, points in rows for _, rate in points]
        x = Axis("bytes", 64, 65536, [64, 256, 1024, 4096, 16384, 65536], True)
        named = (ROOT / profile).read_text().split('name = "')[1].split('"')[0]
        title = f"{table[0]['operation']} against size: a slot and {named}, modelled"
        plot = Plot(title, x, logarithmic("Mbit/s", values))
        for number, (_, points) in enumerate(earlier, start=3):
            wide = f'stroke="{LINES[number]}" stroke-width="9" stroke-opacity="0.35"'
            plot.line([plot.place(x, y) for x, y in points], wide)
        lines(plot, rows, "Mbit/s")
        labels = [(LINES[3], "wide: whoever is earlier"), (LINES[4], "wide: the same, slot empty")]
        plot.key(plot.width - 330, plot.height - plot.BOTTOM - 18 * (len(rows) + 2), labels)
        plot.write(name, folder)
