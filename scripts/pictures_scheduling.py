# SPDX-License-Identifier: Apache-2.0
"""The pictures of policies beside what none can exceed."""

import json
from pathlib import Path

import theme
from commands import ROOT


def page_table(page: str, title: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the first table below a heading."""
    below = page.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in below.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in rows]
    return cells[0], cells[2:]


# The colour and the marker of each.
POLICIES = {
    "on-demand": (theme.ORANGE, "o"),
    "double-buffer, late kept": (theme.GREY, "s"),
    "double-buffer": (theme.BLUE, "^"),
    "landlord": (theme.PURPLE, "D"),
    "rotation": (theme.OCHRE, "v"),
    "adaptive": (theme.GREEN, "P"),
}

# By class: what each policy reached, and what none can exceed.
Reached = dict[str, tuple[dict[str, float], float | None]]


def by_class(name: str, title: str, what: str, rows: Reached, folder: Path) -> None:
    """Policies as points on the line of each class, one above the other; a dash is the bound."""
    figure, axes = theme.plot(title, what, "class of traffic", high=190 + 40 * len(rows))
    policies = [name for name in POLICIES if any(name in values for values, _ in rows.values())]
    for at, policy in enumerate(policies):
        colour, marker = POLICIES[policy]
        # From the top of a class's row to its bottom.
        shift = 0.72 * at / max(len(policies) - 1, 1) - 0.36
        points = [
            (values[policy], row + shift) for row, (values, _) in enumerate(rows.values()) if policy in values
        ]
        axes.plot(
            *zip(*points, strict=True),
            marker,
            color=colour,
            label=policy,
            markersize=4.5,
            clip_on=False,
            zorder=3,
        )
    bounds = [(bound, row) for row, (_, bound) in enumerate(rows.values()) if bound is not None]
    if bounds:
        places, at = zip(*bounds, strict=True)
        low, high = [row - 0.44 for row in at], [row + 0.44 for row in at]
        axes.vlines(places, low, high, color=theme.INK, linewidth=1.6, label="proven bound")
    for row in range(len(rows) + 1):
        axes.axhline(row - 0.5, color=theme.GREY, alpha=0.3, linewidth=0.6)
    axes.set_xlim(0, 1.01)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params("y", length=0)
    axes.grid(axis="y", visible=False)
    theme.legend(figure, 3)
    theme.write(figure, name, folder)


def scheduling(folder: Path) -> None:
    """What studies/scheduling/results.json records, as plots."""
    page = json.loads((ROOT / "studies/scheduling/results.json").read_text())["values"]
    head, table = page_table(page, "Large traces")
    for part, file in (("0.8", "scheduling-below"), ("1.2", "scheduling-above")):
        rows: Reached = {}
        for row in table:
            if row[1] == part:
                reached = [float(cell.split(" ")[0]) for cell in row[6:]]
                rows[row[0]] = (dict(zip(head[6:], reached, strict=True)), float(row[4]) if row[4] else None)
        title = f"Bytes in time at {part} of the capacity by the rotation law"
        by_class(file, title, "bytes in time ÷ all bytes", rows, folder)
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
    title = "Closed loops: policies that starve nobody, and adaptive"
    by_class("scheduling-closed", title, "Mb/s ÷ Mb/s of the best policy", rows, folder)
