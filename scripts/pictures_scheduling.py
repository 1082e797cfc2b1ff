# SPDX-License-Identifier: Apache-2.0
"""The pictures of policies beside what none can exceed."""

import json
from html import escape
from pathlib import Path

from drawing import COLOURS, ROOT, Axis, Plot


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
    """What studies/scheduling/results.json records, as plots."""
    page = json.loads((ROOT / "studies/scheduling/results.json").read_text())["values"]
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
