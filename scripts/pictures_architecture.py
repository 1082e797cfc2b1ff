# SPDX-License-Identifier: Apache-2.0
"""Pictures of how ACE is built: the ways of a packet and of a configuration, and a tile with the words of one block."""

from pathlib import Path

import theme
from commands import ace
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch
from theme import BLUE, GREEN, GREY, OCHRE, ORANGE, PURPLE, TEAL

CORNERS = "round,pad=0,rounding_size=7"


def box(axes: Axes, place: tuple[float, float, float, float], name: str, about: str, colour: str) -> None:
    """Left, top, width and height; a name, and what it is."""
    left, top, wide, high = place
    axes.add_patch(FancyBboxPatch((left, top), wide, high, color=colour, alpha=0.2, boxstyle=CORNERS))
    axes.add_patch(
        FancyBboxPatch(
            (left, top), wide, high, facecolor="none", edgecolor=colour, linewidth=1.3, boxstyle=CORNERS
        )
    )
    lines = about.count("\n") + 1
    middle = top + high / 2
    look = {"x": left + wide / 2, "ha": "center", "va": "center"}
    axes.text(y=middle - 7 * lines - 1, s=name, fontweight="bold", **look)
    axes.text(y=middle + 9, s=about, fontsize=9.5, linespacing=1.25, **look)


def arrow(axes: Axes, points: list[tuple[float, float]], colour: str, both: bool = False) -> None:
    """A line over these points with a head at its end, or at both."""
    axes.plot(*zip(*points[:-1], strict=True), color=colour, linewidth=1.8, solid_capstyle="butt")
    look = {
        "arrowstyle": "<|-|>" if both else "-|>",
        "color": colour,
        "linewidth": 1.8,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", points[-1], points[-2], arrowprops=look)


def architecture(folder: Path) -> None:
    """docs/explanation/architecture.md in one picture."""
    figure, axes = theme.plot("The way of a packet, and the way of a configuration", "", "", high=560)
    axes.set(xlim=(0, 640), ylim=(462, 0))
    axes.set_axis_off()
    columns, wide = (8, 230, 452), 180
    first = [
        ("gateway, ace run", "TUN device, XFRM socket,\ncapture"),
        ("data plane", "rule and SA, ESP and AH,\nnumbers, replay window"),
        ("engine", "processor, board,\nor each where sooner"),
    ]
    for left, (name, about) in zip(columns, first, strict=True):
        box(axes, (left, 8, wide, 68), name, about, BLUE)
    for left in columns[1:]:
        arrow(axes, [(left - 42, 42), (left, 42)], BLUE, both=True)
    # From the engine to the controller, around the boxes between them.
    axes.plot([542, 542, 98], [76, 100, 100], color=BLUE, linewidth=1.8)
    arrow(axes, [(98, 100), (98, 130)], BLUE)
    box(axes, (8, 130, wide, 76), "controller", "a policy decides what is\nloaded and runs next", GREEN)
    box(axes, (216, 118, 420, 112), "", "", GREY)
    axes.text(
        426, 132, "board: simulated, or an image at an Ethernet cable", ha="center", va="center", fontsize=9.5
    )
    box(axes, (230, 146, wide, 72), "slots of fabric", "a bitstream each,\nloaded in milliseconds", GREEN)
    box(axes, (444, 146, wide, 72), "slots of the array", "context sets,\nloaded in microseconds", GREEN)
    arrow(axes, [(188, 158), (216, 158)], BLUE, both=True)
    arrow(axes, [(188, 186), (216, 186)], ORANGE)
    box(axes, (8, 282, wide, 76), "library", "signed, compressed,\nwith each proof's record", ORANGE)
    arrow(axes, [(98, 282), (98, 206)], ORANGE)
    axes.text(108, 246, "checked: signature,\nversion, digest", va="center", fontsize=9.5, linespacing=1.25)
    about = "the bits are the netlist, and the netlist is the RTL;\na context set is what its source says"
    box(axes, (230, 282, 402, 76), "proof", about, ORANGE)
    arrow(axes, [(230, 320), (188, 320)], ORANGE)
    sources = [
        ("RTL of a cipher", "SystemVerilog;\nYosys, nextpnr"),
        ("array program", "a source of some lines;\nthe array's compiler"),
    ]
    for left, (name, about) in zip((230, 452), sources, strict=True):
        box(axes, (left, 388, wide, 68), name, about, ORANGE)
        arrow(axes, [(left + wide / 2, 388), (left + wide / 2, 358)], ORANGE)
    kinds = {"a packet": BLUE, "what computes": GREEN, "a configuration": ORANGE}
    figure.legend(
        handles=[Patch(color=colour, label=kind) for kind, colour in kinds.items()],
        loc="outside lower center",
        ncols=len(kinds),
    )
    theme.write(figure, "architecture", folder)


def tile(binary: Path, folder: Path) -> None:
    """The words of one block of SM4 on their way through a tile, by `ace array show`."""
    drawn = ace(binary, "array", "show", "sm4", "--variant", "sm4_encrypt")
    last = 44
    colours = {
        "input": GREY,
        "ALU": BLUE,
        "rotator": GREEN,
        "quad": ORANGE,
        "memory": OCHRE,
        "multiplier": PURPLE,
        "output": TEAL,
    }
    kinds = [name.split()[0] for name in drawn["elements"]]
    here = [operation for operation in drawn["operations"] if operation["slot"] < last]
    title = f"The first {last} clocks of a block of SM4 in a tile: every word, from the element that makes it to those that take it"
    figure, axes = theme.plot(title, "clock, from the start of the block", "", high=470)
    made = {operation["value"]: operation for operation in here if operation["what"] != "store"}
    shown = {operation["value"]: operation for operation in here if operation["what"] == "store"}
    for operation in here:
        for taken in operation["takes"]:
            source = (shown if taken["by"] == "stored" else made).get(taken["value"])
            if source is None or source is operation:
                continue
            look = {"color": colours[kinds[source["element"]]], "linewidth": 1.2, "alpha": 0.75, "zorder": 1}
            look |= {"linestyle": (0, (3, 2))} if taken["by"] == "stored" else {}
            axes.plot(
                [source["slot"] + 0.5, operation["slot"] + 0.5],
                [source["element"], operation["element"]],
                **look,
            )
    for operation in here:
        colour = colours[kinds[operation["element"]]]
        place = (operation["slot"] + 0.05, operation["element"] - 0.2)
        axes.add_patch(
            FancyBboxPatch(place, 0.9, 0.4, color=colour, boxstyle="round,pad=0,rounding_size=0.1", zorder=2)
        )
    axes.set(xlim=(-0.5, last), ylim=(len(kinds) - 0.5, -0.5))
    axes.set_yticks(range(len(kinds)), drawn["elements"])
    axes.grid(axis="y", visible=False)
    contexts = drawn["contexts"]
    theme.note(
        figure,
        f"A box is an operation, a line a word; a broken line is a word that a memory element has stored. "
        f"The next block starts {contexts} clocks later, so {drawn['in_flight']} blocks are on their way at once. "
        f"The result is there after {drawn['latency']} clocks.",
    )
    theme.write(figure, "tile", folder)
