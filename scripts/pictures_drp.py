# SPDX-License-Identifier: Apache-2.0
"""The pictures of the 2006 paper's machine."""

from pathlib import Path

import theme
from commands import ace
from matplotlib.lines import Line2D
from theme import BLUE, GREEN, OCHRE, ORANGE


def drp_2006(binary: Path, folder: Path) -> None:
    """The 2006 paper's machine: overhead against the length of a load."""
    study = ace(binary, "study", "drp-2006")
    runs = [run for run in study["figure9"]["what_if"] if run["load_us"] and run["load_us"] < 1000]
    title = "Overhead against the length of a load: the machine of 2006, its traffic and rates"
    figure, axes = theme.plot(title, "a load, µs", "overhead of reconfiguration, %")
    lines = [("2 groups, without double buffering", ORANGE, "o", 2, "without")]
    lines += [
        (f"{groups} groups", colour, marker, groups, "double")
        for groups, colour, marker in ((2, BLUE, "s"), (3, GREEN, "^"), (4, OCHRE, "D"))
    ]
    for name, colour, marker, groups, kind in lines:
        points = [(run["load_us"], run["figure9"][kind]) for run in runs if run["groups"] == groups]
        axes.plot(*zip(*points, strict=True), f"{marker}-", color=colour, label=name, clip_on=False)
    theme.logarithmic(axes.xaxis, sorted({run["load_us"] for run in runs}))
    axes.set_ylim(-0.7, 40)
    theme.legend(figure)
    theme.write(figure, "drp-2006", folder)
    figure_8(study, folder)
    figure_9(study, folder)


def figure_8(study: dict, folder: Path) -> None:
    """HMAC with the hash on the accelerator, against the processor alone."""
    title = "Figure 8 of the 2006 paper: the hash of an HMAC on the accelerator"
    figure, axes = theme.plot(title, "message, bytes", "time of the VR5500 alone ÷ time with it", 480)
    kinds = [
        ("drp_with_share", "DRP-1, share fitted at 8192 bytes", BLUE, "o"),
        ("array", "our array, one packet", GREEN, "s"),
        ("slot", "our slot", ORANGE, "^"),
    ]
    hashes = list(zip(study["figure8"], ("-", "--"), strict=True))
    for hash_, dash in hashes:
        for kind, name, colour, marker in kinds:
            points = [(row["bytes"], row[kind]) for row in hash_["rows"] if row[kind]]
            if points:
                label = name if dash == "-" else None
                axes.plot(*zip(*points, strict=True), marker + dash, color=colour, label=label)
    for hash_, dash in hashes:
        axes.add_line(Line2D([], [], color=theme.INK, linestyle=dash, label=hash_["name"]))
    theme.logarithmic(axes.xaxis, [2**n for n in range(5, 14, 2)])
    theme.logarithmic(axes.yaxis, [0.7, 1, 1.5, 2, 3, 5, 7, 10])
    axes.axhline(1, color=theme.INK, linewidth=0.8)
    theme.legend(figure)
    theme.write(figure, "drp-2006-hmac", folder)


def figure_9(study: dict, folder: Path) -> None:
    """The overhead with and without double buffering, theirs and ours."""
    model, recording = study["figure9"]["model"], study["figure9"]["recording"]
    rows = [
        ("paper", study["paper"]["result"]),
        ("at random, fitted", model["figure9"]),
        ("recording", recording["figure9"]),
        ("our array, fitted", model["array"][0][1]),
        ("our array, recording", recording["array"][0][1]),
    ]
    title = "Figure 9 of the 2006 paper, and our array with one packet in flight"
    figure, axes = theme.plot(title, "overhead of reconfiguration, %", "machine and traffic", 420)
    for kind, name, shift, colour in (
        ("without", "without double buffering", -0.2, ORANGE),
        ("double", "with it", 0.2, BLUE),
    ):
        values = [figures[kind] for _, figures in rows]
        bars = axes.barh([at + shift for at in range(len(rows))], values, 0.36, color=colour, label=name)
        axes.bar_label(bars, [f"{value:.2f}" for value in values], padding=3, fontsize=9.5)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.tick_params("y", length=0)
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    theme.legend(figure)
    theme.write(figure, "drp-2006-overhead", folder)
