# SPDX-License-Identifier: Apache-2.0
"""How matplotlib draws the documentation's plots: one look, readable in light and dark, the same bytes on every run.

Ink is `currentColor`, which the picture's style sets by the reader's colours; data have tones that read on both.
"""

import re
import textwrap
from html import escape
from pathlib import Path

import matplotlib
import matplotlib.font_manager
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import Bbox

BLUE, GREEN, ORANGE, PURPLE = "#3b82c4", "#3d9a50", "#cf6a1f", "#9a6cc0"
OCHRE, TEAL, RED, GREY = "#a58718", "#2a9797", "#cc5454", "#7f8892"
COLOURS = [BLUE, GREEN, ORANGE, PURPLE, OCHRE, TEAL, RED, GREY]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "h"]
# What matplotlib is told for ink; the file has currentColor instead.
INK = "#010203"
STYLE = (
    "svg{color:#1f2328}text{font-family:system-ui,sans-serif}*{stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){svg{color:#d7dde3}}"
)
# A file of matplotlib's is in points; a browser has so many pixels to one.
PIXELS = 96 / 72

# The same settings and the same letters on every machine: matplotlib's own, and not those that a system has besides.
matplotlib.rcdefaults()
matplotlib.use("svg")
fonts = matplotlib.font_manager.fontManager
fonts.ttflist = [font for font in fonts.ttflist if font.fname.startswith(matplotlib.get_data_path())]
matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "ace",
        "font.family": "DejaVu Sans",
        "font.size": 10.5,
        "text.color": INK,
        "text.parse_math": False,
        "text.hinting": "none",
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": GREY,
        "grid.alpha": 0.3,
        "grid.linewidth": 0.6,
        "xtick.color": INK,
        "ytick.color": INK,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "legend.frameon": False,
        "legend.fontsize": 10,
    }
)


def plot(title: str, x: str, y: str, high: int = 440, wide: int = 640) -> tuple[Figure, Axes]:
    """A plot of one pair of axes, of so many pixels; a long title takes more lines."""
    figure, axes = plt.subplots(figsize=(wide / 96, high / 96), dpi=72, layout="constrained")
    figure.suptitle(textwrap.fill(title, wide // 10), x=0.01, ha="left", fontsize=12, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def plain(value: float, _: int | None = None) -> str:
    """A number as it is written, in groups of three digits."""
    return f"{value:,.10g}".replace(",", " ")


def logarithmic(axis: matplotlib.axis.Axis, ticks: list[float] | None = None) -> None:
    """A logarithmic axis whose ticks are whole numbers: these, or 1, 2 and 5 of each power of ten."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=0)
    if ticks:
        axis.set_ticks(ticks)
    else:
        axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))


def legend(
    figure: Figure, columns: int = 2, note: str | None = None, handles: list[Artist] | None = None
) -> None:
    """Who is who, below the axes, and what is to be noted above it; long words take more lines."""
    wide = round(figure.bbox.width * PIXELS)
    look = {"columnspacing": 1.4, "handlelength": 1.8, "alignment": "left"}
    look |= {"handles": handles} if handles else {}
    made = figure.legend(loc="outside lower center", ncols=columns, **look)
    for words in made.get_texts():
        words.set_text(textwrap.fill(words.get_text(), wide // 8 // columns - 6))
    if note:
        made.set_title(textwrap.fill(note, wide // 8), prop={"size": 9.5})


def note(figure: Figure, words: str) -> None:
    """Sentences below all else, where there is no legend."""
    lines = textwrap.fill(words, round(figure.bbox.width * PIXELS) // 8)
    figure.supxlabel(lines, x=0.01, ha="left", fontsize=9.5)


def name_points(axes: Axes, rows: list[tuple[float, float, str]]) -> None:
    """The name of each point beside it, where nothing else is; one that stands off gets a line to its point."""
    figure = axes.figure
    # The axes have their last place before anything is measured.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    places = [axes.transData.transform((x, y)) for x, y, _ in rows]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in places]
    inside = axes.get_window_extent()
    inside = Bbox.from_extents(inside.x0 + 2, inside.y0 + 2, figure.bbox.x1 - 2, inside.y1 + 2)
    lines: list[tuple[tuple[float, float], tuple[float, float]]] = []
    # Crowded points choose first.
    order = sorted(
        range(len(rows)), key=lambda n: sorted(abs(a - b).sum() for a in [places[n]] for b in places)[1:4]
    )
    for at in order:
        x, y = places[at]
        words = axes.annotate(
            rows[at][2], (0, 0), xycoords="figure pixels", fontsize=9.5, annotation_clip=False
        )
        box = words.get_window_extent()
        wide, high = box.width, box.height
        for left, low in offsets(wide, high):
            spot = Bbox.from_bounds(x + left, y + low, wide, high)
            end = (min(max(x, spot.x0), spot.x1), min(max(y, spot.y0), spot.y1))
            if not within(spot, inside) or any(spot.overlaps(other) for other in taken):
                continue
            if any(crosses((x, y), end, line, spot) for line in lines):
                continue
            words.set_position((spot.x0 - box.x0, spot.y0 - box.y0))
            taken.append(spot)
            if max(abs(end[0] - x), abs(end[1] - y)) > 8:
                lines.append(((x, y), end))
                axes.annotate(
                    "",
                    end,
                    (x, y),
                    xycoords="figure pixels",
                    textcoords="figure pixels",
                    arrowprops={
                        "arrowstyle": "-",
                        "color": GREY,
                        "linewidth": 0.7,
                        "shrinkA": 3,
                        "shrinkB": 0,
                    },
                )
            break
        else:
            raise ValueError(f"{rows[at][2]}: no room for this name; make the picture higher")


def offsets(wide: float, high: float) -> list[tuple[float, float]]:
    """Where a name may stand, from its point: nearer places first."""
    found = []
    for away in (7, 13, 20, 28, 37, 47, 58, 70, 84, 100, 120, 140):
        middle = -high / 2
        found += [
            (away, middle),
            (-away - wide, middle),
            (-wide / 2, away - 1),
            (-wide / 2, -away + 1 - high),
        ]
        slant = away * 0.75
        found += [
            (slant, slant),
            (slant, -slant - high),
            (-slant - wide, slant),
            (-slant - wide, -slant - high),
        ]
    return found


def within(box: Bbox, outer: Bbox) -> bool:
    return box.x0 >= outer.x0 and box.x1 <= outer.x1 and box.y0 >= outer.y0 and box.y1 <= outer.y1


def crosses(
    start: tuple[float, float], end: tuple[float, float], line: tuple[tuple[float, float], ...], spot: Bbox
) -> bool:
    """Whether a name or the line to it lies on the line to another name."""
    parts = 12
    (a, b), (c, d) = line
    points = [(a + (c - a) * n / parts, b + (d - b) * n / parts) for n in range(parts + 1)]
    if any(spot.contains(*point) for point in points[1:]):
        return True

    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    apart = side(start, end, line[0]) * side(start, end, line[1])
    return apart < 0 and side(*line, start) * side(*line, end) < 0


def write(figure: Figure, name: str, folder: Path, about: str | None = None) -> None:
    """The picture as a file: its title is what a reader hears who sees none."""
    figure.draw_without_rendering()
    used = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    if not within(used, figure.bbox.padded(1)):
        raise ValueError(
            f"{name}.svg: {used.extents.round()} does not fit into {figure.bbox.extents}; make it larger"
        )
    path = folder / f"{name}.svg"
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(path, transparent=True, metadata=nothing)
    plt.close(figure)
    words = " ".join((about or figure.get_suptitle()).split())
    path.write_text(adjusted(path.read_text(), words))


def adjusted(text: str, title: str) -> str:
    """What matplotlib wrote, with the reader's fonts and colours, and hundredths of a point."""
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", f"<style>{STYLE}</style>", text, count=1, flags=re.DOTALL)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1).replace(
        INK, "currentColor"
    )
    text = text.replace("font-family: 'DejaVu Sans'; ", "")
    rounded = re.compile(r"-?\d+\.\d{3,}")

    def tag(found: re.Match[str]) -> str:
        return rounded.sub(lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), found[0])

    text = re.sub(r"<(?!svg)[^>]*>", tag, text).replace(' transform="rotate(-0 ', ' transform="rotate(0 ')
    return text.replace(" \\n", " ")
