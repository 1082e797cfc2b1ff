# SPDX-License-Identifier: Apache-2.0
"""The pictures of the studies of 2002, 2003 and 2004, and of where a slot overtakes a processor."""

import tomllib
from pathlib import Path

import theme
from commands import ROOT, ace
from matplotlib.axes import Axes
from theme import BLUE, GREEN, GREY, OCHRE, ORANGE, PURPLE, RED, TEAL


def lines(axes: Axes, rows: list[tuple[str, list[tuple[float, float]]]]) -> None:
    """A line of points for each row."""
    for (name, points), colour, marker in zip(rows, theme.COLOURS, theme.MARKERS, strict=False):
        axes.plot(*zip(*points, strict=True), f"{marker}-", color=colour, label=name)


def pilchard_2002(binary: Path, folder: Path) -> None:
    """Figure 7: triple DES against size, software and accelerators."""
    figure7 = ace(binary, "study", "pilchard-2002")["figure7"]
    sizes = [size for size, _ in figure7["points"]]
    title = "Triple DES in CBC against size, software and accelerators behind the block interface (2002)"
    figure, axes = theme.plot(title, "size, bytes", "throughput, Mb/s", high=600)
    # Processors have lines without points, each dashed in its way.
    for row, colour, dash in zip(figure7["software"], (GREY, TEAL, RED), ("--", "-.", ":"), strict=True):
        axes.plot((sizes[0], sizes[-1]), [row["mbps"]] * 2, dash, color=colour, label=row["name"])
    looks = ((PURPLE, "o"), (OCHRE, "s"), (TEAL, "^"), (RED, "D"), (GREY, "v"), (BLUE, "P"), (GREEN, "X"))
    for number, (curve, (colour, marker)) in enumerate(zip(figure7["curves"], looks, strict=True)):
        rates = [mbps[number] for _, mbps in figure7["points"]]
        name = curve["accelerator"]["name"]
        axes.plot(sizes, rates, f"{marker}-", color=colour, label=name, markersize=4.5)
    theme.logarithmic(axes.xaxis, [8, 64, 512, 4096, 32768])
    theme.logarithmic(axes.yaxis)
    theme.legend(figure)
    theme.write(figure, "pilchard-2002", folder)


def molen_2003(binary: Path, folder: Path) -> None:
    """Sets that are hidden, against what a set takes."""
    study = ace(binary, "study", "molen-2003")
    mix = [m for m in study["programs"]["mix"] if m["set_clocks"]]
    hidden = [(m["set_clocks"], 100 * (1 - m["waited"] / m["taken"])) for m in mix]
    rows = [("sets of one length", hidden)]
    # Those that the loader carries out, whole and in part.
    loaded = study["programs"]["loaded"]["mix"]
    part = {key: loaded[f"partial_{key}"] for key in ("taken", "waited")}
    count = {"p-sets": loaded["partial"], "c-sets": loaded["sets"] - loaded["partial"]}
    whole = {key: loaded[key] - part[key] for key in part}
    for name, of in (("p-sets", part), ("c-sets", whole)):
        point = (of["taken"] / count[name], 100 * (1 - of["waited"] / of["taken"]))
        rows.append((f"the library's {name}, by the loader", [point]))
    title = "Four algorithms in turns on the Molen machine (2003): what is hidden of the time that sets take"
    figure, axes = theme.plot(title, "time of a set, clocks", "hidden behind the core's work, %")
    lines(axes, rows)
    theme.logarithmic(axes.xaxis, [clocks for clocks, _ in hidden])
    axes.set_ylim(-2, 104)
    theme.legend(figure, 3)
    theme.write(figure, "molen-2003", folder)


def idea_2004(binary: Path, folder: Path) -> None:
    """Throughput against size of the data paths."""
    study = ace(binary, "study", "idea-2004")
    stages = study["substages"]
    netlist, bits = study["constant"]["netlist"], study["constant"]["bits"]
    area, mhz = netlist["area"], bits["median"]["fmax_mhz"]
    luts = area["lut4"] + 2 * area["ccu2c"]
    built = {
        kind: [(b["lut_sites"], b["mbps"], b["path"]) for b in study["built"] if b["multipliers"] == kind]
        for kind in ("lut", "mult18")
    }
    built["mult18"].append((stages["lut_sites"], stages["mbps"], "stages"))
    figure, axes = theme.plot("IDEA in ECB by its data paths (2004)", "size, LUT4", "throughput, Mb/s", 500)
    groups = [
        ("multipliers of LUTs", BLUE, "o", built["lut"]),
        ("multipliers MULT18X18D", GREEN, "s", built["mult18"]),
        ("no multiplier", PURPLE, "D", [(luts, 64 * mhz, "constant key")]),
    ]
    for name, colour, marker, rows in groups:
        axes.plot([x for x, _, _ in rows], [y for _, y, _ in rows], marker, color=colour, label=name)
    theme.logarithmic(axes.xaxis)
    theme.logarithmic(axes.yaxis)
    axes.margins(0.12)
    # What another key costs where it stands in the contents of LUTs.
    with (ROOT / "board.toml").open("rb") as file:
        port = tomllib.load(file)["configuration_port"]
    delta = max(bits["deltas"], key=lambda d: d["bytes"])
    us = 8 * delta["bytes"] / port["width"] / port["clock_mhz"]
    note = (
        f"Constant key: {luts} LUT4, {area['kept']} of them for the key, {mhz:.0f} MHz. "
        f"Any key, stages: {stages['lut_sites']} LUT4, {stages['median_mhz']:.0f} MHz. "
        f"Another constant key: {delta['frames']} frames, {delta['bytes']} of {delta['whole_bytes']} bytes, "
        f"{us:.0f} µs at the port."
    )
    theme.legend(figure, 3, note)
    theme.name_points(axes, [row for _, _, _, rows in groups for row in rows])
    theme.write(figure, "idea-2004", folder)


def crossover(binary: Path, folder: Path) -> None:
    """Figure 7 of the 2002 paper for today's slot: a full-sized machine's triple DES, and AES on a small processor."""
    for name, algorithm, processor in (
        ("crossover", "3des", "this-machine"),
        ("crossover-small", "aes", "vr5500"),
    ):
        profile = f"studies/processors/{processor}.toml"
        table = ace(binary, "bench", "crossover", algorithm, "--processor", profile)
        named = tomllib.loads((ROOT / profile).read_text())["name"]
        title = f"{table[0]['operation']} against size: a slot and {named}, modelled"
        figure, axes = theme.plot(title, "size, bytes", "throughput, Mb/s", 480)
        sizes = [row["bytes"] for row in table]
        for key, words, colour in (
            ("auto", "whoever is earlier", PURPLE),
            ("auto_with_load", "whoever is earlier, slot empty", OCHRE),
        ):
            rates = [row[key] for row in table]
            axes.plot(sizes, rates, color=colour, linewidth=8, alpha=0.4, solid_capstyle="butt", label=words)
        # What this processor was measured with in wall time is compared with nothing modelled.
        for key, words, colour, marker in (
            ("processor", "stated processor", BLUE, "o"),
            ("slot", "slot", GREEN, "s"),
            ("slot_with_load", "slot, loaded for it", ORANGE, "^"),
        ):
            axes.plot(sizes, [row[key] for row in table], f"{marker}-", color=colour, label=words)
        theme.logarithmic(axes.xaxis, [64, 256, 1024, 4096, 16384, 65536])
        theme.logarithmic(axes.yaxis)
        theme.legend(figure, 3)
        theme.write(figure, name, folder)
