# SPDX-License-Identifier: Apache-2.0
"""The pictures of the 2006 paper's machine."""

from pathlib import Path

from drawing import COLOURS, Axis, Plot, ace, logarithmic


def drp_2006(binary: Path, folder: Path) -> None:
    """The 2006 paper's machine: overhead against the length of a load."""
    study = ace(binary, "study", "drp-2006")
    runs = [run for run in study["figure9"]["what_if"] if run["load_us"] and run["load_us"] < 1000]
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
    kinds = [
        ("drp_with_share", "DRP-1, share fitted at 8192 bytes"),
        ("array", "our array, one packet"),
        ("slot", "our slot"),
    ]
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
    model, recording = study["figure9"]["model"], study["figure9"]["recording"]
    rows = [
        ("paper", study["paper"]["result"]),
        ("at random, fitted", model["figure9"]),
        ("recording", recording["figure9"]),
        ("our array, fitted", model["array"][0][1]),
        ("our array, recording", recording["array"][0][1]),
    ]
    y = Axis("overhead of reconfiguration, %", 0, 24, list(range(0, 25, 4)))
    plot = Plot(
        "Figure 9 of the 2006 paper, and our array with one packet in flight",
        Axis("", 0, len(rows), []),
        y,
        760,
        420,
    )
    for at, (name, figures) in enumerate(rows):
        for side, (kind, colour) in enumerate((("without", COLOURS[2]), ("double", COLOURS[0]))):
            left, top = plot.place(at + 0.2 + 0.3 * side, figures[kind])
            right, bottom = plot.place(at + 0.47 + 0.3 * side, 0)
            plot.box(left, top, right - left, bottom - top, colour, f"{name}, {kind}: {figures[kind]:.2f} %")
            plot.text((left + right) / 2, top - 6, f"{figures[kind]:.2f}", "middle small")
        plot.text(plot.place(at + 0.5, 0)[0], plot.place(0, 0)[1] + 18, name, "middle")
    plot.key(530, 60, [(COLOURS[2], "without double buffering"), (COLOURS[0], "with it")])
    plot.write("drp-2006-overhead", folder)
