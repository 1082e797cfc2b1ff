# SPDX-License-Identifier: Apache-2.0
"""What of a design, as slang has elaborated it, two readers take for two circuits, although its text shows nothing: it is
refused by the linter and by the proof."""

from collections.abc import Iterator

# Of a divisor of 0 each reader makes what it likes.
DIVIDES = ("$div", "$mod", "$divfloor", "$modfloor")
# No synthesis makes them for signals, and readers differ in their widths.
POWER = "$pow"
# What is looked at.
KINDS = (*DIVIDES, POWER)


def initial(module: dict) -> dict[object, str]:
    """What signals are when power comes on, where the design says so: 0 or 1."""
    known: dict[object, str] = {}
    for net in module.get("netnames", {}).values():
        told = net.get("attributes", {}).get("init", "")
        for bit, value in zip(net["bits"], reversed(told), strict=False):
            if value in "01":
                known[bit] = value
    return known


def refused(module: dict) -> Iterator[str]:
    """What of it is refused, and where it stands."""
    for name, cell in module["cells"].items():
        place = cell.get("attributes", {}).get("src", name)
        if cell["type"] in DIVIDES:
            divisor = cell["connections"]["B"]
            if not set(divisor) <= {"0", "1"} or "1" not in divisor:
                yield f"{place}: a division by what may be 0, where readers differ: divide by a constant"
        elif cell["type"] == POWER:
            yield f"{place}: a power of signals: write products, or a shift"
    for name, net in module.get("netnames", {}).items():
        attributes = net.get("attributes", {})
        if "init" in attributes and not net.get("hide_name"):
            yield (
                f"{attributes.get('src', name)}: {name} has a value at first, which no reset gives it again: "
                "give it by reset, or leave it open"
            )
