# SPDX-License-Identifier: Apache-2.0
"""Pictures of chains: what is compared with what from the standard to silicon, and the way of a key."""

from dataclasses import dataclass
from pathlib import Path

import theme
from commands import ROOT
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch
from theme import BLUE, GREEN, GREY, OCHRE, ORANGE, PURPLE

# Of a chain, in pixels: boxes at the left, what is between them or of them at the right.
LEFT, WIDE, HIGH, NOTES = 34, 200, 50, 262


@dataclass
class Step:
    """A box, and what is noted below it: lines by the kind that gives them their colour."""

    name: str
    about: str
    notes: list[tuple[str, str]]
    colour: str = GREY


def box(axes: Axes, top: float, step: Step) -> None:
    corners = "round,pad=0,rounding_size=7"
    look = {"boxstyle": corners, "linewidth": 1.3}
    axes.add_patch(FancyBboxPatch((LEFT, top), WIDE, HIGH, color=step.colour, alpha=0.22, boxstyle=corners))
    axes.add_patch(FancyBboxPatch((LEFT, top), WIDE, HIGH, facecolor="none", edgecolor=step.colour, **look))
    middle = {"x": LEFT + WIDE / 2, "ha": "center", "va": "center"}
    axes.text(y=top + 17, s=step.name, fontweight="bold", **middle)
    axes.text(y=top + 35, s=step.about, fontsize=9.5, **middle)


def notes(axes: Axes, top: float, step: Step, kinds: dict[str, str]) -> None:
    for kind, words in step.notes:
        lines = words.count("\n") + 1
        axes.plot([NOTES, NOTES], [top, top + 19 * lines - 4], "-", color=kinds[kind], linewidth=4)
        axes.text(NOTES + 12, top - 1, words, va="top", fontsize=9.8, linespacing=1.3)
        top += 19 * lines + 6


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)


def chain(
    title: str, steps: list[Step], kinds: dict[str, str], beside: bool
) -> tuple[theme.Figure, Axes, list[float]]:
    """Steps from top to bottom, their notes between boxes or beside each; and where the boxes begin."""
    tops, top = [], 6.0
    for step in steps:
        tops.append(top)
        # So many lines below a box, or as many as are higher than the box.
        lines = 19 * sum(words.count("\n") + 1 for _, words in step.notes) + 6 * len(step.notes)
        top += max(HIGH + 34, lines + 20) if beside else HIGH + max(lines + 14, 30)
    end = top if beside else tops[-1] + HIGH + 6
    figure, axes = theme.plot(title, "", "", high=round(end) + 80)
    axes.set(xlim=(0, 640), ylim=(end, 0))
    axes.set_axis_off()
    for at, (step, top) in enumerate(zip(steps, tops, strict=True)):
        box(axes, top, step)
        notes(axes, top + 8 if beside else top + HIGH + 10, step, kinds)
        if at + 1 < len(steps):
            colour = kinds[step.notes[0][0]] if step.notes and not beside else theme.INK
            arrow(axes, (LEFT + WIDE / 2, top + HIGH), (LEFT + WIDE / 2, tops[at + 1]), colour)
    figure.legend(
        handles=[Patch(color=colour, label=kind) for kind, colour in kinds.items()],
        loc="outside lower center",
        ncols=len(kinds),
    )
    return figure, axes, tops


def proof_chain(folder: Path) -> None:
    """docs/proof.md as a chain: each link proven, assumed or trusted."""
    kinds = {"proven": GREEN, "assumed": OCHRE, "trusted": PURPLE}
    steps = [
        Step(
            "standard",
            "FIPS, RFC, paper",
            [
                ("proven", "functions, for all values: ace_flow standard"),
                ("assumed", "whole ciphers of fixed hardware:\nknown answers"),
            ],
        ),
        Step(
            "RTL",
            "as slang reads it",
            [
                ("proven", "for all inputs, by certificate: ace_flow equiv"),
                ("trusted", "slang with Yosys reads the RTL"),
            ],
        ),
        Step("netlist", "of ECP5 cells", [("proven", "by structure or certificate: ace library prove")]),
        Step("circuit", "as the bits route it", [("proven", "read, and written again: ace netlist")]),
        Step(
            "bits",
            "in the signed library",
            [
                ("assumed", "what bits mean in silicon; the clock\nis nextpnr's report"),
                ("trusted", "Project Trellis"),
            ],
        ),
        Step("silicon", "not tried", []),
    ]
    model = Step(
        "model",
        "C++, compiled here",
        [
            ("proven", "one digest of the design in proof, manifest\nand model, compared at every load"),
            ("trusted", "Verilator and the C++ compiler"),
        ],
    )
    page = (ROOT / "docs/proof.md").read_text()
    for words in (words for step in steps for _, words in step.notes):
        command = words.partition(": ")[2]
        if command.startswith("ace") and command not in page:
            raise ValueError(
                f"scripts/pictures_chains.py: docs/proof.md has no command {command!r}; name one of it"
            )
    title = "What is compared with what, from the standard to the bits"
    figure, axes, tops = chain(title, steps, kinds, False)
    # The model is beside the chain, below it: it comes of the RTL.
    end = tops[-1] + HIGH + 6
    low = end + 20
    axes.set_ylim(low + HIGH + 16, 0)
    figure.set_figheight(figure.get_figheight() + (HIGH + 30) / 96)
    box(axes, low, model)
    axes.plot([LEFT, 14, 14], [tops[1] + HIGH / 2] * 2 + [low + HIGH / 2], color=GREEN, linewidth=1.8)
    arrow(axes, (14, low + HIGH / 2), (LEFT, low + HIGH / 2), GREEN)
    notes(axes, low + 2, model, kinds)
    theme.write(figure, "proof-chain", folder)


def way_of_a_key(folder: Path) -> None:
    """Where a key is, from its SA to the slot, and what takes it away there."""
    kinds = {"on the host": PURPLE, "on the wire": ORANGE, "in the slot": BLUE}
    host, wire, slot = kinds
    steps = [
        Step(
            "SA",
            "file, command or XFRM",
            [(host, "The text that it came in is wiped\nwhen it has been read.")],
            PURPLE,
        ),
        Step(
            "key",
            "of the SA, expanded once",
            [
                (host, "A removed SA's keys are wiped behind its\nlast packet, with their last handle."),
                (host, "The stack that expanded a key is overwritten."),
            ],
            PURPLE,
        ),
        Step("frame", "with fresh key", [(wire, "Readable on the cable, so the cable\nis direct.")], ORANGE),
        Step(
            "slot",
            "keeps the last fresh key",
            [
                (slot, "Forgotten at a frame with wipe,"),
                (slot, "at a frame that ends inside its key,"),
                (slot, "at a reset"),
                (slot, "and at a reconfiguration."),
            ],
            BLUE,
        ),
    ]
    figure, _, _ = chain("The way of a key, and what forgets it", steps, kinds, True)
    theme.write(figure, "key-way", folder)
